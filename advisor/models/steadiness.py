"""When a probe may stop, and which part of it counts.

Starting point: HARP (2018), section 3.1.1: stop as soon as the throughputs of two consecutive
monitor intervals are within 5 % of each other. On its own that stops inside a slow start whose
growth has paused, and it includes the start-up phase in the mean when the interval is short. So
here:

- The start-up phase is detected, not assumed: the intervals before the truncation point that
  minimises the marginal standard error (MSER; White, "An effective truncation heuristic for bias
  reduction in simulation output", Simulation 69(6), 1997) are left out.
- The two monitor intervals are the two halves of the rest, and each must last several round trips,
  so that a pause in the growth is not mistaken for its end.
- The mean must also be precise: its standard error within a fraction of it.
- With retransmissions, a probe lasts three times as many round trips. A window that slow start made
  too large shrinks loss by loss while the rate still looks steady: one stream over 93.6 ms with a
  loss of 3e-4 showed 920 Mbit/s for its first second, and 200 to 350 later on.
"""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.domain.measurement import Interval

CLOSE_ENOUGH: Final = 0.05
"""How close the two halves must be: HARP's 5 %."""

STDERR_SHARE: Final = 0.025
"""The required precision of the mean: with this, its 90 % interval is about ±5 %, as in HARP."""

_MIN_INTERVALS: Final = 4


class ProbeLength(msgspec.Struct, frozen=True, kw_only=True):
    """The minimum and maximum duration of a probe, in seconds since its first byte.

    `lossy_floor_s`: the minimum with retransmissions. `half_s`: the minimum of each of the two
    compared halves. `sample_every_s`: reporting interval of both ends, at most 0.5 s. `rtt_s`: the
    round-trip time on which all of this is based.
    """

    rtt_s: float
    floor_s: float
    lossy_floor_s: float
    ceiling_s: float
    half_s: float
    sample_every_s: float


def probe_length(rtt_s: float) -> ProbeLength:
    """Floor and ceiling as a function of the RTT (in seconds, above 0).

    Slow start doubles every round trip: from 10 segments to the 60,000 that 10 Gbit/s at 70 ms
    needs takes 13, so the floor of 12 round trips is about its length and MSER finds the rest.
    The constants for short paths are what the scheduler of a busy host needs to show a steady rate:
    on loopback, halves of 0.15 s differ by less than 5 % most of the time.
    """
    return ProbeLength(
        rtt_s=rtt_s,
        floor_s=max(0.6, 12 * rtt_s),
        lossy_floor_s=max(0.6, 36 * rtt_s),
        ceiling_s=max(2.0, 36 * rtt_s),
        half_s=max(0.2, 4 * rtt_s),
        sample_every_s=min(0.5, max(0.1, rtt_s)),
    )


class SteadyPart(msgspec.Struct, frozen=True, kw_only=True):
    """The intervals that count: those from `first` on, their mean in bit/s and its standard error.

    `settled`: whether the mean is not expected to change much.
    """

    first: int
    throughput_bps: float
    stderr_bps: float
    settled: bool


def _mean_bps(part: Sequence[Interval]) -> float:
    length_s = sum(i.end_s - i.start_s for i in part)
    return sum(i.received_bytes for i in part) * 8 / length_s if length_s > 0 else 0.0


def _stderr_bps(part: Sequence[Interval]) -> float:
    if len(part) < 2:
        return math.inf
    rates = [i.throughput_bps for i in part]
    mean = math.fsum(rates) / len(rates)
    return math.sqrt(math.fsum((r - mean) ** 2 for r in rates) / (len(rates) - 1) / len(rates))


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


def steady_part(
    intervals: Sequence[Interval], length: ProbeLength, *, lossy: bool = False
) -> SteadyPart:
    """The part of a probe that counts so far, and whether it may stop. Needs at least one interval.

    `lossy`: whether there were retransmissions so far.
    """
    first = start_up_length([i.throughput_bps for i in intervals])
    part = intervals[first:]
    mean_bps, stderr_bps = _mean_bps(part), _stderr_bps(part)
    middle = len(part) // 2
    earlier, later = part[:middle], part[middle:]
    long_enough = (
        intervals[-1].end_s >= (length.lossy_floor_s if lossy else length.floor_s)
        and len(part) >= _MIN_INTERVALS
        and earlier[-1].end_s - earlier[0].start_s >= length.half_s
    )
    settled = (
        long_enough
        and mean_bps > 0
        and abs(_mean_bps(later) - _mean_bps(earlier)) <= CLOSE_ENOUGH * mean_bps
        and stderr_bps <= STDERR_SHARE * mean_bps
    )
    return SteadyPart(first=first, throughput_bps=mean_bps, stderr_bps=stderr_bps, settled=settled)
