"""The cost of one optimisation from past transfers: `python -m tests.benchmarks.methods.harp_cost`.

Runs in a process of its own, so that nothing is loaded before the first one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

from advisor.models.harp.asking import box_of
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import SampleTransfer, optimise
from advisor.models.harp.peak import peak_of
from tests.benchmarks.markdown import table_text
from tests.benchmarks.methods.tables import data_folder, grid_tables

ROWS = 20_000
AGAIN = 5


def main() -> None:
    tables = grid_tables(data_folder())
    transfers = [transfer for table in tables for transfer in table.transfers][:ROWS]
    box, first = box_of(tables[0].space), transfers[0]
    sample = SampleTransfer(levels=first.levels, throughput_bps=first.throughput_bps)
    history = History.of(transfers)

    def one(enough: int | None = None) -> None:
        optimise(first.conditions, sample, history, box, enough=enough)

    def start() -> None:
        peak_of(first.conditions, History.of(transfers), box)

    rows = [("the first answer, with what it loads", _seconds(one, 1))]
    rows += [
        ("columns of the transfers, once", _seconds(lambda: History.of(transfers))),
        ("an answer of HARP", _seconds(one)),
        ("an answer of HARP, of all transfers", _seconds(lambda: one(len(history)))),
        ("bayes's start, with the columns", _seconds(start)),
    ]
    print(table_text((f"of {len(transfers)} transfers", "seconds"), rows))


def _seconds(work: Callable[[], object], times: int = AGAIN) -> str:
    took_s = []
    for _ in range(times):
        began_s = time.perf_counter()
        work()
        took_s.append(time.perf_counter() - began_s)
    return f"{median(took_s):.2f}"


if __name__ == "__main__":
    main()
