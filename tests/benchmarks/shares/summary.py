"""Computes the figures of the page from the runs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

from advisor.domain.shares import ServedRow, ShareRow
from tests.benchmarks.shares.results import Epoch, Run

_SETTLED: Final = slice(2, None)
"""Feedback counts from the third epoch on, after two corrections."""


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


def prediction_errors(run: Run) -> list[float]:
    """Open loop: error of the plan's expectation, as a share of the first epoch's rate.

    Defined like the models' errors; for destinations that received something.
    """
    return [
        abs(plan.expected_bps / row.measured_bps - 1)
        for row, plan in _first(run)
        if row.measured_bps
    ]


def are_within(run: Run) -> list[bool]:
    """For each destination, whether the plan's interval contains the rate of the first epoch."""
    return [
        plan.interval_bps[0] <= row.measured_bps <= plan.interval_bps[1]
        for row, plan in _first(run)
    ]


def open_loop_errors(run: Run) -> list[float]:
    """Error of the first epoch's rate relative to the request."""
    return _asked_errors(run, run.seen[:1])


def feedback_errors(run: Run) -> list[float]:
    """The same from the third epoch on."""
    return _asked_errors(run, run.seen[_SETTLED])


def asked_errors_in(epoch: int) -> Callable[[Run], list[float]]:
    """The same of one epoch alone, counted from 0."""
    return lambda run: _asked_errors(run, run.seen[epoch : epoch + 1])


def over(runs: Iterable[Run], errors: Callable[[Run], list[float]]) -> Errors | None:
    """These errors of all runs together."""
    return errors_of([value for run in runs for value in errors(run)])


def first_levels(run: Run) -> dict[str, int]:
    """The planned concurrency by destination."""
    return {plan.destination: plan.concurrency for plan in run.planned}


def _first(run: Run) -> list[tuple[ServedRow, ShareRow]]:
    """The first epoch's rows, each with its plan."""
    planned = {plan.destination: plan for plan in run.planned}
    return [(row, planned[row.destination]) for epoch in run.seen[:1] for row in epoch.rows]


def _asked_errors(run: Run, epochs: Iterable[Epoch]) -> list[float]:
    """For all destinations with a request: one that is held has none."""
    free = {plan.destination for plan in run.planned if plan.asked.held is None}
    return [
        abs(row.measured_bps / row.asked_bps - 1)
        for epoch in epochs
        for row in epoch.rows
        if row.destination in free and row.asked_bps
    ]
