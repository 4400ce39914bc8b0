"""What a path can carry: no expectation and no interval reaches beyond it.

The lowest of what is known counts:

- the rate that was reserved (`--bandwidth`) and the speed of the slower link, less the headers of
  each packet: 40 bytes of IPv4 and TCP and 12 of the timestamps option;
- the highest rate that a receiver has ever seen on this path over a window of some round trips,
  with its error. From disk to disk that is what the network alone or a slice has shown.

The first is a fact about the path, and ends a search that reaches it. The second is what was seen:
a transfer may find a better hour, but no probe supports such a promise.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from advisor.domain.advice import NINE_OF_TEN, Estimate
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_rate
from advisor.models.comparison import MEMORY_TO_MEMORY
from advisor.models.packets import HEADER_BYTES, packets_of
from advisor.models.steadiness import stated_error

_WINDOW_S: Final = 0.3
_WINDOW_ROUND_TRIPS: Final = 4
_NEAR: Final = 0.95
_DISPROVED: Final = 1.02
_LEAST_ERROR: Final = 0.01
"""Of a rate over a window: its reports are late or early by some milliseconds."""

_OVERFULL: Final = 0.01
"""The fraction of the packets that is lost at the least where slow start overfills a queue."""


class Ceiling(msgspec.Struct, frozen=True):
    """An upper bound of the throughput in bit/s; `words`: of what, to follow "of"."""

    bps: float
    words: str


def held(ceiling: Ceiling | None, estimate: Estimate) -> Estimate:
    """An estimate of a rate in bit/s, cut off at the ceiling.

    One beyond it is too high by that factor, and so is its lower end.
    """
    if ceiling is None:
        return estimate
    lower, upper = estimate.interval
    share = share_possible(ceiling, estimate)
    return Estimate(estimate.value * share, (lower * share, min(upper, ceiling.bps)))


def share_possible(ceiling: Ceiling | None, estimate: Estimate) -> float:
    """The share of an estimate that the ceiling allows, 1 where it is below."""
    return min(1.0, ceiling.bps / estimate.value) if ceiling else 1.0


def link_ceiling(path: PathFacts, seen_bps: float = 0.0) -> Ceiling | None:
    """What the reservation and the slower link leave for data; None where neither is known.

    `seen_bps`: the highest rate measured. An interface may report less than it carries, as virtual
    ones do: then its speed is no bound. A reservation is still one.
    """
    payload = max(0.5, 1 - HEADER_BYTES / max(path.mtu_bytes, 2 * HEADER_BYTES))
    bounds = []
    if path.bandwidth_bps:
        words = f"the reserved {format_rate(path.bandwidth_bps)}"
        bounds.append(Ceiling(path.bandwidth_bps * payload, words))
    if path.link_bps and not _is_disproved(path.link_bps, seen_bps):
        words = f"the link's {format_rate(path.link_bps)}"
        bounds.append(Ceiling(path.link_bps * payload, words))
    return min(bounds, key=lambda bound: bound.bps, default=None)


def capacity_of(path: PathFacts, seen_bps: float) -> float | None:
    """The path's `capacity_bps`; None also where that is a link's speed which `seen_bps` disproves.

    `seen_bps`: as in `link_ceiling`.
    """
    if not path.bandwidth_bps and path.link_bps and _is_disproved(path.link_bps, seen_bps):
        return None
    return path.capacity_bps


def _is_disproved(link_bps: float, seen_bps: float) -> bool:
    return seen_bps > link_bps * _DISPROVED


def seen_ceiling(
    measurements: Iterable[Measurement],
    rtt_s: float,
    spread: float = 0.0,
    *,
    is_plateau: bool = False,
    mtu_bytes: int | None = None,
) -> Ceiling | None:
    """The highest rate that any receiver saw over a window; None without probes.

    The window may lie anywhere in a probe: where slow start overfills the path, it shows what the
    path carries. It is an upper bound of the mean in the long run, up to chance: `spread`, how much
    repeats differ, as a fraction. The error of the best known probe near it counts too, unless the
    path or the hosts limit that rate: few and many flows reach it (`is_plateau`), or a probe near
    it lost so much that it overfilled a queue. Of both no more counts than probes usually differ,
    and no less than a window's rate is exact. `mtu_bytes`: of the path, None where it is not known.
    """
    window_s = max(_WINDOW_S, _WINDOW_ROUND_TRIPS * rtt_s)
    known = [one for one in measurements if one.throughput_bps > 0]
    if not known:
        return None
    most_bps = max(_most_bps(one, window_s) for one in known)
    near = [one for one in known if one.throughput_bps >= _NEAR * most_bps] or known
    own = min(map(stated_error, near))
    if is_plateau or any(_has_overfilled(one, mtu_bytes) for one in near):
        own = 0.0
    error = max(_LEAST_ERROR, min(math.hypot(spread, own), MEMORY_TO_MEMORY.value))
    words = f"the {format_rate(most_bps)} that any probe has seen"
    return Ceiling(most_bps * (1 + NINE_OF_TEN * error), words)


def _has_overfilled(measurement: Measurement, mtu_bytes: int | None) -> bool:
    """Whether it lost far more than links lose that are not full."""
    return (measurement.retransmits or 0) > _OVERFULL * packets_of(measurement, mtu_bytes) > 0


def _most_bps(measurement: Measurement, window_s: float) -> float:
    return max(measurement.throughput_bps, fastest_window_bps(measurement.intervals, window_s))


def fastest_window_bps(intervals: Sequence[Interval], window_s: float) -> float:
    """The highest mean rate over consecutive intervals that last `window_s`; 0 if none do."""
    most_bps, first, received = 0.0, 0, 0
    for last in intervals:
        received += last.received_bytes
        while last.end_s - intervals[first].end_s >= window_s:
            received -= intervals[first].received_bytes
            first += 1
        lasted_s = last.end_s - intervals[first].start_s
        if lasted_s >= window_s:
            most_bps = max(most_bps, received * 8 / lasted_s)
    return most_bps


def ceiling_of(
    path: PathFacts,
    measurements: Iterable[Measurement],
    spread: float = 0.0,
    *,
    is_plateau: bool = False,
) -> Ceiling | None:
    """The lower of both bounds; None where nothing is known. See `seen_ceiling`."""
    known = list(measurements)
    most_bps = max((one.throughput_bps for one in known), default=0.0)
    mtu_bytes = path.mtu_bytes
    seen = seen_ceiling(known, path.rtt_s, spread, is_plateau=is_plateau, mtu_bytes=mtu_bytes)
    bounds = [link_ceiling(path, most_bps), seen]
    return min((b for b in bounds if b), key=lambda b: b.bps, default=None)


def bounded_ratio(ratio: Estimate, ceiling: Ceiling | None, to: Estimate) -> Estimate:
    """The ratio of a rate to the rate `to`, where the former cannot exceed the ceiling."""
    if ceiling is None:
        return ratio
    most = ceiling.bps / to.interval[0] if to.interval[0] > 0 else math.inf
    lower, upper = (min(end, most) for end in ratio.interval)
    return Estimate(min(ratio.value, most), (lower, upper))
