"""How well HARP's surfaces and estimates hold on recorded grids, as its paper's table 3 has it.

- Validation accuracy (HARP 2018, section 4.1): a group is split 70 to 30; f_test is fitted to the
  30 %; Thr_test is the peak of f_test, Thr_projected its value where the surface of the training
  part peaks. The scan prints |Thr_test − Thr_projected| / Thr_projected, an error: the
  accuracy is taken to be 1 less that. A split of which either part has no surface has none.
- Estimation accuracy: 1 − |estimate − actual| / actual, 0 at the least; actual is the median of the
  recorded cell nearest to the answer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

import numpy as np

from advisor.backtest.recorded import RecordedTable
from advisor.domain.transfers import Conditions
from advisor.models.file_classes import Size
from advisor.models.harp.ann import NeuralAnswer, neural_answer
from advisor.models.harp.asking import box_of, conditions_of, sample_levels
from advisor.models.harp.entries import History, Indices, features_of
from advisor.models.harp.grouping import groups
from advisor.models.harp.optimiser import HarpAnswer, SampleTransfer, optimise
from advisor.models.harp.optimum import PAPERS_RELAXATION, LevelBounds, maximum
from advisor.models.harp.surface import LEAST_R2, Surface, fit
from advisor.models.transfer_parameters import setting_of
from tests.benchmarks.markdown import table_text
from tests.benchmarks.methods.prior import without
from tests.benchmarks.methods.tables import by_source

TRAINING_SHARE = 0.7
PROMISED = 0.85
UNRELAXED = (1.0, 1.0, 1.0)
MOST_CONCURRENCY = 32
LEAST_ENTRIES = 4
"""So that neither part is empty."""

PAPER: Mapping[Size, tuple[str, str]] = {
    Size.TINY: ("95, 96", "41, 62"),
    Size.SMALL: ("94, 93", "78, 77"),
    Size.MEDIUM: ("90, 85", "81, 73"),
    Size.LARGE: ("93, 91", "85, 86"),
}
"""Of table 3: validation and estimation accuracy, Stampede to Gordon, light and medium traffic."""


@dataclass
class Validated:
    """The splits of one class of files. `accuracies`: of those that have one."""

    groups: int = 0
    splits: int = 0
    accuracies: list[float] = field(default_factory=list)


def validated(tables: Sequence[RecordedTable], splits: int) -> Mapping[Size, Validated]:
    """Every group of every file, parted this many times, by class."""
    by_class: dict[Size, Validated] = defaultdict(Validated)
    for own in by_source(tables).values():
        history = History.of(transfer for table in own for transfer in table.transfers)
        box = box_of(own[0].space)
        for group in groups(history, np.arange(len(history))):
            one = by_class[list(Size)[int(history.features[group[0], 3])]]
            one.groups += 1
            one.splits += splits
            one.accuracies += _accuracies(history, group, box, splits)
    return by_class


def _accuracies(history: History, group: Indices, box: LevelBounds, splits: int) -> Iterator[float]:
    if len(group) < LEAST_ENTRIES:
        return
    for seed in range(splits):
        rng = np.random.default_rng(seed)
        drawn = rng.permutation(group)
        cut = int(len(drawn) * TRAINING_SHARE)
        trained, test = (
            fit(history.levels[rows], history.throughput_bps[rows])
            for rows in (drawn[:cut], drawn[cut:])
        )
        if isinstance(trained, Surface) and isinstance(test, Surface):
            top_bps, projected_bps = (
                float(test.at(maximum(one, box))[0]) for one in (test, trained)
            )
            yield max(0.0, 1 - abs(top_bps - projected_bps) / projected_bps)


def validation_text(found: Mapping[Size, Validated]) -> str:
    """Beside the paper's, a row for each class."""
    head = (
        "files",
        "groups",
        f"splits without a surface of R² > {LEAST_R2:g}",
        "mean",
        "median",
        "lowest",
        f"splits below {PROMISED:.0%}",
        "the paper (light, medium traffic)",
    )
    return table_text(
        head,
        [
            (
                size.value,
                str(one.groups),
                f"{1 - len(one.accuracies) / one.splits:.0%} of {one.splits}",
                f"{fmean(one.accuracies):.1%}",
                f"{median(one.accuracies):.1%}",
                f"{min(one.accuracies):.0%}",
                f"{np.mean(np.array(one.accuracies) < PROMISED):.1%}",
                PAPER[size][0],
            )
            for size in Size
            if (one := found.get(size)) and one.accuracies
        ],
    )


def held_out_history(tables: Sequence[RecordedTable], table: RecordedTable) -> History:
    """What the other files recorded."""
    return History.of(table.knowledge(without(tables, table.source)).transfers)


def wanted_of(table: RecordedTable) -> Conditions:
    return conditions_of(table.dataset, table.path, table.bandwidth_bps)


def sample_of(table: RecordedTable, rng: np.random.Generator) -> SampleTransfer:
    """One recorded transfer at the levels the heuristics start from."""
    levels = sample_levels(table.dataset, table.path, table.knowledge().bdp_bytes, MOST_CONCURRENCY)
    repeats = table.repeats[table.nearest(setting_of(table.space, levels))]
    drawn = repeats[int(rng.integers(len(repeats)))]
    return SampleTransfer(levels=levels, throughput_bps=drawn.throughput_bps)


def outliers_text(tables: Sequence[RecordedTable]) -> str:
    """How many groups are left out where HARP answers, each file held out."""
    fitted = left_out = 0
    for table in tables:
        sample = sample_of(table, np.random.default_rng([0, 1]))
        history, box = held_out_history(tables, table), box_of(table.space)
        found = optimise(wanted_of(table), sample, history, box)
        fitted, left_out = fitted + len(found.groups), left_out + len(found.left_out)
    return (
        f"In the answers themselves, each file held out, {left_out} of {fitted + left_out} groups "
        "were outliers."
    )


def estimated(
    tables: Sequence[RecordedTable], seeds: int
) -> Mapping[str, Mapping[Size, list[float]]]:
    """The estimation accuracies of each model by class of files, each file held out."""
    found: dict[str, dict[Size, list[float]]] = defaultdict(lambda: defaultdict(list))
    for table in tables:
        history, wanted, box = (
            held_out_history(tables, table),
            wanted_of(table),
            box_of(table.space),
        )
        size = list(Size)[int(features_of(wanted)[3])]
        for seed in range(seeds):
            sample = sample_of(table, np.random.default_rng([seed, 1]))
            answers: dict[str, HarpAnswer | NeuralAnswer] = {
                name: optimise(wanted, sample, history, box, keep=keep)
                for name, keep in (
                    ("HARP", PAPERS_RELAXATION),
                    ("HARP, nothing relaxed", UNRELAXED),
                )
            }
            answers["ANN+OT"] = neural_answer(wanted, sample, history, box)
            for name, answer in answers.items():
                actual_bps = table.rates_bps[table.nearest(setting_of(table.space, answer.levels))]
                found[name][size].append(max(0.0, 1 - abs(answer.throughput_bps / actual_bps - 1)))
    return found


def estimation_text(found: Mapping[str, Mapping[Size, list[float]]]) -> str:
    """Beside the paper's, a row for each class."""
    return table_text(
        ("files", *found, "the paper's HARP (light, medium traffic)"),
        [
            (size.value, *(f"{fmean(one[size]):.0%}" for one in found.values()), PAPER[size][1])
            for size in Size
            if all(size in one for one in found.values())
        ],
    )
