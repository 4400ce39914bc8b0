"""Checks the sizes of files at the destination: a tool's status of 0 says nothing about them."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

from advisor.api.tool import Piece

_STILL_WRITING_S: Final = (0.2, 1.0, 2.0)

AskSizes: TypeAlias = Callable[[Sequence[str]], Awaitable[list[int | None]]]
"""Asks for the sizes of files at the destination, None where there is no file."""


async def written_sizes(ask: AskSizes, pieces: Sequence[Piece]) -> list[int | None]:
    """The sizes at the destination of the files of these pieces.

    The server may still be writing when the tool has ended: short files are looked at again for a
    few seconds. Raises PeerError.
    """
    sizes = await ask([piece.target for piece in pieces])
    for wait_s in _STILL_WRITING_S:
        short = [i for i, piece in enumerate(pieces) if is_short(piece, sizes[i])]
        if not short:
            break
        await asyncio.sleep(wait_s)
        for i, size in zip(short, await ask([pieces[i].target for i in short]), strict=True):
            sizes[i] = size
    return sizes


def is_short(piece: Piece, size: int | None) -> bool:
    """Whether a file of this size, None if there is none, cannot contain the piece."""
    return size is None or size < piece.offset_bytes + piece.size_bytes


def shortage(piece: Piece, size: int | None) -> str:
    """What is wrong with a piece that is short, in a sentence."""
    found = "is missing there" if size is None else f"has {size} bytes there"
    wanted = piece.offset_bytes + piece.size_bytes
    return f"{piece.source} {found} instead of {wanted}, though the tool reported success"
