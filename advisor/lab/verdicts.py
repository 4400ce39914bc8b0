"""Whether an emulated path matches its parameters: the bounds, and the reasons if it does not.

All here is arithmetic; `checking` measures.
"""

import enum
import math
import statistics
from typing import Final

import msgspec

from advisor.lab.flood import ECHO_BYTES
from advisor.lab.paths import Direction, EmulatedPath

RATE_SHARE: Final = 0.03
RTT_S: Final = 0.0005
RTT_SHARE: Final = 0.02
LEVEL: Final = 0.95
"""The confidence level of the interval for the loss."""

OFFER: Final = 1.15
"""The rate of a flood relative to the rate of the path."""

_ENOUGH: Final = 1.02
_STEADY: Final = 0.98
_CHANCE: Final = 2.6  # Standard deviations: exceeded by chance once in a hundred times.
_MEDIAN: Final = 1.2533  # The standard error of a median relative to that of a mean.


class CheckVerdict(enum.StrEnum):
    """The result of a check."""

    WITHIN = "within"
    OUTSIDE = "outside"
    TOO_SLOW = "too slow"


class RttCheck(msgspec.Struct, frozen=True, kw_only=True):
    """The round-trip time, in seconds.

    `asked_s`: propagation only. `expected_s`: including half of the jitter each way, which is its
    mean, and the echo's own transmission time. `measured_s`: the median of `answered` echoes of
    `sent`, None without any. `bound_s`: how far the two may be apart.
    """

    asked_s: float
    expected_s: float
    bound_s: float
    measured_s: float | None
    least_s: float | None
    sent: int
    answered: int
    verdict: CheckVerdict
    why: str = ""
    tries: int = 1


class RateCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One direction's rate in bit/s at the IP layer.

    `expected_bps`: the rate minus the configured loss, as the receiver counts it.
    `offered_bps`: sent meanwhile. `bound_share`: allowed relative deviation of the measured rate.
    """

    asked_bps: float
    expected_bps: float
    bound_share: float
    offered_bps: float
    measured_bps: float
    verdict: CheckVerdict
    why: str = ""
    tries: int = 1


class LossCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One direction's loss, as a fraction of the packets.

    `interval`: the exact binomial one for the counted loss. `like_packets`: the equivalent number
    of independent packets; less than `sent` where losses come in bursts. `dropped`: packets that
    found the queue full although sent well below the rate: the emulator was not scheduled.
    """

    asked: float
    burst_packets: float
    sent: int
    lost: int
    measured: float
    interval: tuple[float, float]
    like_packets: float
    dropped: int
    verdict: CheckVerdict
    why: str = ""
    tries: int = 1


class DirectionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of a path."""

    rate: RateCheck
    loss: LossCheck


class PathCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A path as configured and as measured; the output of `advisor lab check --json`.

    `late_s`: the 99th percentile of the emulator's lateness; None where it did not increase or is
    not counted. `took_s`: duration of the check.
    """

    lab: str
    host: str
    path: EmulatedPath
    rtt: RttCheck
    forward: DirectionCheck
    reverse: DirectionCheck
    late_s: float | None
    verdict: CheckVerdict
    why: str
    took_s: float

    @property
    def is_as_asked(self) -> bool:
        """Whether everything is within the bounds."""
        return self.verdict == CheckVerdict.WITHIN


def rtt_bound_s(rtt_s: float) -> float:
    """The allowed deviation from this RTT."""
    return RTT_S + RTT_SHARE * rtt_s


def judge_rtt(
    path: EmulatedPath, own: Direction | None, sent: int, samples_s: list[float]
) -> RttCheck:
    """Judge the RTT by echoes on the idle path; `own`: the source's interface, if it has a rate."""
    ways = (path.forward, path.reverse)
    links = [*ways, own, own] if own else ways
    sending_s = sum(ECHO_BYTES * 8 / link.rate_bps for link in links)
    expected_s = path.rtt_s + sending_s + sum(way.jitter_s for way in ways) / 2
    bound_s = rtt_bound_s(path.rtt_s) + _jitter_chance_s(path, len(samples_s))
    measured_s = statistics.median(samples_s) if samples_s else None
    least_s = min(samples_s, default=None)
    verdict, why = CheckVerdict.WITHIN, ""
    if measured_s is None or least_s is None:
        verdict, why = CheckVerdict.OUTSIDE, f"none of {sent} echoes was answered"
    elif abs(measured_s - expected_s) > bound_s:
        verdict, why = CheckVerdict.OUTSIDE, "the RTT differs from the configured one"
        # Some echoes take the expected time: the others waited for a processor.
        if measured_s > expected_s and _is_steady(path) and least_s <= expected_s + bound_s:
            verdict, why = CheckVerdict.TOO_SLOW, "echoes wait for a processor"
    return RttCheck(
        asked_s=path.rtt_s,
        expected_s=expected_s,
        bound_s=bound_s,
        measured_s=measured_s,
        least_s=least_s,
        sent=sent,
        answered=len(samples_s),
        verdict=verdict,
        why=why,
    )


