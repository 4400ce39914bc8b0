"""The RTT without ICMP, with real agents: in this process, and over a TCP connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import icmplib
import msgspec
import pytest

from advisor.agent.client import AgentLink
from advisor.agent.connect import Reached, reach_embedded
from advisor.agent.files import ANYWHERE
from advisor.agent.peer_errors import PeerGone
from advisor.agent.service import AgentService
from advisor.domain.endpoints import Endpoint
from advisor.hosts.kernel_path_mtu import kernel_path_mtu
from advisor.hosts.rtt import FLOOR_S
from advisor.runtime.connect import look_at_path
from advisor.runtime.request import AdviceRequest
from advisor.runtime.round_trip import CONNECTION, GIVEN, MESSAGES, measured_rtt, rtt_again_s
from advisor.testing.samples import a_path


@pytest.fixture(autouse=True)
def without_icmp(monkeypatch: pytest.MonkeyPatch) -> None:
    async def forbidden(*_: Any, privileged: bool, **__: Any) -> None:
        raise icmplib.SocketPermissionError(privileged)

    monkeypatch.setattr(icmplib, "async_ping", forbidden)
    monkeypatch.setattr("advisor.runtime.round_trip._TIMEOUT_S", 0.2)


@contextlib.asynccontextmanager
async def over_tcp() -> AsyncIterator[Reached]:
    service = AgentService(files=ANYWHERE)
    served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await service.serve(reader, writer)
        served.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)

        async def close() -> None:
            await writer.wait_closed()

        async def explain() -> PeerGone:
            return PeerGone("the agent ended")

        link = AgentLink(reader, writer, close, explain)
        await link.greet(5)
        try:
            yield Reached(link, "127.0.0.1", ())
        finally:
            await link.close()
            await served.wait()
            await service.close()


@contextlib.asynccontextmanager
async def embedded(ports: tuple[int, ...]) -> AsyncIterator[Reached]:
    reached = await reach_embedded()
    try:
        yield msgspec.structs.replace(reached, answering_ports=ports)
    finally:
        await reached.link.close()


@pytest.mark.asyncio
async def test_on_this_host_a_refused_handshake_is_enough() -> None:
    reached = await reach_embedded()
    try:
        found = await measured_rtt(reached, reached.address)
    finally:
        await reached.link.close()
    assert found.method == "tcp handshake"


@pytest.mark.asyncio
async def test_messages_where_nothing_else_answers() -> None:
    async with embedded(()) as reached:
        found = await measured_rtt(reached, reached.address)
    assert found.method == MESSAGES
    assert FLOOR_S <= found.rtt_s == min(found.samples)


@pytest.mark.asyncio
async def test_the_kernels_figure_of_a_tcp_connection() -> None:
    async with over_tcp() as reached:
        found = await measured_rtt(reached, reached.address)
    assert found.method == CONNECTION
    assert FLOOR_S <= found.rtt_s <= min(found.samples)


@pytest.mark.asyncio
@pytest.mark.parametrize("method", [CONNECTION, MESSAGES])
async def test_later_round_trips_are_measured_in_the_same_way(method: str) -> None:
    path = a_path(rtt_method=method)
    async with embedded(()) as reached:
        rtt_s = await rtt_again_s(reached, path)
    assert rtt_s is not None
    assert rtt_s >= FLOOR_S


@pytest.mark.asyncio
async def test_a_given_round_trip_time_is_measured_again_by_a_handshake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A handshake on this host needs no time, but a busy host may not run it for a second.
    monkeypatch.setattr("advisor.runtime.round_trip._AGAIN_TIMEOUT_S", 60.0)
    path = a_path(rtt_method=GIVEN, destination_address="127.0.0.1")
    async with embedded((1,)) as reached:
        rtt_s = await rtt_again_s(reached, path)
    assert rtt_s is not None
    assert FLOOR_S <= rtt_s != path.rtt_s


@pytest.mark.asyncio
async def test_a_given_round_trip_time_is_not_measured_again_through_the_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("advisor.runtime.round_trip._AGAIN_TIMEOUT_S", 0.2)
    path = a_path(rtt_method=GIVEN, destination_address="192.0.2.1")
    async with embedded(()) as reached:
        assert await rtt_again_s(reached, path) is None


@pytest.mark.asyncio
async def test_an_agent_that_is_gone_is_one_lost_round_trip() -> None:
    path = a_path(rtt_method=MESSAGES)
    async with embedded(()) as reached:
        await reached.link.close()
        assert await rtt_again_s(reached, path) is None


@pytest.mark.asyncio
async def test_a_path_is_found_though_no_echo_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr("advisor.agent.service.UdpEcho.open", refused)
    async with embedded(()) as reached:
        path = await look_at_path(reached, AdviceRequest(destination=Endpoint("localhost")))
    assert (path.rtt_method, path.mtu_method) == (MESSAGES, "kernel")
    assert path.mtu_bytes == kernel_path_mtu("127.0.0.1")
