"""The packets that carried the data of a probe: what its retransmits are a fraction of."""

from typing import Final

import msgspec

from advisor.domain.measurement import Measurement

HEADER_BYTES: Final = 52
"""Of each packet: 40 bytes of IPv4 and TCP and 12 of the timestamps option."""

_ETHERNET_MTU: Final = 1500


def packets_of(measurement: Measurement, mtu_bytes: int | None) -> float:
    """About how many packets its data took, each once: as many as full ones hold them.

    Their size is the sender's own where that was seen, else follows from `mtu_bytes`, the path's
    MTU; where that is not known either, it is that of standard frames.
    """
    received = sum(interval.received_bytes for interval in measurement.intervals)
    return received / _payload_bytes(measurement, mtu_bytes)


def _payload_bytes(measurement: Measurement, mtu_bytes: int | None) -> int:
    if measurement.losses is not msgspec.UNSET:
        return measurement.losses.segment_bytes
    return max(mtu_bytes or _ETHERNET_MTU, 2 * HEADER_BYTES) - HEADER_BYTES
