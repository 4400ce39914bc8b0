"""What libiperf's sentences mean for a probe."""

import pytest

from advisor.domain.measurement import FailureKind
from plugins.transports.tcp_iperf3.libiperf import kind_of


@pytest.mark.parametrize(
    ("sentence", "kind"),
    [
        # As said by iperf3 3.12 when its server was killed, in 40 tries.
        ("unable to write to stream socket: Connection reset by peer", FailureKind.RESET),
        ("unable to write to stream socket: Broken pipe", FailureKind.RESET),
        ("unable to initialize stream: Transport endpoint is not connected", FailureKind.RESET),
        ("control socket has closed unexpectedly", FailureKind.PEER_GONE),
        ("unable to connect to server: Connection refused", FailureKind.REFUSED),
        ("unable to start stream listener: Address already in use", FailureKind.BUSY),
        ("unable to set/reset IPV6_V6ONLY: ", FailureKind.CRASHED),
    ],
)
def test_its_kind(sentence: str, kind: FailureKind) -> None:
    assert kind_of(sentence) is kind
