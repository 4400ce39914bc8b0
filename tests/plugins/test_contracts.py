"""The plugins that come with the program keep the contracts of their kinds."""

from advisor import registry
from advisor.api.transport import SpaceOptions
from advisor.testing.samples import a_host, a_path
from advisor.testing.tools import ToolContract, TransferToolContract
from advisor.testing.transports import TransportContract

TOOLS = {tool.name: tool for tool in registry.tools()}


class TestTcp(TransportContract):
    plugin = registry.transport("tcp")


class TestUdt(TransportContract):
    plugin = registry.transport("udt")


class TestGlobusUrlCopy(TransferToolContract):
    plugin = registry.transfer_tool("globus-url-copy")


class TestXdd(ToolContract):
    plugin = TOOLS["xdd"]


class TestRclone(ToolContract):
    plugin = TOOLS["rclone"]


class TestXrdcp(ToolContract):
    plugin = TOOLS["xrdcp"]


class TestBbcp(ToolContract):
    plugin = TOOLS["bbcp"]


class TestAria2c(ToolContract):
    plugin = TOOLS["aria2c"]


class TestGfalCopy(ToolContract):
    plugin = TOOLS["gfal-copy"]


class TestGlobus(ToolContract):
    plugin = TOOLS["globus"]


def test_tcp_asks_for_no_more_than_both_kernels_grant() -> None:
    """libiperf fails outright where a kernel would clamp."""
    path = a_path(
        bandwidth_bps=1e9,
        source=a_host(send_max_bytes=8 * 2**20),
        destination=a_host(receive_max_bytes=2 * 2**20),
    )
    tcp = registry.transport("tcp")
    space = tcp.space(path, tcp.variants(path, [])[0], SpaceOptions())
    assert next(p for p in space.parameters if p.name == "buffer_bytes").upper == 2 * 2**20


def test_a_range_does_not_collapse_on_a_lan() -> None:
    path = a_path(rtt_s=0.0001, bandwidth_bps=1e9)
    for transport in registry.transports():
        space = transport.space(path, transport.variants(path, [])[0], SpaceOptions())
        buffers = next(p for p in space.parameters if p.name == "buffer_bytes")
        assert buffers.upper >= 4 * 2**20
        assert space.note


def test_udt_packets_fill_the_path_mtu() -> None:
    udt = registry.transport("udt")
    for mtu_bytes, mss_bytes in ((1500, 1500), (9000, 9000), (65536, 65535)):
        path = a_path(mtu_bytes=mtu_bytes)
        fixed = udt.variants(path, [])[0]
        assert fixed == {"mss_bytes": mss_bytes}
        blocks = udt.space(path, fixed, SpaceOptions()).parameters[0]
        assert (blocks.lower, blocks.upper) == (mss_bytes - 44, 25 * (mss_bytes - 44))
        assert blocks.quantum == mss_bytes - 44


def test_udt_packets_fill_the_path_mtu_over_ipv6() -> None:
    """libudt's MSS counts the 20 bytes of an IPv4 header where IPv6 has 40."""
    udt = registry.transport("udt")
    path = a_path(mtu_bytes=1500, destination_address="2001:db8::2")
    assert udt.variants(path, []) == [{"mss_bytes": 1480}]


def test_an_over_sized_udt_buffer_is_not_searched_once_tcp_showed_the_rate() -> None:
    udt, path = registry.transport("udt"), a_path(bandwidth_bps=None)
    fixed = udt.variants(path, [])[0]
    blind = udt.space(path, fixed, SpaceOptions()).parameters[1].upper
    seen = udt.space(path, fixed, SpaceOptions(seen_bps=1e9)).parameters[1].upper
    assert seen < 32 * 2**20 < blind
