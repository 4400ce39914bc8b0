"""Both rules on the public traces of ADVISOR_DATA, with the routes held out in turn.

The traces have one value a second, of the sender. What a trace is steady at is the mean over the
later half of its seconds, without a last interval shorter than half a second, in which iperf3 only
empties its buffers. Left out: traces of fewer than ten intervals, or of which nothing arrived in
the later half.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from advisor.domain.measurement import Interval
from advisor.models.steadiness import ErrorModel, SteadyPart, probe_length, steady_part
from tests.benchmarks.probes.before import steady_part_before

FILE: Final = "iperf3-traces.csv.gz"
_FEWEST: Final = 10
_LATERS: Final = (1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
_DEGREES_OF_ERRORS: Final = 4
"""Errors have heavier tails than a normal distribution: Student's with this many degrees."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One run. `true_bps`: the mean of its later half."""

    route: str
    rtt_s: float
    intervals: list[Interval]
    true_bps: float


@dataclass(frozen=True, slots=True)
class Stopped:
    """What a rule said of a trace, and when: `error` is relative, `stderr` is what it claimed."""

    trace: Trace
    seconds: float
    error: float
    stderr: float


def traces(folder: Path) -> list[Trace]:
    """All usable ones."""
    with gzip.open(folder / FILE, "rt", encoding="utf-8", newline="") as file:
        return [trace for row in csv.DictReader(file) if (trace := _trace(row))]


def _trace(row: dict[str, str]) -> Trace | None:
    intervals: list[Interval] = []
    at_s = 0.0
    for word in row["intervals"].split():
        lasted_s, bps = (float(number) for number in word.split(":"))
        intervals.append(Interval(at_s, at_s + lasted_s, round(bps * lasted_s / 8)))
        at_s += lasted_s
    if len(intervals) < _FEWEST:
        return None
    if intervals[-1].end_s - intervals[-1].start_s < 0.5:
        del intervals[-1]
    late = intervals[len(intervals) // 2 :]
    true_bps = sum(i.received_bytes for i in late) * 8 / (late[-1].end_s - late[0].start_s)
    if true_bps <= 0:
        return None
    return Trace(row["route"], int(row["rtt_us"]) / 1e6, intervals, true_bps)


Rule = Callable[[Sequence[Interval], float], SteadyPart]


def before(intervals: Sequence[Interval], rtt_s: float) -> SteadyPart:
    """The rule that was replaced."""
    return steady_part_before(intervals, rtt_s)


def present(model: ErrorModel) -> Rule:
    """The present rule with these assumptions."""
    return lambda intervals, rtt_s: steady_part(intervals, probe_length(rtt_s), model=model)


def stopped(trace: Trace, rule: Rule) -> Stopped:
    """Play a trace until the rule stops it, or its time is up."""
    ceiling_s = probe_length(trace.rtt_s).ceiling_s
    for count, interval in enumerate(trace.intervals, start=1):
        part = rule(trace.intervals[:count], trace.rtt_s)
        if part.settled or interval.end_s >= ceiling_s:
            break
    return _judged(trace, part, interval.end_s)


def after(trace: Trace, rule: Rule, intervals: int) -> Stopped:
    """What a rule says after this many intervals, whether it would stop or not."""
    part = rule(trace.intervals[:intervals], trace.rtt_s)
    return _judged(trace, part, trace.intervals[intervals - 1].end_s)


def _judged(trace: Trace, part: SteadyPart, seconds: float) -> Stopped:
    return Stopped(
        trace,
        seconds,
        part.throughput_bps / trace.true_bps - 1,
        part.stderr_bps / trace.true_bps,
    )


def fitted(known: Sequence[Trace]) -> Iterator[tuple[str, ErrorModel]]:
    """For each route the most likely widening of all other routes; for "" that of all."""
    models = [ErrorModel(later=later) for later in _LATERS]
    counts = Counter(trace.route for trace in known)
    costs = {route: [0.0] * len(models) for route in counts}
    for trace in known:
        # A route with a hundred times the traces counts ten times as much.
        weight = counts[trace.route] ** -0.5
        for number, model in enumerate(models):
            costs[trace.route][number] += weight * _cost(trace, model)
    for left_out in ("", *sorted(counts, key=lambda route: int(route[1:]))):
        sums = [
            math.fsum(costs[route][number] for route in counts if route != left_out)
            for number in range(len(models))
        ]
        yield left_out, models[sums.index(min(sums))]


def _cost(trace: Trace, model: ErrorModel) -> float:
    """Minus the log likelihood of what the rule says during the first half of a trace."""
    cost, rule, degrees = 0.0, present(model), _DEGREES_OF_ERRORS
    for count in range(3, len(trace.intervals) // 2 + 1):
        part = rule(trace.intervals[:count], trace.rtt_s)
        error = part.stderr_bps / part.throughput_bps if part.throughput_bps > 0 else 1.0
        if error >= 1.0:  # Still in start-up: nothing is claimed.
            continue
        off = math.log(part.throughput_bps / trace.true_bps) / error
        cost += math.log(error) + (degrees + 1) / 2 * math.log1p(off**2 / degrees)
    return cost
