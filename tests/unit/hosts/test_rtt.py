import asyncio
import socket
from typing import Any

import icmplib
import pytest

from advisor.hosts import rtt
from advisor.hosts.rtt import FLOOR_S, RttResult, Unreachable, measure_rtt


def measured(address: str, ports: list[int], timeout_s: float = 20.0) -> RttResult:
    return asyncio.run(measure_rtt(address, ports, 3, timeout_s))


@pytest.fixture
def without_icmp(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forbidden(*_: Any, privileged: bool, **__: Any) -> None:
        raise icmplib.SocketPermissionError(privileged)

    monkeypatch.setattr(icmplib, "async_ping", forbidden)


@pytest.mark.usefixtures("without_icmp")
def test_handshakes_with_a_port_that_accepts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        result = measured("127.0.0.1", [server.getsockname()[1]])
    assert result.method == "tcp handshake"
    assert len(result.samples) == 3
    assert FLOOR_S <= result.rtt_s == result.minimum_s == min(result.samples) < 1


@pytest.mark.usefixtures("without_icmp")
def test_a_refused_connection_is_a_round_trip_too() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    result = measured("127.0.0.1", [port])
    assert result.method == "tcp handshake"
    assert result.rtt_s > 0


@pytest.mark.usefixtures("without_icmp")
def test_ipv6() -> None:
    assert measured("::1", [9]).rtt_s > 0


@pytest.mark.usefixtures("without_icmp")
def test_neither_icmp_nor_a_port_to_try() -> None:
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1"):
        measured("127.0.0.1", [])


def test_icmp_is_preferred(monkeypatch: pytest.MonkeyPatch) -> None:
    async def answered(address: str, **_: Any) -> icmplib.Host:
        return icmplib.Host(address, 1, [12.5])

    monkeypatch.setattr(icmplib, "async_ping", answered)
    result = measured("127.0.0.1", [])
    assert result == RttResult(rtt_s=0.0125, minimum_s=0.0125, samples=[0.0125] * 3, method="icmp")


@pytest.mark.parametrize("rtt_ms", [0.0, -0.5])
def test_a_clock_that_stands_or_goes_back(monkeypatch: pytest.MonkeyPatch, rtt_ms: float) -> None:
    async def answered(address: str, **_: Any) -> icmplib.Host:
        return icmplib.Host(address, 1, [rtt_ms])

    monkeypatch.setattr(icmplib, "async_ping", answered)
    assert measured("127.0.0.1", [9]).rtt_s >= FLOOR_S


def test_no_connection_is_opened_while_echoes_come(monkeypatch: pytest.MonkeyPatch) -> None:
    async def slow(address: str, **_: Any) -> icmplib.Host:
        await asyncio.sleep(0.05)
        return icmplib.Host(address, 1, [50.0])

    # On a busy machine the answer must not come after it.
    monkeypatch.setattr(rtt, "_HEAD_START_S", 10.0)
    monkeypatch.setattr(icmplib, "async_ping", slow)
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert measured("127.0.0.1", [server.getsockname()[1]]).method == "icmp"
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_an_echo_may_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([[], [20.0], [30.0]])

    async def lossy(address: str, **_: Any) -> icmplib.Host:
        return icmplib.Host(address, 1, next(answers))

    monkeypatch.setattr(icmplib, "async_ping", lossy)
    assert measured("127.0.0.1", []).samples == [0.02, 0.03]


def test_the_numbers_must_make_sense() -> None:
    with pytest.raises(ValueError, match="at least one"):
        asyncio.run(measure_rtt("127.0.0.1", [], 0, 1))


@pytest.mark.namespaces
@pytest.mark.parametrize("address", ["10.71.1.2", "fd00:1::2"])
def test_icmp_between_two_hosts(network: Any, address: str) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (1500, 1500))
    network.sysctl("near", "net.ipv4.ping_group_range", "0 0")
    with network.inside("near"):
        result = measured(address, [])
    assert result.method == "icmp"
    assert len(result.samples) == 3


@pytest.mark.namespaces
def test_icmp_with_privileges_only(network: Any) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (1500, 1500))
    # A new namespace has the kernel's ping_group_range, "1 0": nobody may without privileges.
    with network.inside("near"):
        assert measured("10.71.1.2", []).method == "icmp"


@pytest.mark.namespaces
def test_a_host_that_ignores_icmp_refuses_a_port(network: Any) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (1500, 1500))
    network.sysctl("far", "net.ipv4.icmp_echo_ignore_all", "1")
    with network.inside("near"):
        assert measured("10.71.1.2", [9], 1.0).method == "tcp handshake"


@pytest.mark.namespaces
def test_a_black_hole_ends_in_time(network: Any) -> None:
    network.add("far")
    network.join("near", "far", "10.71.1", (1500, 1500))
    network.ip("near", "route", "add", "198.51.100.0/24", "via", "10.71.1.2")
    network.ip("far", "route", "add", "blackhole", "198.51.100.0/24")

    async def bounded() -> None:
        async with asyncio.timeout(30):
            await measure_rtt("198.51.100.1", [22, 443], 3, 0.8)

    with network.inside("near"), pytest.raises(Unreachable, match=r"22, 443 within 0\.8 s"):
        asyncio.run(bounded())


@pytest.mark.namespaces
def test_no_route_is_unreachable(network: Any) -> None:
    with network.inside("near"), pytest.raises(Unreachable):
        measured("198.51.100.1", [22], 0.5)
