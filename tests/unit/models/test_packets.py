"""Retransmits as a fraction of the packets, whose size depends on the path."""

import msgspec
import pytest

from advisor.domain.measurement import Interval, Measurement
from advisor.models.ceiling import ceiling_of, seen_ceiling
from advisor.models.limits import measured_limits
from advisor.models.packets import packets_of
from advisor.testing.samples import a_host, a_path
from tests.unit.models.lossy_probe import SEGMENT_BYTES, lossy_probe

JUMBO_BYTES = 8948
PLAIN = a_host(link_bps=None)


def _lossy(share: float, segment_bytes: int, *, told: bool = False) -> Measurement:
    """5 Gbit/s for 3 s, of whose packets this fraction was sent again.

    `told`: whether the sender said how large they are, as a transport does and a tool does not.
    """
    bps = 5e9
    packets = bps * 3 / 8 / segment_bytes
    one = msgspec.structs.replace(lossy_probe(bps), retransmits=round(share * packets))
    assert not isinstance(one.losses, msgspec.UnsetType)
    losses = msgspec.structs.replace(one.losses, segment_bytes=segment_bytes)
    return msgspec.structs.replace(one, losses=losses if told else msgspec.UNSET)


@pytest.mark.parametrize(
    ("segment_bytes", "told", "mtu_bytes"),
    [(8948, False, 9000), (8948, True, 1500), (1448, False, 1500), (1448, False, None)],
)
def test_the_loss_is_a_fraction_of_the_packets_as_large_as_they_are(
    segment_bytes: int, told: bool, mtu_bytes: int | None
) -> None:
    lossy = _lossy(2e-4, segment_bytes, told=told)
    [limit] = measured_limits(lossy, None, mtu_bytes)
    assert "about 0.02% of all" in limit.what
    few = _lossy(0.5e-4, segment_bytes, told=told)
    assert measured_limits(few, None, mtu_bytes) == []


def test_a_queue_is_overfilled_by_a_fraction_of_the_packets() -> None:
    """Then the highest rate is what the path carries, and the long run's error does not count."""

    def bound_bps(lossy: Measurement, mtu_bytes: int) -> float:
        unsure = msgspec.structs.replace(lossy, stderr_bps=5e8)
        path = a_path(mtu_bytes=mtu_bytes, bandwidth_bps=None, source=PLAIN, destination=PLAIN)
        found, same = (
            ceiling_of(path, [unsure], 0.02),
            seen_ceiling([unsure], path.rtt_s, 0.02, mtu_bytes=mtu_bytes),
        )
        assert found is not None
        assert found == same
        return found.bps

    lossless = bound_bps(_lossy(0.0, JUMBO_BYTES), 9000)
    for mtu_bytes in (1500, 9000):
        assert bound_bps(_lossy(0.02, mtu_bytes - 52), mtu_bytes) < lossless
        assert bound_bps(_lossy(0.005, mtu_bytes - 52), mtu_bytes) == lossless


def test_a_probe_without_data_has_no_packets() -> None:
    nothing = msgspec.structs.replace(lossy_probe(1e9), intervals=[Interval(0.0, 1.0, 0)])
    for mtu_bytes in (None, 0, 52, 1500):
        assert packets_of(nothing, mtu_bytes) == 0
        assert packets_of(msgspec.structs.replace(nothing, losses=msgspec.UNSET), mtu_bytes) == 0
    assert SEGMENT_BYTES * packets_of(lossy_probe(8e6), 9000) == pytest.approx(3e6)
