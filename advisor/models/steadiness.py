"""When a probe may stop, which part of it counts, and what it says of the long run.

A probe is short, and a transfer is long. What is reported is therefore the expected rate of the
long run with a standard error that is meant to hold for it. A probe stops when this error is small.

- Start-up is detected, not assumed. It lasts while the rate grows by a quarter from one block of
  two round trips to the next; the block in which it ends is left out too, since it is partly slow
  start. Of the rest, the beginning that makes the mean less precise is cut (MSER; White, "An
  effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997):
  a burst, or an overshoot.
- The error is that of a mean whose spread is partly assumed: three equal intervals do not prove
  that a path is quiet. It is widened for what changes later, and grows with the difference between
  the halves, beyond what chance makes of it: a rate that still drifts is not known.
- Where losses shrink the windows of reno or cubic, the mean is combined with what these losses
  allow in the long run (`loss_response`), by the precision of both.

Not predicted: what leaves no trace before it happens, such as a rate limiter that lets a first
amount through at full speed, or other traffic that starts later.
"""

import bisect
import math
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from advisor.domain.bounded import SHORTEST_S
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.sending import LossesSeen, SenderReport
from advisor.models.loss_response import LongRun, is_growing, is_sustained, long_run, losses_seen
from advisor.models.overflow_cycles import after_overflow

CLOSE_ENOUGH: Final = 0.05
"""A difference between two parts of a probe that is not worth a distinction: HARP's 5 % (2018,
section 3.1.1)."""

ENOUGH: Final = 0.12
"""The standard error at which a probe may stop, as a fraction. It is meant for the whole of a later
transfer, so repeats differ by less; a search assumes more of its probes, and repeats the best."""

_GROWTH: Final = 1.25
"""The growth from one block to the next that is start-up. Slow start doubles in a round trip, and
even cubic's window after an early exit from it grows more slowly than this."""

_BLOCK_ROUND_TRIPS: Final = 2
_SHORTEST_BLOCK_S: Final = 0.2

_TOGETHER: Final = 3
"""Blocks over which in-order delivery, which pauses where data is lost, is even."""

_ON_TIME: Final = 0.9
"""A time that counts as reached: reports come a little early or late."""

_UNKNOWN: Final = 1.0
"""The relative error of a rate that is still growing, or of which nothing else is known."""

_TOO_FEW: Final = 2
"""With so few intervals older versions stated no error."""

_CYCLE_ROUND_TRIPS: Final = 8
"""BBR probes for bandwidth in cycles of eight round trips (Cardwell et al., "BBR", ACM Queue 14(5),
2016): its rate is known after one cycle."""


_CERTAINLY: Final = 2.0
_FEWEST_BEHIND: Final = 3
"""A probe is behind if it is by this many standard errors, over this many intervals."""


class ProbeLength(msgspec.Struct, frozen=True, kw_only=True):
    """The minimum and maximum duration of a probe, in seconds since its first byte.

    `lossy_floor_s`: the minimum with retransmissions whose effect is not known. `steady_s`: the
    minimum of the part that counts. `sample_every_s`: reporting interval of both ends, at most
    0.5 s. `rtt_s`: the round-trip time on which all of this is based.
    """

    rtt_s: float
    floor_s: float
    lossy_floor_s: float
    ceiling_s: float
    steady_s: float
    sample_every_s: float


def probe_length(rtt_s: float) -> ProbeLength:
    """Floor and ceiling as a function of the RTT (in seconds, above 0).

    Slow start doubles every round trip: from 10 segments to the 60,000 that 10 Gbit/s at 70 ms
    needs takes 13. It is detected, so the floor is shorter. The constants for short paths are what
    the scheduler of a busy host needs to show a steady rate.
    """
    return ProbeLength(
        rtt_s=rtt_s,
        floor_s=max(0.5, 6 * rtt_s),
        lossy_floor_s=max(0.6, 36 * rtt_s),
        ceiling_s=max(2.0, 36 * rtt_s),
        steady_s=max(0.3, 4 * rtt_s),
        sample_every_s=min(0.5, max(0.1, rtt_s)),
    )


