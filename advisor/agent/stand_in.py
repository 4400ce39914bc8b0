"""What stands in for an agent where no program may run at the destination: a tool and its server.

It serves in this process, as the agent of localhost does. Of the requests it answers those that a
probe of the tool needs, with commands of the tool, each of which logs in at the server. Everything
else is refused.
"""

import asyncio
import posixpath
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from advisor.agent import messages as m
from advisor.agent.files import FilesRefused, TransferWork
from advisor.agent.service import AgentService, Work
from advisor.api.server_files import ServerFilesTool
from advisor.domain.file_io import SCRATCH_PREFIX
from advisor.domain.path import UNKNOWN_HOST
from advisor.hosts.processes import output_of, running

NO_AGENT: Final = "no agent runs at the destination, which this takes"
_COMMAND_S: Final = 120.0
_REMOVE_S: Final = 20.0
_MOST_BYTES: Final = 32 * 2**20
"""Of a listing: three times that of the largest slice."""

_FRESH_S: Final = 0.1
"""Paths are asked for in several messages, one directly after the other."""


class StandIn(AgentService):
    """Serves one session."""

    def __init__(self, tool: ServerFilesTool) -> None:
        super().__init__()
        self.why_no_data = NO_AGENT
        self.scratch_retried_s = 0.0  # The user waits, and the tool's own process has ended.
        self._tool = tool
        self._files = _ServerFiles(tool)

    def facts(self, facing: str) -> m.Facts:
        """Nothing is known of the host, and it receives no transport."""
        return m.Facts(facts=UNKNOWN_HOST, transports=[])

    def work(self, transfer: TransferWork, made: Callable[[str], None]) -> Work:
        """One request, by commands of the tool."""
        return self._files

    def remove_scratch(self, folder: str) -> None:
        """Remove what a session has left. Blocks. Raises FilesRefused."""
        commands = self._tool.server_commands(folder)
        try:
            # In a thread of its own, as the loop of this process may be about to end.
            status, _ = asyncio.run(output_of(commands.remove, _REMOVE_S))
        except (OSError, TimeoutError):
            status = None
        if status not in (0, commands.absent_status):
            raise FilesRefused(f"{folder} cannot be removed")


class _ServerFiles:
    """The folders of one session at the server."""

    def __init__(self, tool: ServerFilesTool) -> None:
        self.seen_bytes = 0
        self._tool = tool
        self._made: set[str] = set()
        self._above: dict[str, str] = {}
        self._listed: tuple[str, float, Mapping[str, int]] = ("", 0.0, {})

    async def result(self, request: m.Work) -> m.Reply:
        try:
            match request:
                case m.MakeScratch(folder=folder):
                    return m.ScratchMade(folder=await self._new(folder))
                case m.GetSizes(paths=paths):
                    return m.SizesFound(sizes=await self._sizes(paths))
                case m.RemoveScratch(folder=folder):
                    return await self._remove(folder)
        except (ValueError, OSError, TimeoutError) as error:
            return m.Refused(message=str(error) or "the server did not answer in time")
        return m.Refused(message=NO_AGENT)

    async def _new(self, folder: str) -> str:
        """The name of a scratch folder in this one, or in the nearest existing one above."""
        if folder not in self._above:
            self._above[folder] = await self._nearest(folder)
        name = posixpath.join(self._above[folder], f"{SCRATCH_PREFIX}{secrets.token_hex(16)}")
        self._made.add(name)
        return name

    async def _nearest(self, folder: str) -> str:
        while True:
            commands = self._tool.server_commands(folder)
            if not commands.look:
                return folder
            status, _ = await self._run(commands.look, commands.absent_status)
            above = posixpath.dirname(folder)
            if status == 0 or above == folder:
                return folder
            folder = above

    async def _sizes(self, paths: Sequence[str]) -> list[int | None]:
        folder = self._scratch_of(paths[0])
        listed_in, at_s, sizes = self._listed
        if folder != listed_in or time.monotonic() > at_s + _FRESH_S:
            commands = self._tool.server_commands(folder)
            status, text = await self._run(commands.sizes, commands.absent_status)
            sizes = self._tool.sizes_in(folder, text) if status == 0 else {}
        self._listed = folder, time.monotonic(), sizes
        return [sizes.get(posixpath.relpath(path, folder)) for path in paths]

    def _scratch_of(self, path: str) -> str:
        """The folder of this session that the path is below. Raises ValueError without one."""
        for folder in self._made:
            if path.startswith(f"{folder}/"):
                return folder
        raise ValueError(NO_AGENT)

    async def _remove(self, folder: str) -> m.Reply:
        if folder not in self._made:
            raise ValueError(f"{folder} is no folder of this session")
        commands = self._tool.server_commands(folder)
        await self._run(commands.remove, commands.absent_status)
        self._made.discard(folder)
        return m.ScratchRemoved()

    async def _run(self, argv: Sequence[str], absent_status: int) -> tuple[int, str]:
        """Exit status and output. Raises ValueError with the tool's reason for other failures."""
        async with running(argv) as child:
            child.stdin.close()
            async with asyncio.timeout(_COMMAND_S):
                text = await _bounded(child.stdout)
                status = await child.wait()
            if status in (0, absent_status):
                return status, text
            trouble = self._tool.trouble(status, text, child.stderr.decode(errors="replace"))
        raise ValueError(trouble.message if trouble else f"status {status}")


async def _bounded(stream: asyncio.StreamReader) -> str:
    text = bytearray()
    while chunk := await stream.read(2**16):
        text += chunk
        if len(text) > _MOST_BYTES:
            raise ValueError("the server lists more files than were sent")
    return text.decode(errors="replace")
