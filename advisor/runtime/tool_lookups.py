"""Looks up on the source what a tool's lines depend on."""

import asyncio
from typing import Final

from advisor.api.tool import LookingTool, Place, TransferTool
from advisor.hosts.processes import output_of
from advisor.runtime.request import ConnectionOptions

_LONGEST_S: Final = 20.0
_MOST_CHARACTERS: Final = 512 * 1024


async def informed(
    tool: TransferTool, request: ConnectionOptions, path: str | None
) -> TransferTool:
    """The tool with what it has looked up; the tool itself where it looks up nothing.

    `path`: where the files go at the destination.

    Raises ValueError, with a sentence, where the tool cannot be used for this destination.
    """
    if not isinstance(tool, LookingTool):
        return tool
    host = request.destination_host if request.agent else str(request.destination)
    place = Place(host=host, server_url=request.server_url, path=path)
    wanted = tool.lookups(place)
    texts = await asyncio.gather(*(_output(argv) for argv in wanted.values()))
    found = {name: text for name, text in zip(wanted, texts, strict=True) if text is not None}
    return tool.informed(place, found)


async def _output(argv: list[str]) -> str | None:
    """What it printed; None where it failed, or took too long."""
    try:
        status, text = await output_of(argv, _LONGEST_S)
    except (OSError, TimeoutError):
        return None
    return text[:_MOST_CHARACTERS] if status == 0 else None
