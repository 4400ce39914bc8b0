"""The field's recommendations for the kernel settings of a transfer node, as data.

The sources differ and change: each row names its source and the date it was recorded here.
"""

from collections.abc import Mapping
from typing import Final

import msgspec

from advisor.domain.shell import shell_word

GIGABIT: Final = 1e9
USUAL_RATE_BPS: Final = 10 * GIGABIT
"""The assumed speed of a node that reports no link speed: the lowest with tuning advice."""

RMEM_MAX: Final = "net.core.rmem_max"
WMEM_MAX: Final = "net.core.wmem_max"
TCP_RMEM: Final = "net.ipv4.tcp_rmem"
TCP_WMEM: Final = "net.ipv4.tcp_wmem"
CONGESTION: Final = "net.ipv4.tcp_congestion_control"
MTU_PROBING: Final = "net.ipv4.tcp_mtu_probing"
PACING_QDISC: Final = "fq"


class Recommendation(msgspec.Struct, frozen=True, kw_only=True):
    """Kernel settings for hosts of up to `rate_bps` on paths of up to `rtt_s`.

    `settings`: by sysctl name; the maximum in bytes, or minimum, default and maximum.
    """

    rate_bps: float
    rtt_s: float
    settings: Mapping[str, tuple[int, ...]]
    source: str
    as_of: str

    def covers(self, rate_bps: float, rtt_s: float) -> bool:
        """Whether it is meant for such a path."""
        return rate_bps <= self.rate_bps and rtt_s <= self.rtt_s

    def fills(self, rate_bps: float, rtt_s: float) -> bool:
        """Whether one stream fills such a path with autotuned buffers of this size.

        They hold twice rate × RTT, as the kernel uses up to half of every buffer for itself.
        """
        needed = 2 * rate_bps * rtt_s / 8
        return all(self.settings[name][-1] >= needed for name in (TCP_RMEM, TCP_WMEM))


_SOURCE: Final = "ESnet fasterdata, host tuning; perfSONAR toolkit"
_AS_OF: Final = "2026-11"
_MEDIUM: Final = {
    RMEM_MAX: (134217728,),
    WMEM_MAX: (134217728,),
    TCP_RMEM: (4096, 87380, 67108864),
    TCP_WMEM: (4096, 65536, 67108864),
}

RECOMMENDATIONS: Final = (
    Recommendation(
        rate_bps=10 * GIGABIT,
        rtt_s=0.1,
        settings={
            RMEM_MAX: (67108864,),
            WMEM_MAX: (67108864,),
            TCP_RMEM: (4096, 87380, 33554432),
            TCP_WMEM: (4096, 65536, 33554432),
        },
        source=_SOURCE,
        as_of=_AS_OF,
    ),
    Recommendation(
        rate_bps=10 * GIGABIT, rtt_s=0.2, settings=_MEDIUM, source=_SOURCE, as_of=_AS_OF
    ),
    Recommendation(
        rate_bps=40 * GIGABIT, rtt_s=0.05, settings=_MEDIUM, source=_SOURCE, as_of=_AS_OF
    ),
    Recommendation(
        rate_bps=100 * GIGABIT,
        rtt_s=0.2,
        settings={
            RMEM_MAX: (2147483647,),
            WMEM_MAX: (2147483647,),
            TCP_RMEM: (4096, 131072, 1073741824),
            TCP_WMEM: (4096, 16384, 1073741824),
        },
        source=_SOURCE,
        as_of=_AS_OF,
    ),
)
"""From the smallest to the largest."""


_LONGEST_RTT_S: Final = max(one.rtt_s for one in RECOMMENDATIONS)


def recommended(rate_bps: float, rtt_s: float) -> Recommendation:
    """The smallest recommendation that covers this path, else the largest of all.

    No recommendation is for paths that are longer than 200 ms. For these it is the smallest that
    covers 200 ms at this rate and whose buffers also fill the path, else the largest.
    """
    usual_s = min(rtt_s, _LONGEST_RTT_S)
    fitting = (r for r in RECOMMENDATIONS if r.covers(rate_bps, usual_s))
    if rtt_s > _LONGEST_RTT_S:
        fitting = (r for r in fitting if r.fills(rate_bps, rtt_s))
    return next(fitting, RECOMMENDATIONS[-1])


def larger(name: str, current_bytes: int, rate_bps: float, rtt_s: float) -> tuple[int, ...] | None:
    """The value for a buffer setting on such a path when its present maximum is too small.

    The recommendation for the path, or the next larger one if that does not exceed the present
    value; None when no recommendation is larger.
    """
    first = RECOMMENDATIONS.index(recommended(rate_bps, rtt_s))
    values = (r.settings[name] for r in RECOMMENDATIONS[first:])
    return next((v for v in values if v[-1] > current_bytes), None)


class Better(msgspec.Struct, frozen=True):
    """A better value and the reason for it."""

    value: str
    reason: str


def slow_congestion(name: str) -> Better | None:
    """The replacement for this congestion control; None when it is as good as others."""
    if name != "reno":
        return None
    return Better("cubic", "reno takes minutes to recover from one loss on a long path")


def unpaced_qdisc(kind: str) -> Better | None:
    """The replacement for this queueing discipline; None for the one that paces."""
    if kind == PACING_QDISC:
        return None
    return Better(PACING_QDISC, "fq paces, so bursts do not overflow small queues on the path")


def sysctl_line(name: str, *values: int | str) -> str:
    """The command that changes a kernel setting until the next boot."""
    text = shell_word(" ".join(map(str, values)))
    return f"sysctl -w {shell_word(name)}={text}"
