"""The range of buffer sizes worth profiling on a path (ProbData 2017, section IV.D.3, equation 11).

Equation 11 restricts the range to [ω1·BDP, ω2·BDP], the bandwidth-delay product being that of the
rate the user has reserved. Taken alone it collapses: on a LAN the BDP is a few kilobytes, and with
a kernel that grants less than ω1·BDP nothing is left of it. So here the range is never narrower
than what the kernels allow of a factor of 64, and its upper end never below 4 MiB.
"""

from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes, format_duration, format_rate

SMALLEST_BYTES: Final = 16 * 1024
LARGEST_BYTES: Final = 2**31 - 1
"""The paper's 16 KB and 2 GB: the latter is the most that fits the integer of the socket option."""

OMEGA_1: Final = 1 / 32
"""One stream of many needs its share of the BDP only; the paper goes up to 25 streams."""

OMEGA_2: Final = 4
"""Twice for what the kernel itself uses of a buffer, twice for what is in flight while a loss is
repaired."""

GENEROUS_BYTES: Final = 4 * 2**20
"""What the upper end never falls below, where granted. On short paths it is the hosts' delays that
fill a buffer, not the RTT: 4 MiB is the 3 ms of 10 Gbit/s that a busy receiver may be kept from
its core, and the kernel's own autotuning goes as far on every path."""

SPAN: Final = 64


class BufferRange(msgspec.Struct, frozen=True):
    """From `lower_bytes` to `upper_bytes`, both inclusive; `reason` is a sentence for the user."""

    lower_bytes: int
    upper_bytes: int
    reason: str


def buffer_range(
    rtt_s: float, bandwidth_bps: float | None, granted_max_bytes: int | None
) -> BufferRange:
    """The buffer sizes to profile on a path of this RTT.

    `bandwidth_bps`: the rate nothing can pass, None when not known. `granted_max_bytes`: the most
    that both hosts grant, be it the kernels' maximum or a share of the memory; None when not known.

    The range lies within 1 byte and what is granted, and within 16 KiB and 2 GiB where that is
    granted at all; from 1 MiB granted up it spans at least a factor of 64.
    Raises ValueError when an argument is not above zero.
    """
    _check(rtt_s, bandwidth_bps, granted_max_bytes)
    granted = min(LARGEST_BYTES, granted_max_bytes or LARGEST_BYTES)
    if bandwidth_bps is None:
        lower, upper = SMALLEST_BYTES, LARGEST_BYTES
        why = "the bandwidth is not known, so that all usual sizes are tried"
    else:
        bdp_bytes = min(bandwidth_bps * rtt_s / 8, LARGEST_BYTES)
        lower = max(SMALLEST_BYTES, int(OMEGA_1 * bdp_bytes))
        upper = max(GENEROUS_BYTES, int(OMEGA_2 * bdp_bytes))
        why = (
            f"{format_rate(bandwidth_bps)} × {format_duration(rtt_s)} are "
            f"{format_bytes(bdp_bytes)} under way"
        )
    clipped = upper > granted
    upper = min(upper, granted)
    lower = max(min(lower, upper // SPAN), min(SMALLEST_BYTES, upper))
    if clipped and granted < LARGEST_BYTES:
        why += f", and the hosts grant {format_bytes(granted)} at most"
    reason = f"buffers of {format_bytes(lower)} to {format_bytes(upper)}: {why}"
    return BufferRange(lower, upper, reason)


def _check(rtt_s: float, bandwidth_bps: float | None, granted_max_bytes: int | None) -> None:
    for name, value in (
        ("rtt_s", rtt_s),
        ("bandwidth_bps", bandwidth_bps),
        ("granted_max_bytes", granted_max_bytes),
    ):
        if value is not None and not value > 0:
            raise ValueError(f"{name} is {value}: give more than zero")
