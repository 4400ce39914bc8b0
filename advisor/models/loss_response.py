"""What a congestion control makes of the losses seen, in the long run.

After slow start the windows of reno and cubic are what slow start left, and losses shrink them over
tens of round trips to what the loss rate allows. That rate is known from theory, with p the losses
per segment, W the mean window of a stream in segments and T the RTT in seconds:

- reno: W = sqrt(3 / (2 p)) (Mathis et al., "The macroscopic behavior of the TCP congestion
  avoidance algorithm", CCR 27(3), 1997, equation 3, without delayed acknowledgements).
- cubic: W = (C (3 + β) / (4 (1 - β)))^(1/4) (T / p)^(3/4) with C = 0.4, β = 0.7 (RFC 9438, equation
  5), or reno's where that is more.

Losses that come from the streams' own overflow of the queue say nothing of this kind: the rate is
then at the path's capacity. The rate and the RTT at which they come distinguish them.
"""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from advisor.domain.sending import LossesSeen, SenderReport, SendingState

_BELOW: Final = 0.75
"""A rate below this fraction of the highest one does not fill the path."""

_NOT_FULL: Final = 0.7
"""The queue counts as not full when the RTT has risen by less than this fraction of its largest
rise."""

RISE: Final = 0.03
"""The rise of the RTT, as a fraction, from which on a queue can be seen at all."""

_OVERFLOW: Final = 0.02
"""The fraction of the windows that is lost at once where slow start overfills the queue."""

_AT_ONCE: Final = 3
_AT_ONCE_STARTING: Final = 2
"""Losses for each stream that random ones seldom reach within one window; in slow start fewer, as
its bursts overfill a shallow queue by a few."""

_RECOVERY_ROUND_TRIPS: Final = 8
_RECOVERY_S: Final = 0.3
"""After such a loss: the time in which it is repaired."""

_FLAT: Final = 0.95
"""A mean rate above this fraction of the highest one shows no decline."""

_GROWTH_ROUND_TRIPS: Final = 6
_GROWTH: Final = 1.1
"""A window that grows by this factor within this many round trips is not at its limit yet."""

_WAITED: Final = 0.1
"""The share of the time that streams may wait for the receiver or the buffer and still count as
limited by their windows."""

_FORMULA_ERROR: Final = 0.25
"""How far the formulas are from measured rates, as a logarithm: the models leave out time-outs,
recovery and the spread between streams."""


class _Control(msgspec.Struct, frozen=True):
    """`kept`: the part of a window that is left after a cut. `power`: W is as p to minus this."""

    kept: float
    power: float
    window: Callable[[float, float], float]


def _reno_window(loss: float, _rtt_s: float) -> float:
    return math.sqrt(1.5 / loss)


def _cubic_window(loss: float, rtt_s: float) -> float:
    constant = math.sqrt(math.sqrt(0.4 * (3 + 0.7) / (4 * (1 - 0.7))))
    return max(_reno_window(loss, rtt_s), constant * math.pow(rtt_s / loss, 0.75))


_CONTROLS: Final = {
    "reno": _Control(0.5, 0.5, _reno_window),
    "cubic": _Control(0.7, 0.75, _cubic_window),
}


_Seen = tuple[SenderReport, SendingState]
_Counts = tuple[int, int]
"""Cuts, and segments sent."""


def answers(congestion: str) -> bool:
    """Whether it is known what this congestion control makes of losses."""
    return congestion in _CONTROLS


class _Queue(msgspec.Struct, frozen=True):
    """What the RTTs of a probe show of the queue; both are 0 where none was reported."""

    least_s: float
    most_s: float

    @staticmethod
    def seen_in(states: Sequence[_Seen]) -> "_Queue":
        rtts_s = [report.rtt_s for report, _ in states if report.rtt_s]
        return _Queue(min(rtts_s, default=0.0), max(rtts_s, default=0.0))

    @property
    def is_seen(self) -> bool:
        return self.most_s > (1 + RISE) * self.least_s

    def is_full(self, earlier: SenderReport, report: SenderReport) -> bool:
        """Whether it was full in between: the RTT falls at once after a cut, so the one before
        it counts as well."""
        not_full_s = self.least_s + _NOT_FULL * (self.most_s - self.least_s)
        return self.is_seen and max(earlier.rtt_s or 0.0, report.rtt_s or 0.0) >= not_full_s


class LongRun(msgspec.Struct, frozen=True, kw_only=True):
    """The rate in bit/s that the losses seen allow in the long run, whatever the path could carry.

    `error`: its standard error, as a logarithm. `memory`: the fraction that is left of the
    difference between the windows after slow start and those in the long run. `windows_bps`: where
    the rate did not follow them, what the windows after slow start would carry, else 0.
    `least_error`: what no rate that the probe shows can lower the error to.
    """

    rate_bps: float
    error: float
    memory: float
    windows_bps: float = 0.0
    least_error: float = 0.0


