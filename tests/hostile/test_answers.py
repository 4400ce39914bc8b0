"""An agent that answers for another number of files than it was asked about."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from advisor.agent import messages as m
from advisor.agent import target_messages as t
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError
from advisor.agent.target import RemoteTarget
from advisor.hosts.checksums import Checksum, Reading, checksum_of
from advisor.transfer.verifying import compare
from tests.hostile.peers import Serve, greeted, linked

FILES = 5
PATHS = [f"/there/{number}" for number in range(FILES)]


def _answering(count: int, checksum: Checksum) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greeted(reader, writer)
        while line := await reader.readline():
            reply: m.Reply
            match m.read_request(line):
                case m.GetSizes(paths=paths):
                    # Correct where a comparison needs it, so that it goes on to the contents.
                    known = len(paths) if paths != PATHS else count
                    reply = m.SizesFound(sizes=[1] * known)
                case m.GetChecksums():
                    reply = m.ChecksumsFound(checksums=[checksum] * count, seen_bytes=count)
                case m.MoveFiles():
                    reply = m.FilesMoved(reasons=[""] * count)
                case _:
                    reply = m.Alive()
            writer.write(m.as_line(reply))

    return serve


async def _sizes(link: AgentLink) -> object:
    return await link.sizes(PATHS)


async def _checksums(link: AgentLink) -> object:
    return await link.checksums(PATHS)


async def _moved(link: AgentLink) -> object:
    return await link.move([(path, f"{path}-moved") for path in PATHS])


@pytest.mark.asyncio
@pytest.mark.parametrize("count", [1, FILES - 1, FILES + 1])
@pytest.mark.parametrize("ask", [_sizes, _checksums, _moved])
async def test_it_is_out_of_step(ask: Callable[[AgentLink], Awaitable[object]], count: int) -> None:
    async with linked(_answering(count, Checksum(sha256="", reason="")), 30) as link:
        with pytest.raises(PeerError, match="unexpected answer"):
            await ask(link)


async def _claimed(link: AgentLink) -> object:
    wanted = t.ClaimTarget(target="/there", manifest="a" * 64, token="b" * 64, who="me")
    return await RemoteTarget(link).claim(wanted)


async def _looked(link: AgentLink) -> object:
    return await RemoteTarget(link).look(PATHS)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("ask", "answer"),
    [
        (_claimed, t.TargetSeen(found=[None])),
        (_claimed, t.TargetReleased()),
        (_looked, t.TargetClaimed(is_empty=True, is_resumed=False)),
        (_looked, t.TargetSeen(found=[None])),
    ],
)
async def test_it_answers_another_question(
    ask: Callable[[AgentLink], Awaitable[object]], answer: m.Reply
) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await greeted(reader, writer)
        while await reader.readline():
            writer.write(m.as_line(answer))

    async with linked(serve, 30) as link:
        with pytest.raises(PeerError, match="unexpected answer"):
            await ask(link)


@pytest.mark.asyncio
async def test_files_it_leaves_out_are_not_called_identical(tmp_path: Path) -> None:
    for number in range(FILES):
        (tmp_path / f"{number}").write_bytes(b"x")
    same = checksum_of(lambda: (tmp_path / "0").open("rb"), Reading())
    async with linked(_answering(1, same), 30) as link:
        with pytest.raises(PeerError, match="unexpected answer"):
            await compare(link, tmp_path, "/copy", lambda _: None)
