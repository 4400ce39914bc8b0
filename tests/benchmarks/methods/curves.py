"""Curves over one parameter, taken from recorded tables, and the scores of depth-width on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import mean

import msgspec
import numpy as np

from advisor import registry
from advisor.api.method import step_values, unimodal_share
from advisor.api.values import Parameter, Scale, Space
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.backtest.replay import replay
from tests.benchmarks.markdown import table_text
from tests.benchmarks.methods.searching import WithConstants

DEPTHS_AND_WIDTHS = ((3, 1), (3, 2), (5, 1), (5, 2))
LEAST_REPEATS = max(depth for depth, _ in DEPTHS_AND_WIDTHS)
LEAST_POINTS = 5
PAPERS_REPETITIONS = 10
"""Of each configuration, in the sweep that the paper's overhead is a share of."""


def curves(tables: Sequence[RecordedTable], name: str) -> Iterator[RecordedTable]:
    """Every curve over one parameter, all others held, that can be walked and judged.

    It has LEAST_POINTS, at the steps of a linear or log2 scale, and LEAST_REPEATS at each.
    """
    for table in tables:
        names = [p.name for p in table.space.parameters]
        if name not in names:
            continue
        axis = names.index(name)
        rows: dict[Cell, dict[Cell, Sequence[Repeat]]] = {}
        for cell in table.cells:
            held = cell[:axis] + cell[axis + 1 :]
            rows.setdefault(held, {})[(cell[axis],)] = table.repeats[cell]
        for held, row in rows.items():
            parameter = _walkable(table.space.parameters[axis], row)
            if parameter and all(len(repeats) >= LEAST_REPEATS for repeats in row.values()):
                yield _curve(table, parameter, held, dict(sorted(row.items())))


def _walkable(parameter: Parameter, row: dict[Cell, Sequence[Repeat]]) -> Parameter | None:
    values = tuple(sorted(value for (value,) in row))
    if len(values) < LEAST_POINTS:
        return None
    for scale in (Scale.LOG2, Scale.LINEAR):
        one = msgspec.structs.replace(
            parameter, lower=values[0], upper=values[-1], scale=scale, quantum=1
        )
        if step_values(one) == values:
            return one
    return None


def _curve(
    table: RecordedTable, parameter: Parameter, held: Cell, row: dict[Cell, Sequence[Repeat]]
) -> RecordedTable:
    others = [p.name for p in table.space.parameters if p.name != parameter.name]
    fixed = table.space.fixed | dict(zip(others, held, strict=True))
    space = Space(parameters=(parameter,), cost_order=(parameter.name,), fixed=fixed)
    words = [table.name, *(f"{name} {value}" for name, value in fixed.items())]
    return dataclasses.replace(
        table, name=", ".join(words), space=space, repeats=row, truth_bps=None
    )


def one_peak(curve: RecordedTable) -> bool:
    """Whether the medians never rise again after they fell: unimodal, monotone included."""
    return unimodal_share([[curve.rates_bps[cell]] for cell in curve.cells]) == 1.0


def confidence(curve: RecordedTable, depth: int, width: int) -> float:
    """The share of unimodal configurations among those of `depth` traces a walk could have had."""
    visited = [curve.repeats[cell] for cell in curve.cells[::-1][::width]]
    return unimodal_share([[r.throughput_bps for r in repeats] for repeats in visited], depth)


@dataclass(frozen=True)
class Walked:
    """depth-width over curves, means. Of accuracy the 10th percentile too.

    `top`: the accuracy of the highest value, which it starts from, taken without a probe.
    """

    curves: int
    top: float
    accuracy: float
    accuracy_p10: float
    settings_share: float
    traces_share: float
    confidence: float


def walk(found: Sequence[RecordedTable], depth: int, width: int, seeds: int) -> Walked:
    """Every curve, at least one, with every seed."""
    plugin = WithConstants(registry.method("depth-width"), {"d": depth, "w": width})
    accuracies, settings, traces = [], [], []
    for curve in found:
        whole = depth * len(curve.cells)
        for seed in range(seeds):
            end = replay(plugin, curve, curve.knowledge(), seed=seed, budget=whole)
            accuracies.append(end.fraction)
            settings.append(end.probes / whole)
            traces.append(end.probes / (PAPERS_REPETITIONS * len(curve.cells)))
    return Walked(
        curves=len(found),
        top=mean(curve.fraction(curve.cells[-1]) for curve in found),
        accuracy=mean(accuracies),
        accuracy_p10=float(np.quantile(accuracies, 0.1)),
        settings_share=mean(settings),
        traces_share=mean(traces),
        confidence=mean(confidence(curve, depth, width) for curve in found),
    )


# Rao et al. 2016, section V.B, read from the text: figures 14 to 18 are not in it.
PAPER = (
    ("XFS", "most above 99 %", "most below 20 %", "–"),
    ("Lustre, direct I/O", "most ≥ 98 %", "≤ 15 %", "–"),
    ("Lustre, default I/O", "most within 95 %; 90 % at 94 and 183 ms, w = 2", "–", "0.7 at (5, 1)"),
    ("XFS and direct I/O (abstract)", "97 %", "12 %", "–"),
)


def walks_text(rows: Sequence[tuple[str, tuple[int, int], Walked]]) -> str:
    """What was measured here."""
    head = (
        "curves",
        "number",
        "top, not probed",
        "(d, w)",
        "accuracy",
        "its p10",
        "settings measured",
        "traces of 10 a setting",
        "confidence",
    )
    return table_text(
        head,
        [
            (
                name,
                str(one.curves),
                f"{one.top:.1%}",
                str(pair),
                f"{one.accuracy:.1%}",
                f"{one.accuracy_p10:.1%}",
                f"{one.settings_share:.0%}",
                f"{one.traces_share:.0%}",
                f"{one.confidence:.2f}",
            )
            for name, pair, one in rows
        ],
    )


def paper_text() -> str:
    """What the paper reports, in the same terms."""
    return table_text(("in the paper", "accuracy", "overhead", "confidence"), PAPER)