def _is_steady(path: EmulatedPath) -> bool:
    return path.forward.jitter_s == path.reverse.jitter_s == 0


def _jitter_chance_s(path: EmulatedPath, count: int) -> float:
    """How far the median of `count` echoes may be from the mean jitter by chance."""
    variance = sum(way.jitter_s**2 for way in (path.forward, path.reverse)) / 12
    return _CHANCE * _MEDIAN * math.sqrt(variance / max(1, count))


def judge_rate(
    way: Direction, rate_bps: float, offered_bps: float, measured_bps: float, packets: float
) -> RateCheck:
    """Judge the rate by a flood, of which `packets` packets went through.

    `rate_bps`: that of the path or of the source's interface, whichever is slower.
    """
    expected_bps = rate_bps * (1 - way.loss)
    # The fraction that arrives varies by chance as much as the fraction that is lost.
    variance = way.loss / (1 - way.loss) * clumping(way) / max(1.0, packets)
    bound = RATE_SHARE + _CHANCE * math.sqrt(variance)
    off = measured_bps / expected_bps - 1
    verdict, why = CheckVerdict.WITHIN, ""
    if offered_bps < _ENOUGH * rate_bps and off < bound:
        verdict, why = CheckVerdict.TOO_SLOW, "it cannot send more than the path carries"
    elif abs(off) > bound:
        verdict, why = CheckVerdict.OUTSIDE, "the rate differs from the configured one"
        # A flood with gaps lets the queue run empty, and some of the rate stays unused.
        if off < 0 and offered_bps < _STEADY * OFFER * rate_bps:
            verdict, why = CheckVerdict.TOO_SLOW, "the flood is not scheduled in time"
    return RateCheck(
        asked_bps=rate_bps,
        expected_bps=expected_bps,
        bound_share=bound,
        offered_bps=offered_bps,
        measured_bps=measured_bps,
        verdict=verdict,
        why=why,
    )


def clumping(way: Direction) -> float:
    """The variance of a count of losses relative to that of independent losses.

    Losses in bursts are a chain of two states: in the bad one everything is lost, and it lasts for
    `burst_packets` on average. Neighbours are then correlated by 1 − 1 / (burst (1 − loss)).
    """
    if way.burst_packets <= 1 or way.loss == 0:
        return 1.0
    return max(1.0, 2 * way.burst_packets * (1 - way.loss) - 1)


def judge_loss(way: Direction, sent: int, lost: int, dropped: int) -> LossCheck:
    """Judge the loss by counting, well below the rate."""
    factor = clumping(way)
    lower, upper = binomial_interval(lost / factor, sent / factor)
    verdict, why = CheckVerdict.WITHIN, ""
    if not lower <= way.loss <= upper:
        verdict, why = CheckVerdict.OUTSIDE, "the loss differs from the configured one"
        if dropped:
            verdict, why = CheckVerdict.TOO_SLOW, "the emulator is not scheduled in time"
    return LossCheck(
        asked=way.loss,
        burst_packets=way.burst_packets,
        sent=sent,
        lost=lost,
        measured=lost / sent if sent else 0.0,
        interval=(lower, upper),
        like_packets=sent / factor,
        dropped=dropped,
        verdict=verdict,
        why=why,
    )


def binomial_interval(lost: float, sent: float, level: float = LEVEL) -> tuple[float, float]:
    """The exact interval of Clopper and Pearson for the fraction lost; 0 to 1 if none was sent."""
    from scipy.special import betaincinv  # Late: it takes a while.

    tail = (1 - level) / 2
    lower = float(betaincinv(lost, sent - lost + 1, tail)) if lost > 0 else 0.0
    upper = float(betaincinv(lost + 1, sent - lost, 1 - tail)) if lost < sent else 1.0
    return lower, upper


def is_late(late_s: float | None, rtt_s: float) -> bool:
    """Whether such late packets distort a path of this RTT."""
    # The known value is the upper edge of a bucket, twice the lower.
    return late_s is not None and late_s / 2 > rtt_bound_s(rtt_s)


def judge_path(
    rtt: RttCheck, forward: DirectionCheck, reverse: DirectionCheck, late_s: float | None
) -> tuple[CheckVerdict, str]:
    """The verdict on the whole path, and why in a few words."""
    parts: list[RttCheck | RateCheck | LossCheck] = [rtt]
    parts += [part for way in (forward, reverse) for part in (way.rate, way.loss)]
    whys = {p.verdict: p.why for p in reversed(parts)}
    if CheckVerdict.TOO_SLOW in whys:
        return CheckVerdict.TOO_SLOW, whys[CheckVerdict.TOO_SLOW]
    if is_late(late_s, rtt.asked_s):
        return CheckVerdict.TOO_SLOW, "the emulator hands packets over late"
    if CheckVerdict.OUTSIDE in whys:
        return CheckVerdict.OUTSIDE, whys[CheckVerdict.OUTSIDE]
    return CheckVerdict.WITHIN, ""
