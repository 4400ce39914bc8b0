"""Looks up on the source what a tool's lines depend on, and which tool can be used at all."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Final

from advisor import registry
from advisor.api.tool import LookingTool, Place, ServedTool, TransferTool
from advisor.hosts.processes import output_of
from advisor.runtime.request import ConnectionOptions

_LONGEST_S: Final = 20.0
_CONNECTED_S: Final = 3.0
_MOST_CHARACTERS: Final = 512 * 1024


async def informed(
    tool: TransferTool, request: ConnectionOptions, path: str | None, source: str | None = None
) -> TransferTool:
    """The tool with what it has looked up; the tool itself where it looks up nothing.

    `path`: where the files go at the destination, `source`: where they are here.

    Raises ValueError, with a sentence, where the tool cannot be used for this destination.
    """
    if not isinstance(tool, LookingTool):
        return tool
    place = _place(request, path, source)
    wanted = tool.lookups(place)
    texts = await asyncio.gather(*(_output(argv) for argv in wanted.values()))
    found = {name: text for name, text in zip(wanted, texts, strict=True) if text is not None}
    return tool.informed(place, found)


def _place(request: ConnectionOptions, path: str | None, source: str | None) -> Place:
    host = request.destination_host if request.agent else str(request.destination)
    return Place(host=host, server_url=request.server_url, path=path, source=source)


async def first_usable(
    names: Sequence[str],
    request: ConnectionOptions,
    path: str | None,
    source: str | None,
    refused: Callable[[str, str], None],
) -> str | None:
    """The first of these tools that can be used for the destination; None where none can.

    `refused` gets the name of each before it, and in a sentence why it cannot.
    """
    for name in names:
        try:
            tool = await informed(registry.transfer_tool(name), request, path, source)
            if isinstance(tool, ServedTool):
                await asyncio.to_thread(_reach, *tool.served_at(_place(request, path, source)))
        except ValueError as error:
            refused(name, str(error))
        else:
            return name
    return None


def _reach(host: str, port: int) -> None:
    """Raises ValueError where nothing accepts a connection there."""
    try:
        socket.create_connection((host, port), _CONNECTED_S).close()
    except OSError as error:
        raise ValueError(
            f"its server cannot be reached at {host}, port {port} ({error.strerror or error}): "
            "start it, or name another with --server"
        ) from None


async def _output(argv: list[str]) -> str | None:
    """What it printed; None where it failed, or took too long."""
    try:
        status, text = await output_of(argv, _LONGEST_S)
    except (OSError, TimeoutError):
        return None
    return text[:_MOST_CHARACTERS] if status == 0 else None
