import asyncio
import contextlib
import secrets
import socket
from collections.abc import AsyncIterator
from typing import Any

import pytest

from advisor.hosts import path_mtu
from advisor.hosts.kernel_path_mtu import kernel_path_mtu
from advisor.hosts.path_mtu import (
    UdpBlocked,
    UdpEcho,
    UdpPath,
    probe_path_mtu,
    probe_udp_path,
)

TOKEN = secrets.token_hex(16)
QUIET_S = 0.2
WITHIN_S = 30.0  # Only so that nothing hangs.
BOTH_FAMILIES = [("10.71.1.2", "10.71.1.1"), ("fd00:1::2", "fd00:1::1")]


@contextlib.asynccontextmanager
async def echo(source: str, ports: tuple[int, int] = (0, 0)) -> AsyncIterator[UdpEcho]:
    opened = await UdpEcho.open(TOKEN, source, ports)
    try:
        yield opened
    finally:
        opened.close()
        await asyncio.sleep(0)  # asyncio closes the socket in its next turn.


async def answer(
    port: int, data: bytes, source: str = "127.0.0.1", within_s: float = QUIET_S
) -> bytes | None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setblocking(False)
        sock.bind((source, 0))
        sock.sendto(data, ("127.0.0.1", port))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                return await asyncio.get_running_loop().sock_recv(sock, 2048)
        return None


def test_the_echo_names_the_size_it_got() -> None:
    async def check() -> None:
        async with echo("127.0.0.1") as opened:
            head = TOKEN.encode() + b"\0\0\0\x07\0\0"
            expected = TOKEN.encode() + b"\0\0\0\x07\x04\xd2"
            assert await answer(opened.port, head.ljust(1234, b"\0"), within_s=WITHIN_S) == expected

    asyncio.run(check())


def test_the_echo_answers_nobody_else() -> None:
    async def check() -> None:
        async with echo("127.0.0.1") as opened:
            good = TOKEN.encode() + bytes(6)
            assert await answer(opened.port, good, "127.0.0.2") is None
            assert await answer(opened.port, secrets.token_hex(16).encode() + bytes(6)) is None
            assert await answer(opened.port, TOKEN.encode()) is None
            assert await answer(opened.port, b"") is None
            assert await answer(opened.port, good, within_s=WITHIN_S) is not None

    asyncio.run(check())


def test_the_echo_answers_so_often_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_mtu, "ECHO_ANSWERS", 2)

    async def check() -> None:
        async with echo("127.0.0.1") as opened:
            good = TOKEN.encode() + bytes(6)
            assert await answer(opened.port, good, within_s=WITHIN_S)
            assert await answer(opened.port, good, within_s=WITHIN_S)
            assert await answer(opened.port, good) is None

    asyncio.run(check())


def test_the_echo_closes_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_mtu, "ECHO_LIFETIME_S", 0.0)

    async def check() -> None:
        async with echo("127.0.0.1") as opened:
            await asyncio.sleep(0.05)
            assert await answer(opened.port, TOKEN.encode() + bytes(6)) is None

    asyncio.run(check())


def test_the_echo_keeps_to_its_ports() -> None:
    async def check() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
            taken.bind(("", 0))
            port = taken.getsockname()[1]
            with pytest.raises(OSError, match="in use"):
                await UdpEcho.open(TOKEN, "127.0.0.1", (port, port))
            async with echo("127.0.0.1", (port, min(port + 5, 65535))) as opened:
                assert port < opened.port <= port + 5

    asyncio.run(check())


def test_the_echo_needs_an_address() -> None:
    with pytest.raises(ValueError, match="example"):
        asyncio.run(UdpEcho.open(TOKEN, "host.example", (0, 0)))


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_loopback_takes_the_largest_packet(address: str) -> None:
    async def check() -> None:
        async with echo(address) as opened:
            found = await probe_udp_path(address, opened.port, TOKEN, kernel_path_mtu(address))
        assert found.mtu_bytes == 65535
        assert 0 < found.rtt_s < 1

    asyncio.run(check())


