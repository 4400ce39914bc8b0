"""Computes the figures of the page from the runs. Pure."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from tests.benchmarks.shares.results import Epoch, Run

_SETTLED: Final = slice(1, None)
"""Feedback counts from the second epoch on, after one correction."""


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors in the paper's form; None for figures it does not have. `count`: 0 for the paper."""

    mean: float | None
    median: float | None
    below_15: float
    below_10: float
    count: int = 0


def errors_of(values: Sequence[float]) -> Errors | None:
    """None where there are none."""
    if not values:
        return None
    return Errors(
        mean=fmean(values),
        median=median(values),
        below_15=fmean(value < 0.15 for value in values),
        below_10=fmean(value < 0.10 for value in values),
        count=len(values),
    )


def is_missed(run: Run) -> bool:
    """Whether the plan reported that the request cannot be met."""
    return any(row.missed for row in run.planned)


def parted(runs: Iterable[Run]) -> tuple[list[Run], list[Run]]:
    """The runs whose plan meets the request, and those for which it reported that it cannot."""
    every = list(runs)
    return [run for run in every if not is_missed(run)], [run for run in every if is_missed(run)]


def has_base(run: Run) -> bool:
    """Whether its first epoch measured the base that a factor refers to."""
    return any(plan.asked.factor is not None for plan in run.planned)


def planned_epochs(run: Run) -> list[Epoch]:
    """The first epoch that has what was planned, if it was measured: after the base, if any."""
    first = 1 if has_base(run) else 0
    return run.seen[first : first + 1]


def prediction_errors(run: Run) -> list[float]:
    """Error of what was expected of the planned epoch, as a share of the measured rate.

    Of a ratio the plan expects it, of a factor the models with the base. Defined like the models'
    errors; for destinations that received something.
    """
    planned = {plan.destination: plan.expected_bps for plan in run.planned}
    return [
        abs((row.expected_bps or 0.0) / row.measured_bps - 1)
        if has_base(run)
        else abs(planned[row.destination] / row.measured_bps - 1)
        for epoch in planned_epochs(run)
        for row in epoch.rows
        if row.measured_bps
    ]


def are_within(run: Run) -> list[bool]:
    """For each destination, whether the plan's interval contains the rate of the first epoch.

    Empty where that measured a base.
    """
    if has_base(run):
        return []
    planned = {plan.destination: plan.interval_bps for plan in run.planned}
    return [
        planned[row.destination][0] <= row.measured_bps <= planned[row.destination][1]
        for epoch in planned_epochs(run)
        for row in epoch.rows
    ]


def open_loop_errors(run: Run) -> list[float]:
    """Error of the planned epoch's rate relative to the request."""
    return _asked_errors(run, planned_epochs(run))


def feedback_errors(run: Run) -> list[float]:
    """The same from the second epoch on."""
    return _asked_errors(run, run.seen[_SETTLED])


def asked_errors_in(epoch: int) -> Callable[[Run], list[float]]:
    """The same of one epoch alone, counted from 0."""
    return lambda run: _asked_errors(run, run.seen[epoch : epoch + 1])


def repeat_variations(run: Run) -> dict[str, float]:
    """The coefficient of variation of each destination's rate, of a run that kept the same levels.

    From the differences of one epoch to the next, so that a slow drift counts for little.
    """
    rates_bps: dict[str, list[float]] = {}
    for epoch in run.seen:
        for row in epoch.rows:
            rates_bps.setdefault(row.destination, []).append(row.measured_bps)
    return {
        name: math.sqrt(fmean((b - a) ** 2 / 2 for a, b in itertools.pairwise(some))) / fmean(some)
        for name, some in rates_bps.items()
    }


def over(runs: Iterable[Run], errors: Callable[[Run], list[float]]) -> Errors | None:
    """These errors of all runs together."""
    return errors_of([value for run in runs for value in errors(run)])


def first_levels(run: Run) -> dict[str, int]:
    """The planned concurrency by destination."""
    return {plan.destination: plan.concurrency for plan in run.planned}


def has_changed(run: Run) -> bool:
    """Whether feedback changed the concurrency of a destination."""
    levels = [{row.destination: row.concurrency for row in epoch.rows} for epoch in run.seen]
    return any(one != levels[0] for one in levels)


def _asked_errors(run: Run, epochs: Iterable[Epoch]) -> list[float]:
    """For all destinations with a request: one that is held has none."""
    free = {plan.destination for plan in run.planned if plan.asked.held is None}
    return [
        abs(row.measured_bps / row.asked_bps - 1)
        for epoch in epochs
        for row in epoch.rows
        if row.destination in free and row.asked_bps
    ]
