"""Runs on a lab's source: the tool's line for every setting of a space.

`python -m tests.benchmarks.disk.cell_lines`. Reads a `Wanted` from standard input and prints a JSON
list of lines. There, since a tool may look up what its lines depend on at the destination.
"""

from __future__ import annotations

import asyncio
import sys

import msgspec

from advisor import registry
from advisor.api.tool import CommandRequest
from advisor.domain.endpoints import Endpoint
from advisor.domain.space import Setting
from advisor.runtime.request import ConnectionOptions
from advisor.runtime.tool_lookups import informed


class Wanted(msgspec.Struct, frozen=True):
    """`request.subject` is the tool; its settings are ignored."""

    request: CommandRequest
    settings: list[Setting]


def lines_of(wanted: Wanted) -> list[str]:
    """In the order of the settings."""
    request = wanted.request
    options = ConnectionOptions(
        destination=Endpoint(request.destination_host), server_url=request.server_url
    )
    named = registry.transfer_tool(request.subject)
    tool = asyncio.run(informed(named, options, request.destination_path, request.source_path))
    lines = []
    for setting in wanted.settings:
        own = msgspec.structs.replace(request, settings={request.subject: setting})
        [command] = tool.commands(own)
        lines.append(command.shell)
    return lines


if __name__ == "__main__":
    print(
        msgspec.json.encode(lines_of(msgspec.json.decode(sys.stdin.read(), type=Wanted))).decode()
    )