def test_lost_datagrams_are_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    answering, seen = UdpEcho.datagram_received, set()

    def forgetful(self: UdpEcho, data: bytes, addr: tuple[Any, int]) -> None:
        if len(data) in seen:  # Of every size the first is lost.
            answering(self, data, addr)
        seen.add(len(data))

    monkeypatch.setattr(UdpEcho, "datagram_received", forgetful)

    async def check() -> None:
        async with echo("127.0.0.1") as opened:
            assert await probe_path_mtu("127.0.0.1", opened.port, TOKEN, 9000) == 9000

    asyncio.run(check())


def test_no_echo_is_blocked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path_mtu, "_GREETING_WAIT_S", 0.02)

    async def check() -> None:
        async with echo("127.0.0.1") as opened:
            port = opened.port
        with pytest.raises(UdpBlocked, match=str(port)):
            await probe_path_mtu("127.0.0.1", port, TOKEN, 1500)

    asyncio.run(check())


def test_the_kernel_s_own_figure() -> None:
    assert kernel_path_mtu("127.0.0.1") >= 65535
    assert kernel_path_mtu("::1") >= 65535


@pytest.mark.parametrize(("lower", "upper"), [(100, 101), (100, 102), (1500, 4470), (70, 1280)])
def test_sizes_between(lower: int, upper: int) -> None:
    sizes = path_mtu._between(lower, upper)
    assert sizes == sorted(set(sizes))
    assert all(lower < size < upper for size in sizes)
    assert bool(sizes) == (upper - lower > 1)


async def probed(network: Any, address: str, source: str, start: int) -> UdpPath:
    with network.inside("far"):
        opened = await UdpEcho.open(TOKEN, source, (0, 0))
    try:
        with network.inside("near"):
            return await probe_udp_path(address, opened.port, TOKEN, start)
    finally:
        opened.close()
        await asyncio.sleep(0)


@pytest.mark.namespaces
@pytest.mark.parametrize(
    ("address", "source"), [("10.71.1.2", "10.71.1.1"), ("fd00:1::2", "fd00:1::1")]
)
@pytest.mark.parametrize("mtu", [1500, 9000, 1345])
def test_a_path_as_wide_as_the_interface(network: Any, address: str, source: str, mtu: int) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (mtu, mtu))
    found = asyncio.run(probed(network, address, source, mtu))
    assert found.mtu_bytes == mtu
    with network.inside("near"):
        assert kernel_path_mtu(address) == mtu


@pytest.mark.namespaces
@pytest.mark.parametrize(
    ("address", "source"), [("10.71.1.2", "10.71.1.1"), ("fd00:1::2", "fd00:1::1")]
)
def test_a_black_hole_for_jumbo_frames(network: Any, address: str, source: str) -> None:
    # A veth drops, without a word, what its other end does not take.
    network.add("far")
    network.join("near", "far", "10.71.1", (9000, 4000))
    with network.inside("near"):
        assert kernel_path_mtu(address) == 9000
    found = asyncio.run(probed(network, address, source, 9000))
    assert 4000 <= found.mtu_bytes <= 4004  # It lets a VLAN tag's length pass.


@pytest.mark.namespaces
def test_a_start_beyond_the_interface(network: Any) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (1400, 1400))
    assert asyncio.run(probed(network, "10.71.1.2", "10.71.1.1", 9000)).mtu_bytes == 1400


@pytest.mark.namespaces
def test_a_router_with_a_narrow_side(network: Any) -> None:
    network.add("middle")
    network.add("far")
    network.join("near", "middle", "10.71.1", (9000, 9000))
    network.join("middle", "far", "10.71.2", (1420, 1420))
    network.sysctl("middle", "net.ipv4.ip_forward", "1")
    network.ip("near", *["route", "add", "10.71.2.0/24", "via", "10.71.1.2"])
    network.ip("far", *["route", "add", "10.71.1.0/24", "via", "10.71.2.1"])
    found = asyncio.run(probed(network, "10.71.2.2", "10.71.1.1", 9000))
    assert found.mtu_bytes == 1420
    with network.inside("near"):
        assert kernel_path_mtu("10.71.2.2") == 1420  # The router has reported it by now.
