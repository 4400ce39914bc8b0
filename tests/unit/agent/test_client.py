"""The advisor's end, against agents that misbehave; a fake peer, since ours does not."""

import asyncio
import socket

import pytest

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError, PeerGone


async def talk(said: bytes, hang: bool = False) -> AgentLink:
    """Greet a peer that says this, and then ends or falls silent."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours, limit=m.MESSAGE_LIMIT_BYTES)
    theirs.sendall(said)
    if not hang:
        theirs.shutdown(socket.SHUT_WR)

    async def close() -> None:
        theirs.close()
        await writer.wait_closed()

    async def explain() -> PeerGone:
        return PeerGone("the connection ended")

    link = AgentLink(reader, writer, close, explain)
    try:
        await link.greet(timeout_s=0.3 if hang else 30)
    finally:
        await link.close()
    return link


def test_a_greeting() -> None:
    said = m.as_line(m.Welcome(protocol=m.PROTOCOL, version="3.2.1"))
    assert asyncio.run(talk(said)).version == "3.2.1"


def test_what_a_login_prints_is_passed_over() -> None:
    said = b"Last login: today\n{}\n" + m.as_line(m.Welcome(protocol=m.PROTOCOL, version="1"))
    assert asyncio.run(talk(said)).version == "1"


@pytest.mark.parametrize(("protocol", "age"), [(m.PROTOCOL + 1, "a newer"), (99, "a newer")])
def test_another_version_gets_one_clear_sentence(protocol: int, age: str) -> None:
    said = m.as_line(m.Welcome(protocol=protocol, version="9.9"))
    with pytest.raises(PeerError, match=f"9.9, which speaks {age} protocol.*install the same"):
        asyncio.run(talk(said))


def test_an_older_peer_is_called_older() -> None:
    assert "an older protocol" in m.mismatch(m.PROTOCOL - 1, "0.0.1")


def test_a_peer_that_leaves() -> None:
    with pytest.raises(PeerGone, match="the connection ended"):
        asyncio.run(talk(b""))


def test_a_silent_peer() -> None:
    with pytest.raises(PeerGone, match="did not answer"):
        asyncio.run(talk(b"", hang=True))


def test_a_peer_that_only_prints() -> None:
    with pytest.raises(PeerError, match="not an agent"):
        asyncio.run(talk(b"hello\n" * 300))


def test_a_line_without_end() -> None:
    with pytest.raises(PeerGone):
        asyncio.run(talk(b"x" * 100_000))
