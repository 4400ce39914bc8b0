"""How HARP does on recorded grids it has not seen, and how long one answer takes.

`ADVISOR_DATA=… python -m tests.benchmarks.methods.harp_check`. Each file is held out once; the
others are the history. Seconds, not minutes; nothing is written.

- validation accuracy (HARP 2018, section 4.1, table 3): a group is parted 70 to 30; f_test is
  fitted to the 30 %; Thr_test is the top of f_test, Thr_projected its value where the surface of
  the training part has its top. The scan prints |Thr_test − Thr_projected| / Thr_projected, an
  error: the accuracy is taken to be 1 less that.
- estimation accuracy: 1 − |estimate − actual| / actual, 0 at the least. Globus estimates nothing;
  for the heuristics it is the sample's own throughput, measured at the same levels.
- fraction: what the nearest recorded cell gives, as a share of the best cell's.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import fmean, median

import numpy as np

from advisor.backtest.recorded import RecordedTable
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import Size
from advisor.models.harp.ann import neural_answer
from advisor.models.harp.entries import History
from advisor.models.harp.grouping import groups
from advisor.models.harp.optimiser import Sample, optimise
from advisor.models.harp.optimum import Box, maximum
from advisor.models.harp.surface import TRAINING_SHARE, Surface, fit
from advisor.models.transfer_heuristics import buffer_of, class_levels
from advisor.models.transfer_parameters import GLOBUS_LARGE_FILES
from advisor.store.transfer_tables import TransferRow, read_transfer_table
from tests.benchmarks.methods.tables import GRIDS, by_source, data_folder, grid_tables

BOX = Box(
    lower=Levels(concurrency=1, parallelism=1, pipelining=1),
    upper=Levels(concurrency=32, parallelism=32, pipelining=32),
)
MOST_CHANNELS = 10
SEEDS = 2
UNRELAXED = (1.0, 1.0, 1.0)

Chooser = Callable[[RecordedTable, Sample, History, np.random.Generator], tuple[Levels, float]]


def entries_of(rows: Sequence[TransferRow]) -> Iterator[PastTransfer]:
    for row in rows:
        levels = Levels(
            concurrency=row.concurrency or 1,
            parallelism=row.parallelism or 1,
            pipelining=row.pipelining or 1,
        )
        yield PastTransfer(
            conditions=Conditions(
                file_bytes=row.file_bytes,
                file_count=row.file_count,
                bandwidth_bps=row.bandwidth_bps,
                rtt_s=row.rtt_s,
                buffer_bytes=row.buffer_bytes,
                network=f"{row.source}->{row.destination} {row.fast}",
            ),
            levels=levels,
            throughput_bps=row.throughput_bps,
            when_s=_when_s(row.recorded),
        )


def _when_s(recorded: str) -> float | None:
    for form in ("%Y-%m-%d", "%m/%d/%y"):
        try:
            return time.mktime(time.strptime(recorded, form))
        except ValueError:
            continue
    return None


def _wanted(table: RecordedTable) -> Conditions:
    assert table.path is not None
    assert table.dataset is not None
    files = table.dataset.files or 1
    return Conditions(
        file_bytes=table.dataset.total_bytes / files,
        file_count=files,
        bandwidth_bps=table.bandwidth_bps,
        rtt_s=table.path.rtt_s,
        buffer_bytes=buffer_of(table.path),
    )


def _heuristic(table: RecordedTable) -> Levels:
    knowledge = table.knowledge()
    assert table.path is not None
    found = class_levels(
        table.dataset, knowledge.bdp_bytes, buffer_of(table.path), most_concurrency=MOST_CHANNELS
    )
    return found[0][1]


def _sample(table: RecordedTable, rng: np.random.Generator) -> Sample:
    """One recorded transfer at the levels the heuristics start from."""
    repeats = table.repeats[table.nearest(_setting(_heuristic(table)))]
    return Sample(
        levels=_heuristic(table),
        throughput_bps=repeats[rng.integers(len(repeats))].throughput_bps,
    )


def _setting(levels: Levels) -> dict[str, object]:
    return {
        "concurrency": levels.concurrency,
        "parallelism": levels.parallelism,
        "pipelining": levels.pipelining,
    }


def _harp(enough: int | None, keep: tuple[float, float, float] | None = None) -> Chooser:
    def choose(
        table: RecordedTable, sample: Sample, history: History, rng: np.random.Generator
    ) -> tuple[Levels, float]:
        options = {"keep": keep} if keep else {}
        answer = optimise(_wanted(table), sample, history, BOX, rng, enough=enough, **options)
        return answer.levels, answer.throughput_bps

    return choose


def _ann(
    table: RecordedTable, sample: Sample, history: History, rng: np.random.Generator
) -> tuple[Levels, float]:
    answer = neural_answer(_wanted(table), sample, history, BOX, rng)
    return answer.levels, answer.throughput_bps


CHOOSERS: dict[str, Chooser] = {
    "Globus, large files": lambda table, sample, history, rng: (GLOBUS_LARGE_FILES, 0.0),
    "heuristics (SC)": lambda table, sample, history, rng: (sample.levels, sample.throughput_bps),
    "ANN+OT": _ann,
    "HARP": _harp(None),
    "HARP, no relaxation": _harp(None, UNRELAXED),
    "HARP, one sweep is enough": _harp(216),
}


def held_out(rows: dict[str, list[TransferRow]], tables: list[RecordedTable]) -> None:
    found: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for source, own in by_source(tables).items():
        history = History.of(
            entry
            for name, several in rows.items()
            if name != source
            for entry in entries_of(several)
        )
        for table in own:
            for seed in range(SEEDS):
                sample = _sample(table, np.random.default_rng(seed))
                for name, choose in CHOOSERS.items():
                    if name == "ANN+OT" and seed:
                        continue
                    levels, estimate_bps = choose(
                        table, sample, history, np.random.default_rng(seed)
                    )
                    cell = table.nearest(_setting(levels))
                    off = abs(estimate_bps / table.rates_bps[cell] - 1)
                    found[name].append(
                        (source, table.fraction(cell), float(np.maximum(0, 1 - off)))
                    )
                    if seed == 0:
                        print(
                            f"  {table.name:44} {name:31} "
                            f"({levels.concurrency:2},{levels.parallelism:2},{levels.pipelining:2})"
                            f" {table.fraction(cell):4.0%} of best, estimate {1 - off:4.0%}"
                        )
    print(f"\n{'':31} fraction of best: mean median worst; estimation accuracy: mean")
    for name, results in found.items():
        fractions = [one[1] for one in results]
        print(
            f"{name:31} {fmean(fractions):4.0%} {median(fractions):4.0%} {min(fractions):4.0%}; "
            f"{fmean(one[2] for one in results):4.0%}"
        )


def validation(rows: dict[str, list[TransferRow]]) -> None:
    for source, several in rows.items():
        history = History.of(entries_of(several))
        by_class: dict[str, list[float]] = defaultdict(list)
        outliers = total = 0
        for group in groups(history, np.arange(len(history))):
            for seed in range(SEEDS):
                total += 1
                accuracy = _validated(history, group, np.random.default_rng(seed))
                if accuracy is None:
                    outliers += 1
                else:
                    name = list(Size)[int(history.features[group[0], 3])]
                    by_class[name].append(accuracy)
        words = ", ".join(
            f"{name} {fmean(found):.0%} (worst {min(found):.0%} of {len(found)})"
            for name, found in by_class.items()
        )
        print(f"{source:8} validation accuracy: {words}; outliers {outliers} of {total}")


def _validated(history: History, group: np.ndarray, rng: np.random.Generator) -> float | None:
    drawn = rng.permutation(group)
    cut = int(len(drawn) * TRAINING_SHARE)
    parts = [
        fit(history.levels[rows], history.throughput_bps[rows], rng)
        for rows in (drawn[:cut], drawn[cut:])
    ]
    trained, test = parts
    if not (isinstance(trained, Surface) and isinstance(test, Surface)):
        return None
    projected_bps = float(test.at(maximum(trained, BOX))[0])
    return max(0.0, 1 - abs(float(test.at(maximum(test, BOX))[0]) - projected_bps) / projected_bps)


def timed(rows: dict[str, list[TransferRow]]) -> None:
    several = [row for name in rows for row in rows[name]][:20_000]
    entries = list(entries_of(several))
    started = time.perf_counter()
    history = History.of(entries)
    print(f"\n{len(history)} entries in columns: {time.perf_counter() - started:.2f} s")
    wanted = entries[0].conditions
    sample = Sample(levels=entries[0].levels, throughput_bps=entries[0].throughput_bps)
    optimise(wanted, sample, history, BOX, np.random.default_rng(0))  # scikit-learn is loaded here.
    for name, enough in (("as in the paper", None), ("all of them", len(history))):
        started = time.perf_counter()
        answer = optimise(wanted, sample, history, BOX, np.random.default_rng(0), enough=enough)
        print(
            f"one answer, {name}: {time.perf_counter() - started:.2f} s, "
            f"{len(answer.similar.rows)} entries, {len(answer.groups)} groups, "
            f"{len(answer.left_out)} left out\n  {answer.worth}"
        )


def main() -> None:
    folder: Path = data_folder() / "gridftp-grids"
    rows = {name: read_transfer_table(folder / f"{name}.csv").rows for name in GRIDS}
    validation(rows)
    timed(rows)
    held_out(rows, grid_tables(data_folder()))


if __name__ == "__main__":
    main()