def losses_seen(
    reports: Sequence[SenderReport],
    rate_at: Callable[[float], float],
    rtt_s: float,
    start_up_s: float,
    highest_bps: float,
) -> LossesSeen | None:
    """The losses so far; None for another congestion control than reno and cubic.

    `rate_at`: the receiver's rate in bit/s at a time. `start_up_s`: when start-up ended.
    `highest_bps`: the highest rate.
    """
    states = [(r, r.state) for r in reports if r.state is not None]
    if len(states) < 2 or not answers(states[-1][1].congestion):
        return None
    state = states[-1][1]
    after_start = _state_at(states, start_up_s)
    is_flat = _is_flat(states, start_up_s, rate_at, highest_bps)
    (cuts, segments), (full_cuts, full_segments) = _counted(states, rate_at, rtt_s, highest_bps)
    return LossesSeen(
        congestion=state.congestion,
        streams=state.streams,
        segment_bytes=state.segment_bytes,
        cuts=cuts,
        segments=segments,
        full_cuts=full_cuts,
        full_segments=full_segments,
        all_cuts=state.cuts,
        later_cuts=_since(after_start, state)[0] if after_start else state.cuts,
        full_window_bytes=after_start.window_bytes if after_start and is_flat else 0,
        window_limited=after_start is not None
        and state.busy_s > after_start.busy_s
        and not has_waited(after_start, state),
        queue_free=_is_queue_free(states, start_up_s, rtt_s),
    )


def long_run(losses: LossesSeen, rtt_s: float, highest_bps: float) -> LongRun | None:
    """What the losses of a probe allow; None where none of them shows the path's own.

    `highest_bps`: the highest rate since start-up.
    """
    if not losses.cuts or not losses.segments:
        return None
    # Jeffreys' estimate of a Poisson rate; its logarithm's error is about 1 / sqrt(cuts + 1/2).
    loss = min(1.0, (losses.cuts + 0.5) / losses.segments)
    allowed = allowed_at(loss, losses, rtt_s, highest_bps)
    power = _CONTROLS[losses.congestion].power
    error = math.hypot(allowed.error, power / math.sqrt(losses.cuts + 0.5))
    return msgspec.structs.replace(allowed, error=error)


def allowed_at(loss: float, probe: LossesSeen, rtt_s: float, highest_bps: float) -> LongRun:
    """What a loss rate, in cuts per segment, allows the streams of a probe."""
    control = _CONTROLS[probe.congestion]
    window_bits = control.window(loss, rtt_s) * probe.segment_bytes * 8
    return LongRun(
        rate_bps=min(highest_bps, probe.streams * window_bits / rtt_s),
        error=_FORMULA_ERROR,
        memory=control.kept ** (probe.later_cuts / probe.streams),
        windows_bps=probe.full_window_bytes * 8 / rtt_s,
    )


def _state_at(states: Sequence[_Seen], t_s: float) -> SendingState | None:
    """The last one reported until then; None if all are later."""
    return next((state for report, state in reversed(states) if report.t_s <= t_s), None)


def _is_flat(
    states: Sequence[_Seen], since_s: float, rate_at: Callable[[float], float], highest_bps: float
) -> bool:
    """Whether the rate has stayed at its highest since then: it did not follow the windows."""
    rates_bps = [rate_at(report.t_s) for report, _ in states if report.t_s > since_s]
    return math.fsum(rates_bps) > _FLAT * highest_bps * len(rates_bps)


def _is_queue_free(states: Sequence[_Seen], since_s: float, rtt_s: float) -> bool:
    """Whether all RTTs since then are those of the idle path, `rtt_s`."""
    rtts_s = [report.rtt_s for report, _ in states if report.t_s > since_s and report.rtt_s]
    return bool(rtts_s) and max(rtts_s) <= (1 + RISE) * rtt_s


def _counted(
    states: Sequence[_Seen],
    rate_at: Callable[[float], float],
    rtt_s: float,
    highest_bps: float,
) -> tuple[_Counts, _Counts]:
    """Cuts that did not come from a full queue, with the segments sent in that time; and both of
    the time in which a queue may have been full. Overflow of slow start counts in neither."""
    queue = _Queue.seen_in(states)
    overflows = _overflows(states, rtt_s, queue)
    counted, full = (0, 0), (0, 0)
    for (earlier, before), (report, now) in itertools.pairwise(states):
        if any(begin_s < report.t_s <= end_s for begin_s, end_s in overflows):
            continue
        if queue.is_seen:
            may_be_full = queue.is_full(earlier, report)
        else:
            is_starting = before.starting > 0 and not (overflows and overflows[0][1] < report.t_s)
            # Before the loss: behind the hole that it leaves, nothing is delivered.
            is_high = rate_at(earlier.t_s - rtt_s) >= _BELOW * highest_bps
            may_be_full = is_high and not is_starting
        if may_be_full:
            full = _sum(full, _since(before, now))
        else:
            counted = _sum(counted, _since(before, now))
    return counted, full


