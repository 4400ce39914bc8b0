"""Compares the content of pieces at both ends: sizes and a tool's status say nothing about it."""

import asyncio
import contextlib
import functools
from collections.abc import Sequence
from pathlib import Path

import msgspec

from advisor.agent.client import AgentLink
from advisor.agent.target import RemoteTarget
from advisor.api.tool import Piece
from advisor.domain.proof import Algorithm
from advisor.hosts.checksums import Reading, in_thread, reason_of
from advisor.hosts.digests import digest_of


class ContentCheck(msgspec.Struct, frozen=True, kw_only=True):
    """What was read of a piece. `reason`: why that proves nothing, "" if both ends are equal.

    `digest`: in hexadecimal; `seal`: the agent's, for a receipt.
    """

    digest: str = ""
    seal: str = ""
    reason: str = ""


async def check_content(
    link: AgentLink,
    algorithm: Algorithm,
    pieces: Sequence[Piece],
    asking: contextlib.AbstractAsyncContextManager[object] | None = None,
) -> list[ContentCheck]:
    """Read pieces at both ends at the same time. The agent is asked inside `asking`.

    Raises PeerError.
    """
    reading = asyncio.create_task(read_here(algorithm, pieces))
    try:
        async with asking or contextlib.nullcontext():
            there = await RemoteTarget(link).digests(algorithm, ranges_of(pieces))
        here = await reading
    finally:
        reading.cancel()
    return [
        _judged(piece, mine, ContentCheck(digest=one.digest, seal=one.seal, reason=one.reason))
        for piece, mine, one in zip(pieces, here, there, strict=True)
    ]


async def read_here(algorithm: Algorithm, pieces: Sequence[Piece]) -> list[ContentCheck]:
    """The digests of the sources of these pieces, or why there is none."""
    return await in_thread(functools.partial(_read_all, algorithm, pieces), lambda _: None)


def ranges_of(pieces: Sequence[Piece]) -> list[tuple[str, int, int]]:
    """Path, offset and length in bytes at the destination."""
    return [(piece.target, piece.offset_bytes, piece.size_bytes) for piece in pieces]


def _read_all(
    algorithm: Algorithm, pieces: Sequence[Piece], reading: Reading
) -> list[ContentCheck]:
    return [_read(algorithm, piece, reading) for piece in reading.each(pieces)]


def _read(algorithm: Algorithm, piece: Piece, reading: Reading) -> ContentCheck:
    try:
        with Path(piece.source).open("rb", buffering=0) as file:
            offset, size = piece.offset_bytes, piece.size_bytes
            return ContentCheck(digest=digest_of(file, offset, size, algorithm, reading))
    except OSError as error:
        return ContentCheck(reason=f"{piece.source} cannot be read: {reason_of(error)}")


def _judged(piece: Piece, here: ContentCheck, there: ContentCheck) -> ContentCheck:
    if here.reason:
        return here
    if there.reason:
        return ContentCheck(
            reason=f"{piece.target} cannot be read at the destination: {there.reason}"
        )
    if here.digest != there.digest:
        return ContentCheck(reason=f"{piece.target} differs from its source after it was moved")
    return there
