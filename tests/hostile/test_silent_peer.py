"""A peer that keeps its connection open and says nothing, or reads nothing."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.files import ANYWHERE
from advisor.agent.peer_errors import PeerGone
from advisor.agent.service import AgentService
from tests.hostile.peers import Streams, greeted, linked, listening, play, served

SILENCE_S = 0.6
LONG_S = 60.0
PROBE = m.OpenProbe(
    transport="tcp",
    setting={"streams": 1},
    source_address="127.0.0.1",
    token="a" * 32,
    ceiling_s=5,
    sample_every_s=0.1,
)


async def _falls_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await greeted(reader, writer)
    writer.write(m.as_line(m.TurnAwaited(ahead=1)))
    await asyncio.sleep(60)


async def _probed(link: AgentLink) -> list[m.Reply]:
    async with link.probe(PROBE) as replies:
        return [reply async for reply in replies]


@pytest.fixture(autouse=True)
def _own_turn(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody else on this machine has it."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))


@pytest.mark.asyncio
async def test_an_agent_that_is_silent_after_it_promised_a_turn_is_lost() -> None:
    async with asyncio.timeout(LONG_S), linked(_falls_silent, SILENCE_S) as link:
        with pytest.raises(PeerGone, match=r"silent for 0\.6 s"):
            await _probed(link)
        # And stays lost, whatever is asked.
        with pytest.raises(PeerGone):
            await link.close_echo()


@pytest.mark.asyncio
async def test_an_agent_that_reads_nothing_is_lost() -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greeted(reader, writer)
        writer.transport.pause_reading()  # type: ignore[attr-defined] # typeshed has a base class
        while True:
            writer.write(m.as_line(m.Alive()))
            await asyncio.sleep(SILENCE_S / 6)

    async with asyncio.timeout(LONG_S), linked(deaf, SILENCE_S) as link:
        with pytest.raises(PeerGone):
            await _send_on_and_on(link)


async def _send_on_and_on(link: AgentLink) -> None:
    while True:
        await link._send(m.MoveFiles(pairs=[("/" + "a" * 4000, "/b")] * 10))


@pytest.mark.asyncio
async def test_an_agent_that_sends_unasked_takes_no_memory() -> None:
    async def pours(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greeted(reader, writer)
        while True:
            writer.write(m.as_line(m.AtWork()) * 1000)
            await writer.drain()

    async with asyncio.timeout(LONG_S), linked(pours, SILENCE_S) as link:
        await asyncio.sleep(3 * SILENCE_S)
        assert link._replies.qsize() <= 64


@pytest.mark.asyncio
async def test_both_sides_of_an_idle_conversation_keep_it() -> None:
    service = AgentService(files=ANYWHERE, silence_s=SILENCE_S)
    async with asyncio.timeout(LONG_S), linked(service.serve, SILENCE_S) as link:
        await asyncio.sleep(4 * SILENCE_S)
        assert await link.round_trip() < LONG_S
    await service.close()


@pytest.mark.asyncio
@pytest.mark.usefixtures("own_turn")
async def test_an_advisor_that_falls_silent_loses_its_turn() -> None:
    service = AgentService(files=ANYWHERE, silence_s=SILENCE_S)
    async with asyncio.timeout(LONG_S), served(service) as (silent, conversation):
        silent[1].write(m.as_line(PROBE))
        await conversation

        async def nobody_is_ahead(_: int) -> None:
            pytest.fail("the turn is still held")

        async with service.turn.taken(nobody_is_ahead):
            pass
    await service.close()


@pytest.mark.asyncio
async def test_an_advisor_that_reads_nothing_holds_nobody_up() -> None:
    service = AgentService(files=ANYWHERE, silence_s=SILENCE_S)
    async with asyncio.timeout(LONG_S), served(service) as (deaf, conversation):
        asking = asyncio.create_task(_ask_on_and_on(deaf))
        await conversation
        asking.cancel()
        await asyncio.wait([asking])
    await service.close()


async def _ask_on_and_on(streams: Streams) -> None:
    reader, writer = streams
    reader._transport.pause_reading()  # type: ignore[attr-defined] # its own name for it
    while True:
        writer.write(m.as_line(m.KeepAlive()) + m.as_line(m.GetFacts(facing="127.0.0.1")))
        await writer.drain()
        await asyncio.sleep(0)


def test_a_budget_holds_against_an_agent_that_never_gives_the_turn(tmp_path: Path) -> None:
    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await play(reader, writer, ahead=1)

    home = {name: str(tmp_path) for name in ("HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")}
    with listening(never, tmp_path) as options:
        command = ["advise", "--json", "--measure", "--budget", "10", *options]
        began_s = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-P", "-m", "advisor", *command],
            env={"PATH": os.environ["PATH"], **home},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert time.monotonic() - began_s < 40  # It waited until it was interrupted.
    assert done.returncode == 3, done.stderr
    assert "waiting for its turn" in done.stderr
    assert "Traceback" not in done.stderr
