"""Connections in lines of text."""

from advisor.domain.connection import Connection, UsableConnection
from advisor.domain.events import ConnectionsFound, MeasuredAtOnce
from advisor.report.lines import line_of

KNOWN = UsableConnection(
    connection=Connection(
        source_address="10.0.0.1",
        destination_address="10.0.0.2",
        source_interface="eth1",
        destination_interface="ens4",
        link_bps=25e9,
    ),
    mtu_bytes=9000,
    rtt_s=0.0456,
)
BEHIND_NAT = UsableConnection(
    connection=Connection(
        source_address="10.0.0.1", destination_address="203.0.113.9", source_interface="eth1"
    ),
    mtu_bytes=1500,
    rtt_s=0.1,
    caution="no echo by UDP",
)


def test_a_line_for_each_connection_and_each_note() -> None:
    event = ConnectionsFound(at_s=0, connections=[KNOWN, BEHIND_NAT], notes=["Not listed: 2."])
    assert line_of(event) == (
        "connection: eth1 10.0.0.1 -> ens4 10.0.0.2: 25 Gbit/s link, MTU 9000, RTT 45.6 ms\n"
        "connection: eth1 10.0.0.1 -> 203.0.113.9: link speed unknown, MTU 1500, RTT 100 ms "
        "(no echo by UDP)\n"
        "connection: Not listed: 2."
    )


def test_none_found_is_said() -> None:
    line = line_of(ConnectionsFound(at_s=0, connections=[]))
    assert line == "connection: none was found between two interfaces"


def test_all_at_once_has_its_sum() -> None:
    event = MeasuredAtOnce(at_s=0, round=1, throughputs_bps=[190e6, 95e6], remaining_s=9)
    assert "190 Mbit/s + 95 Mbit/s = 285 Mbit/s" in " ".join((line_of(event) or "").split())