def _overflows(states: Sequence[_Seen], rtt_s: float, queue: _Queue) -> list[tuple[float, float]]:
    """The times from when the streams themselves overfilled the queue until that is repaired.

    What was lost is reported within a round trip. Where a report ends within that, it has the first
    cuts, and the next one has most of the losses: both are of the same overflow.
    """
    overflows: list[tuple[float, float]] = []
    repair_s = max(_RECOVERY_S, _RECOVERY_ROUND_TRIPS * rtt_s)
    for (earlier, before), (report, now) in itertools.pairwise(states):
        lost = (report.retransmits or 0) - (earlier.retransmits or 0)
        is_starting = not overflows and before.starting > 0
        if _is_overflow(before, now, lost, is_starting, queue.is_full(earlier, report)):
            overflows.append((earlier.t_s - rtt_s, report.t_s + repair_s))
    return overflows


def _sum(one: _Counts, other: _Counts) -> _Counts:
    return one[0] + other[0], one[1] + other[1]


def _since(before: SendingState, now: SendingState) -> _Counts:
    """The cuts and the segments in between. What an end reports need not make sense."""
    return max(0, now.cuts - before.cuts), max(0, now.sent_segments - before.sent_segments)


def _is_overflow(
    before: SendingState, now: SendingState, lost: int, is_starting: bool, has_full_queue: bool
) -> bool:
    """Whether the streams themselves have overfilled the queue in between.

    Much is then lost at once; in slow start more than once a stream, or by most streams of many.
    """
    at_once = _AT_ONCE_STARTING if is_starting else _AT_ONCE
    if lost >= at_once and lost * now.segment_bytes > _OVERFLOW * before.window_bytes:
        return True
    cuts, _ = _since(before, now)
    by_most = has_full_queue and cuts >= max(_AT_ONCE, now.streams / 2)
    return is_starting and (by_most or lost >= _AT_ONCE * max(1, cuts))


def is_growing(reports: Sequence[SenderReport], rtt_s: float) -> bool:
    """Whether a window grows that nothing limits yet: no queue, no receiver, no send buffer.

    Cubic that left slow start early (HyStart) grows so for tens of round trips, with pauses.
    """
    states = [(r, r.state) for r in reports if r.state is not None]
    if not states or not answers(states[-1][1].congestion):
        return False
    last, now = states[-1]
    since_s = last.t_s - _GROWTH_ROUND_TRIPS * rtt_s
    before = _state_at(states, since_s)
    if before is None or now.cuts > before.cuts or before.starting:
        return False
    has_queue = (last.rtt_s or 0.0) > (1 + RISE) * _Queue.seen_in(states).least_s
    has_grown = now.window_bytes > _GROWTH * before.window_bytes
    return has_grown and not has_waited(before, now) and not has_queue


def has_waited(before: SendingState, now: SendingState) -> bool:
    """Whether something else than their windows held the streams back in between."""
    waited_s = now.receiver_limited_s + now.buffer_limited_s
    waited_s -= before.receiver_limited_s + before.buffer_limited_s
    return waited_s > _WAITED * (now.busy_s - before.busy_s)


def is_sustained(
    reports: Sequence[SenderReport], rtt_s: float, since_s: float, mean_bps: float
) -> bool:
    """Whether this mean rate since then cannot fall any more, as far as losses show.

    `rtt_s`: of the idle path, since the windows may fall as far as the queue is long.

    All cuts count, also those by a full queue, and as many more as chance may have held back: if
    even that many allow the rate, none of it is left over from slow start.
    """
    states = [(r, r.state) for r in reports if r.state is not None]
    control = _CONTROLS.get(states[-1][1].congestion) if states else None
    before = _state_at(states, since_s)
    if control is None or before is None:
        return False
    now = states[-1][1]
    segments, cuts = now.sent_segments - before.sent_segments, now.cuts - before.cuts
    if segments <= 0:
        return False
    loss = min(1.0, (cuts + 1 + math.sqrt(cuts + 1)) / segments)
    window_bits = control.window(loss, rtt_s) * now.segment_bytes * 8
    return now.streams * window_bits / rtt_s >= mean_bps
