"""How much HARP's relaxation gives up for how many flows, as figures 7 and 8 of its paper show it.

    ADVISOR_DATA=… python -m tests.benchmarks.methods.relaxation              minutes
    ADVISOR_DATA=… python -m tests.benchmarks.methods.relaxation --document   and writes the page

Each file of recorded grids is held out once: HARP learns from the other files and a sample drawn
from the held-out table, and its answer counts with the median of the recorded cell nearest to it.
The default is chosen in the same way: for each file by the other files alone.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from statistics import fmean, median
from typing import NamedTuple

import numpy as np

from advisor.backtest.recorded import RecordedTable
from advisor.domain.space import flows_of
from advisor.models.harp.asking import box_of
from advisor.models.harp.optimiser import Optimiser
from advisor.models.transfer_parameters import setting_of
from tests.benchmarks.markdown import table_text
from tests.benchmarks.methods.accuracy import held_out_history, sample_of, wanted_of
from tests.benchmarks.methods.tables import Trouble, data_folder, grid_tables
from tests.benchmarks.wan.hosts import ROOT

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0)
SAMPLES = 10
PIPELINING = 0.99
WITHIN = 0.05
"""How much less than without relaxation is still enough."""
PAGE = ROOT / "docs/benchmarks-relaxation.md"


class Point(NamedTuple):
    """One answer: its table, share of the best cell, and flows."""

    source: str
    table: str
    share: float
    flows: int


Grid = Mapping[tuple[float, float], Sequence[Point]]
"""By the shares that concurrency and parallelism must keep."""


def grid(tables: Sequence[RecordedTable], samples: int) -> Grid:
    """Every pair of shares on every table."""
    found: dict[tuple[float, float], list[Point]] = {pair: [] for pair in product(SHARES, SHARES)}
    for table in tables:
        history = held_out_history(tables, table)
        optimiser = Optimiser(wanted_of(table), history, box_of(table.space))
        best_bps = table.rates_bps[table.best_cell]
        for seed in range(samples):
            sample = sample_of(table, np.random.default_rng([seed, 1]))
            for pair, points in found.items():
                answer = optimiser.answer(sample, keep=(*pair, PIPELINING))
                cell = table.nearest(setting_of(table.space, answer.levels))
                share = table.rates_bps[cell] / best_bps
                flows = answer.levels.concurrency * answer.levels.parallelism
                points.append(Point(table.source, table.name, share, flows))
        print(table.name, file=sys.stderr, flush=True)
    return found


def grid_text(found: Grid) -> str:
    """Share of the best and flows; rows for concurrency, columns for parallelism."""
    head = ["ρ of concurrency", *(f"ρ of parallelism {share:g}" for share in SHARES)]
    rows = [
        [f"{cc:g}", *(_cell(found[cc, parallelism]) for parallelism in SHARES)] for cc in SHARES
    ]
    return table_text(head, rows)


def _cell(points: Sequence[Point]) -> str:
    return f"{fmean(one.share for one in points):.2f} ({fmean(one.flows for one in points):.0f})"


def diagonal_text(found: Grid, best_flows: float) -> str:
    """The same share for both levels: what a single option can choose."""
    head = ("ρ of both", "mean share", "median", "p10", "flows", "flows ÷ best's")
    rows = []
    for share in SHARES:
        points = found[share, share]
        shares = [one.share for one in points]
        flows = fmean(one.flows for one in points)
        rows.append(
            (
                f"{share:g}",
                f"{fmean(shares):.3f}",
                f"{median(shares):.3f}",
                f"{np.quantile(shares, 0.1):.3f}",
                f"{flows:.0f}",
                f"{flows / best_flows:.2f}",
            )
        )
    return table_text(head, rows)


def chosen(points: Mapping[float, Sequence[Point]]) -> float:
    """The least share whose mean is at most WITHIN below that without relaxation."""
    whole = fmean(one.share for one in points[1.0])
    return min(s for s, some in points.items() if fmean(p.share for p in some) >= whole - WITHIN)


def choices_text(found: Grid) -> str:
    """The default that the other files choose, and what it gives on the held-out one."""
    diagonal = {share: found[share, share] for share in SHARES}
    sources = sorted({one.source for one in diagonal[1.0]})
    rows = []
    for source in sources:
        others = {s: [p for p in some if p.source != source] for s, some in diagonal.items()}
        choice = chosen(others)
        own = [p for p in diagonal[choice] if p.source == source]
        whole = [p for p in diagonal[1.0] if p.source == source]
        rows.append((source, f"{choice:g}", _cell(own), _cell(whole)))
    rows.append(("none", f"{chosen(diagonal):g}", _cell(diagonal[chosen(diagonal)]), ""))
    head = ("held out", "chosen by the others", "share (flows) on it", "without relaxation")
    return table_text(head, rows)


def page_text(tables: Sequence[RecordedTable], samples: int) -> str:
    """The generated part of the page."""
    found = grid(tables, samples)
    best = fmean(flows_of(table.setting(table.best_cell)) for table in tables)
    answers = len(tables) * samples * len(found)
    runs = f"{len(tables)} tables of {len({one.source for one in tables})} files, {samples} samples"
    return "\n\n".join(
        (
            f"{runs} of each, {len(found)} pairs of ρ: {answers} answers.",
            "## Both alike",
            diagonal_text(found, best),
            "## The default, chosen by the other files",
            choices_text(found),
            "## The whole grid: mean share of the best (flows)",
            grid_text(found),
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--samples", type=int, default=SAMPLES, help="on each table [10]")
    parser.add_argument("--document", action="store_true", help="write the page's tables")
    options = parser.parse_args()
    try:
        text = page_text(grid_tables(data_folder()), options.samples)
    except Trouble as trouble:
        sys.exit(f"relaxation: {trouble}")
    if options.document:
        before, mark, _ = PAGE.read_text().partition("<!-- tables -->\n")
        PAGE.write_text(f"{before}{mark}\n{text}\n")
    print(text)


if __name__ == "__main__":
    main()
