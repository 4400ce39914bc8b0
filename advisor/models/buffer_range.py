"""The range of buffer sizes worth profiling on a path (ProbData 2017, section IV.D.3, equation 11).

Equation 11 restricts the range to [ω1·BDP, ω2·BDP], with the bandwidth-delay product of the rate
the user has reserved. On its own that range collapses: on a LAN the BDP is a few kilobytes, and
with a kernel that grants less than ω1·BDP the range is empty. So here the range always spans a
factor of 64 within what the kernels allow, and its upper end is never below 4 MiB.
"""

from typing import Final

import msgspec

from advisor.domain.quantities import format_bytes, format_duration, format_rate

SMALLEST_BYTES: Final = 16 * 1024
LARGEST_BYTES: Final = 2**31 - 1
"""The paper's 16 KB and 2 GB: the latter is the largest value of the socket option's integer."""

OMEGA_1: Final = 1 / 32
"""One of many streams needs only its share of the BDP; the paper uses up to 25 streams."""

OMEGA_2: Final = 4
"""A factor of two for the part of a buffer that the kernel itself uses, and two for data in flight
while a loss is repaired."""

GENEROUS_BYTES: Final = 4 * 2**20
"""Lower bound of the upper end, where granted. On short paths the hosts' delays fill a buffer, not
the RTT: 4 MiB is 3 ms of 10 Gbit/s, a delay that a busy receiver may see before it gets a core. The
kernel's own autotuning reaches this size on every path."""

SPAN: Final = 64

_USEFUL_SHARE: Final = 1 / 4
_AUTOTUNED_DATA_SHARE: Final = 1 / 2


class BufferRange(msgspec.Struct, frozen=True):
    """From `lower_bytes` to `upper_bytes`, both inclusive; `reason` is a sentence for the user."""

    lower_bytes: int
    upper_bytes: int
    reason: str


def buffer_range(
    rtt_s: float, bandwidth_bps: float | None, granted_max_bytes: int | None
) -> BufferRange:
    """The buffer sizes to profile on a path of this RTT.

    `bandwidth_bps`: upper bound of the rate, None when not known. `granted_max_bytes`: the maximum
    that both hosts grant, from the kernels' limits or a share of the memory; None when not known.

    The range lies between 1 byte and the granted maximum, and between 16 KiB and 2 GiB where that
    is granted; with 1 MiB or more granted it spans at least a factor of 64.
    Raises ValueError when an argument is not above zero.
    """
    _check(rtt_s, bandwidth_bps, granted_max_bytes)
    granted = min(LARGEST_BYTES, granted_max_bytes or LARGEST_BYTES)
    if bandwidth_bps is None:
        lower, upper = SMALLEST_BYTES, LARGEST_BYTES
        why = "the bandwidth is not known, so all usual sizes are tried"
    else:
        bdp_bytes = min(bandwidth_bps * rtt_s / 8, LARGEST_BYTES)
        lower = max(SMALLEST_BYTES, int(OMEGA_1 * bdp_bytes))
        upper = max(GENEROUS_BYTES, int(OMEGA_2 * bdp_bytes))
        why = (
            f"{format_rate(bandwidth_bps)} × {format_duration(rtt_s)} is "
            f"{format_bytes(bdp_bytes)} in flight"
        )
    clipped = upper > granted
    upper = min(upper, granted)
    lower = max(min(lower, upper // SPAN), min(SMALLEST_BYTES, upper))
    if clipped and granted < LARGEST_BYTES:
        why += f", and the hosts grant at most {format_bytes(granted)}"
    reason = f"buffers of {format_bytes(lower)} to {format_bytes(upper)}: {why}"
    return BufferRange(lower, upper, reason)


def autotuning_alone(
    rtt_s: float, bandwidth_bps: float | None, granted_max_bytes: int | None, autotuned: int | None
) -> bool:
    """Whether a buffer that a program asks for cannot win against the kernel's autotuning.

    `autotuned`: the maxima of net.ipv4.tcp_wmem and tcp_rmem, the smaller one; None if not known.
    It cannot where the largest that both hosts grant carries less than a quarter of the bandwidth
    and autotuning holds at least twice as much. About half of an autotuned buffer holds data; of a
    requested one, the kernel allocates twice what was asked.
    """
    if not (bandwidth_bps and granted_max_bytes and autotuned):
        return False
    is_short = granted_max_bytes * 8 / rtt_s < _USEFUL_SHARE * bandwidth_bps
    return is_short and autotuned * _AUTOTUNED_DATA_SHARE >= 2 * granted_max_bytes


def _check(rtt_s: float, bandwidth_bps: float | None, granted_max_bytes: int | None) -> None:
    for name, value in (
        ("rtt_s", rtt_s),
        ("bandwidth_bps", bandwidth_bps),
        ("granted_max_bytes", granted_max_bytes),
    ):
        if value is not None and not value > 0:
            raise ValueError(f"{name} is {value}: it must be above zero")