class SteadyPart(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals that count, those from `first` on, and what they say of the long run.

    `throughput_bps`: the rate to expect in the long run, in bit/s, with its standard error
    `stderr_bps`. `settled`: whether the error is small enough to stop. `predicted`: the rate is not
    the mean of these intervals, because losses are still changing it. `losses`: what they show of
    the path, where that is known.
    """

    first: int
    throughput_bps: float
    stderr_bps: float
    settled: bool
    predicted: bool = False
    losses: LossesSeen | None = None


def mean_rate_bps(part: Sequence[Interval]) -> float:
    """The mean rate over these intervals in bit/s; 0 if they are too short to have one."""
    length_s = sum(i.end_s - i.start_s for i in part)
    return sum(i.received_bytes for i in part) * 8 / length_s if length_s >= SHORTEST_S else 0.0


def start_up_length(rates: Sequence[float]) -> int:
    """How many of the first interval rates are start-up, by MSER; at most half of them.

    In a short series MSER also cuts mere noise. The cut is kept only if the mean of the removed
    part differs from that of the rest.
    """
    cut = _least_marginal_error(rates)
    if not cut:
        return 0
    before, after = math.fsum(rates[:cut]) / cut, math.fsum(rates[cut:]) / (len(rates) - cut)
    return cut if abs(before - after) > CLOSE_ENOUGH * after else 0


def _least_marginal_error(rates: Sequence[float]) -> int:
    """The truncation point that leaves the most precise mean of the rest."""
    best, best_error = 0, math.inf
    total, squares = math.fsum(rates), math.fsum(r * r for r in rates)
    for first in range(len(rates) // 2 + 1):
        left = len(rates) - first
        if left < 2:
            break
        error = max(0.0, squares - total * total / left) / left**2
        if error < best_error:
            best, best_error = first, error
        total -= rates[first]
        squares -= rates[first] ** 2
    return best


def _pieces(intervals: Sequence[Interval], least_s: float) -> Iterator[tuple[Interval, int]]:
    """Neighbouring intervals, joined to at least `least_s`; after how many intervals each ends.

    A rest that is shorter is left out. Reports are seldom on time: a late one is followed by a
    very short interval with the rate of a burst.
    """
    begin = 0
    for number, interval in enumerate(intervals, start=1):
        if interval.end_s - intervals[begin].start_s >= _ON_TIME * least_s:
            received = sum(i.received_bytes for i in intervals[begin:number])
            yield Interval(intervals[begin].start_s, interval.end_s, received), number
            begin = number


def _growth_ends(rates: Sequence[float]) -> int:
    """The last of these rates at which start-up still shows."""
    last, highest = 0, rates[0]
    for index, rate in enumerate(rates[1:], start=1):
        if rate > _GROWTH * highest and _stays(rates, index, last):
            last = index
        highest = max(highest, rate)
    return last


def _stays(rates: Sequence[float], index: int, last: int) -> bool:
    """Whether a rise is growth: it stays, or it continues what was growth before.

    A burst makes up for the pause before it: the two count together.
    """
    if index == len(rates) - 1:
        return last == index - 1
    before = rates[max(0, index - 3) : index - 1] or rates[:1]
    after = rates[index - 1 :]
    return math.fsum(after) / len(after) > _GROWTH * math.fsum(before) / len(before)


class ErrorModel(msgspec.Struct, frozen=True, kw_only=True):
    """What is assumed about the spread of interval rates, before an interval was seen.

    `spread`: the coefficient of variation, which counts for `degrees` degrees of freedom. `later`:
    by how much the later part of a transfer differs more from a mean than the spread says. The
    spread is of the size by which repeats of a setting differ in published measurements; `later`
    is fitted to public traces (docs/benchmarks-probes.md).
    """

    spread: float = 0.12
    degrees: int = 2
    later: float = 1.75


_SHIPPED: Final = ErrorModel()

REPEATS: Final = ErrorModel(spread=0.03, degrees=2, later=1.0)
"""For probes that follow each other within a minute: what changes later does not part them."""


def relative_error(part: Sequence[Interval], model: ErrorModel = _SHIPPED) -> float:
    """The standard error of the part's mean as an estimate of what comes later, as a fraction."""
    mean_bps = mean_rate_bps(part)
    if mean_bps <= 0:
        return _UNKNOWN
    squares = math.fsum((i.throughput_bps / mean_bps - 1) ** 2 for i in part)
    supposed = squares + model.degrees * model.spread**2
    variance = model.later**2 * supposed / (len(part) - 1 + model.degrees) / len(part)
    if len(part) > 1:
        middle = len(part) // 2
        drift = (mean_rate_bps(part[middle:]) - mean_rate_bps(part[:middle])) / mean_bps
        by_chance = 4 * squares / (len(part) - 1) / len(part)
        variance += max(0.0, drift**2 - by_chance)
    return math.sqrt(variance)


def stated_stderr_bps(steady: SteadyPart) -> float:
    """The standard error to record, always finite: that of an unknown rate is the rate itself."""
    known = math.isfinite(steady.stderr_bps)
    return steady.stderr_bps if known else _UNKNOWN * steady.throughput_bps


def stated_error(measurement: Measurement) -> float:
    """The relative standard error that a probe of a transport states; its rate must be above 0.

    Older versions recorded 0 for a probe of at most two intervals: that was unknown, not exact.
    """
    if measurement.stderr_bps == 0 and 0 < len(measurement.intervals) <= _TOO_FEW:
        return _UNKNOWN
    return measurement.stderr_bps / measurement.throughput_bps


def error_among_repeats(measurement: Measurement) -> float:
    """The relative standard error of a probe against others that follow within a minute.

    That of the long run, which the probe states, is larger: what changes later is common to all.
    """
    counted = measurement.intervals[measurement.steady_from :]
    stated = measurement.stderr_bps / measurement.throughput_bps
    return min(stated, relative_error(counted, REPEATS)) if len(counted) > 1 else stated


_Block = tuple[float, float, int]
"""When it ended, its rate in bit/s, and after how many intervals it ended."""


def steady_part(
    intervals: Sequence[Interval],
    length: ProbeLength,
    *,
    lossy: bool = False,
    reports: Sequence[SenderReport] = (),
    model: ErrorModel = _SHIPPED,
) -> SteadyPart:
    """What a probe says so far, and whether it may stop. Needs at least one interval.

    `reports`: the sender's so far. `lossy`: whether there were retransmissions, where no reports
    say so.
    """
    blocks = _blocks(intervals, length)
    first = _first(blocks)
    pieces = [piece for piece, _ in _pieces(intervals[first:], length.sample_every_s)]
    if not first or not pieces:
        return _still_growing(intervals, blocks)
    part = intervals[first:]
    bps = mean_bps = mean_rate_bps(part)
    error = relative_error(pieces, model)
    rates = [rate for _, rate, _ in blocks]
    highest_bps = _highest(rates)
    losses = _losses(blocks, reports, length.rtt_s, part[0].start_s, highest_bps)
    allowed = _allowed(losses, reports, length.rtt_s, max(rates), highest_bps, mean_bps)
    if allowed is not None and allowed.rate_bps > 0 and mean_bps > 0:
        bps, error = combined(mean_bps, error, allowed)
    elif is_growing(reports, length.rtt_s):
        error = max(error, _UNKNOWN)
    is_long_enough = part[-1].end_s - part[0].start_s >= _ON_TIME * length.steady_s and part[
        -1
    ].end_s >= _floor_s(length, lossy, reports, part[0].start_s, mean_bps)
    return SteadyPart(
        first=first,
        throughput_bps=bps,
        stderr_bps=error * bps,
        settled=is_long_enough and bps > 0 and error <= ENOUGH,
        predicted=abs(bps - mean_bps) > CLOSE_ENOUGH * mean_bps,
        losses=losses,
    )


def is_behind(
    steady: SteadyPart,
    intervals: Sequence[Interval],
    length: ProbeLength,
    least_bps: float,
    reports: Sequence[SenderReport] = (),
) -> bool:
    """Whether a probe that is not settled will certainly not reach `least_bps`.

    What losses have not shown yet only lowers the rate, so it need not be waited for. BBR is
    different: beside other traffic it leaves start-up with losses and a small share, and grows.
    `reports`: the sender's so far.
    """
    few = len(intervals) - steady.first < _FEWEST_BEHIND
    if few or steady.throughput_bps <= 0 or least_bps <= 0:
        return False
    counted_s = intervals[-1].end_s - intervals[steady.first].start_s
    floor_s = _after_a_cycle_s(length) if _is_bbr_with_losses(reports) else length.floor_s
    if counted_s < _ON_TIME * length.steady_s or intervals[-1].end_s < floor_s:
        return False
    error = steady.stderr_bps / steady.throughput_bps
    # In logarithms: the error has no bound, and an exponential soon is no number.
    return _CERTAINLY * error < math.log(least_bps / steady.throughput_bps)


def _first(blocks: Sequence[_Block]) -> int:
    """How many of the first intervals are start-up; all of them while there is nothing else."""
    if not blocks:
        return 0
    rates = [rate for _, rate, _ in blocks]
    last = _growth_ends(rates)
    return blocks[last + start_up_length(rates[last + 1 :])][2]


def _still_growing(intervals: Sequence[Interval], blocks: Sequence[_Block]) -> SteadyPart:
    """Of a probe that has nothing but start-up, its last block is the best that is known."""
    first = blocks[-2][2] if len(blocks) > 1 else 0
    bps = mean_rate_bps(intervals[first:])
    error = _UNKNOWN if len(intervals) > 1 else math.inf
    return SteadyPart(first=first, throughput_bps=bps, stderr_bps=error * bps, settled=False)


def _blocks(intervals: Sequence[Interval], length: ProbeLength) -> list[_Block]:
    least_s = max(_SHORTEST_BLOCK_S, _BLOCK_ROUND_TRIPS * length.rtt_s)
    pieces = _pieces(intervals, least_s)
    return [(piece.end_s, piece.throughput_bps, number) for piece, number in pieces]


def _allowed(
    losses: LossesSeen | None,
    reports: Sequence[SenderReport],
    rtt_s: float,
    peak_bps: float,
    highest_bps: float,
    mean_bps: float,
) -> LongRun | None:
    if losses is None:
        return None
    cycles = after_overflow(reports, losses, rtt_s, peak_bps, highest_bps, mean_bps)
    return cycles or long_run(losses, rtt_s, highest_bps)


def _losses(
    blocks: Sequence[_Block],
    reports: Sequence[SenderReport],
    rtt_s: float,
    start_up_s: float,
    highest_bps: float,
) -> LossesSeen | None:
    ends_s = [end_s for end_s, _, _ in blocks]

    def rate_at(t_s: float) -> float:
        return blocks[min(bisect.bisect_left(ends_s, t_s), len(blocks) - 1)][1]

    return losses_seen(reports, rate_at, rtt_s, start_up_s, highest_bps)


def _highest(rates: Sequence[float]) -> float:
    """The highest mean of neighbouring blocks: a burst makes up for the pause before it."""
    together = min(_TOGETHER, len(rates))
    starts = range(len(rates) - together + 1)
    return max(math.fsum(rates[start : start + together]) for start in starts) / together


def combined(mean_bps: float, error: float, allowed: LongRun) -> tuple[float, float]:
    """The mean and what the losses allow, weighted by their precision, with its relative error.

    The mean is biased by what is left of the windows after slow start. Where these exceed what the
    path carries, the mean shows the path, and not how far they are from the long run's.
    """
    gap = math.log(allowed.rate_bps / mean_bps)
    bias = allowed.memory * gap
    if allowed.rate_bps < mean_bps < allowed.windows_bps:
        bias = max(gap, allowed.memory * math.log(allowed.rate_bps / allowed.windows_bps))
    of_mean = error**2 + bias**2
    of_allowed = allowed.error**2
    bps = mean_bps * math.exp(gap * of_mean / (of_mean + of_allowed))
    error = math.sqrt(of_mean * of_allowed / (of_mean + of_allowed))
    return bps, max(error, allowed.least_error)


def _floor_s(
    length: ProbeLength,
    lossy: bool,
    reports: Sequence[SenderReport],
    start_up_s: float,
    mean_bps: float,
) -> float:
    """The minimum duration of a probe with these reports, and this mean since start-up."""
    last = reports[-1] if reports else None
    if not (lossy or (last is not None and last.retransmits)):
        return length.floor_s
    if _is_bbr(last) or is_sustained(reports, length.rtt_s, start_up_s, mean_bps):
        return _after_a_cycle_s(length)
    return length.lossy_floor_s


def _is_bbr(report: SenderReport | None) -> bool:
    return bool(report and report.state and report.state.congestion.startswith("bbr"))


def _is_bbr_with_losses(reports: Sequence[SenderReport]) -> bool:
    return bool(reports and _is_bbr(reports[-1]) and reports[-1].retransmits)


def _after_a_cycle_s(length: ProbeLength) -> float:
    return length.floor_s + _CYCLE_ROUND_TRIPS * length.rtt_s
