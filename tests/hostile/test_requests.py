"""An advisor that asks an agent for what it must not get, or at the wrong time."""

import asyncio
import socket

import msgspec
import pytest

from advisor.agent import messages as m
from advisor.agent.service import AgentService
from advisor.api.transport import ReceiveOrder
from advisor.hosts.path_mtu import UdpEcho
from advisor.probing.end import ProbeEnd

PEER = "192.0.2.9"
HELLO = m.Hello(protocol=m.PROTOCOL, version="1")
PROBE = m.OpenProbe(
    transport="tcp",
    setting={"streams": 1, "buffer_bytes": 0},
    source_address="127.0.0.1",
    token="a" * 32,
    ceiling_s=30,
    sample_every_s=0.1,
)
ECHO = m.OpenEcho(source_address="127.0.0.1", token="a" * 32)


def answers(
    *requests: m.Request, count: int | None = None, peer: str | None = PEER
) -> list[m.Reply]:
    """So many replies after the greeting, None for all until the agent ends the conversation."""

    async def run() -> list[m.Reply]:
        service = AgentService()
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        streams = await asyncio.open_connection(sock=theirs)
        serving = asyncio.create_task(service.serve(*streams, peer))
        await reader.readline()
        for one in requests:
            writer.write(m.as_line(one))
        heard: list[m.Reply] = []
        async with asyncio.timeout(30):
            while len(heard) != count and (line := await reader.readline()):
                reply = m.read_reply(line)
                if not isinstance(reply, m.Alive):
                    heard.append(reply)
        writer.close()
        await serving
        await service.close()
        return heard

    return asyncio.run(run())


ADDRESSES = [
    (PEER, False, PEER),
    (PEER, True, "127.0.0.1"),
    (None, False, "127.0.0.1"),
]


@pytest.mark.parametrize(("peer", "chose", "address"), ADDRESSES)
def test_an_echo_is_for_the_address_of_the_connection(
    monkeypatch: pytest.MonkeyPatch, peer: str | None, chose: bool, address: str
) -> None:
    """Unless the user chose another one."""
    heard: list[str] = []

    async def opened(_: str, source_address: str, __: tuple[int, int]) -> None:
        heard.append(source_address)
        raise OSError(98, "Address already in use")

    monkeypatch.setattr(UdpEcho, "open", opened)
    request = msgspec.structs.replace(ECHO, chose_source=chose)
    [reply] = answers(HELLO, request, count=1, peer=peer)
    assert isinstance(reply, m.Refused)
    assert heard == [address]


@pytest.mark.usefixtures("own_turn")
@pytest.mark.parametrize(("peer", "chose", "address"), ADDRESSES)
def test_a_probe_is_for_the_address_of_the_connection(
    monkeypatch: pytest.MonkeyPatch, peer: str | None, chose: bool, address: str
) -> None:
    heard: list[str] = []

    async def give(_: ProbeEnd, __: str, order: ReceiveOrder) -> None:
        heard.append(order.source_address)
        raise ConnectionResetError

    monkeypatch.setattr(ProbeEnd, "give", give)
    request = msgspec.structs.replace(PROBE, chose_source=chose)
    [reply] = answers(HELLO, request, count=1, peer=peer)
    assert isinstance(reply, m.ProbeEnded)
    assert heard == [address]


@pytest.mark.usefixtures("own_turn")
@pytest.mark.parametrize("second", [PROBE, m.OpenProbes(probes=[PROBE])])
def test_a_second_probe_is_refused_while_one_runs(second: m.Request) -> None:
    replies = answers(HELLO, PROBE, second, count=2, peer="127.0.0.1")
    [refused] = [one for one in replies if isinstance(one, m.Refused)]
    assert "still running" in refused.message
    assert any(isinstance(one, m.ProbeReady) for one in replies)


@pytest.mark.parametrize("protocol", [m.PROTOCOL - 1, m.PROTOCOL + 1])
def test_another_protocol_gets_one_sentence(protocol: int) -> None:
    hello = m.Hello(protocol=protocol, version="9")
    assert answers(hello, m.CloseEcho()) == [m.Refused(message=m.mismatch(protocol, "9"))]


@pytest.mark.parametrize(
    ("requests", "heard"),
    [
        ([m.CloseEcho(), m.CloseEcho()], []),
        ([HELLO, HELLO, m.CloseEcho()], []),
        ([HELLO, m.CloseEcho(), HELLO, m.CloseEcho()], [m.EchoClosed()]),
    ],
)
def test_a_conversation_has_one_greeting(requests: list[m.Request], heard: list[m.Reply]) -> None:
    assert answers(*requests) == heard
