"""The route of a transfer: its tool, its path, its source and its target."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor import registry, traits
from advisor.api.tool import CommandRequest, ToolLimits, TransferTool
from advisor.domain.dataset import Dataset
from advisor.domain.manifest import Manifest
from advisor.domain.path import PathFacts
from advisor.hosts import source_listing
from advisor.models.piecework import Done
from advisor.models.slicing import FileEntry
from advisor.runtime.request import TransferRequest
from advisor.runtime.tool_lookups import informed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.places import Places

SUPPOSED_CAPACITY_BPS: Final = 10e9
"""Assumed capacity of a path that neither the user nor an interface states."""


class Route(msgspec.Struct, frozen=True, kw_only=True):
    """The tool, the path, and the source and target.

    `follows_links`: see `TransferOrder`. `login`: the destination in lines that the user runs.
    """

    tool: TransferTool
    path: PathFacts
    places: Places
    follows_links: bool = False
    login: str = ""

    @property
    def moves_whole_files(self) -> bool:
        """Whether the tool cannot move ranges of files."""
        return traits.tool_traits(self.tool.name).whole_files

    def has_streams(self, dataset: Dataset) -> bool:
        """Whether the tool can move one file over several streams."""
        space = self.tool.space(self.path, dataset, ToolLimits())
        return traits.tool_traits(self.tool.name).stream_parameter not in space.fixed

    def group(self, files: Sequence[FileEntry], done: Done, name: str = "all") -> FileGroup:
        """All these files in one group. `done`: see `FileGroup`."""
        return FileGroup(name, files, done=done, whole=self.moves_whole_files)

    @property
    def capacity_bps(self) -> float:
        """The capacity of the path, or an assumed one, in bit/s."""
        return self.path.capacity_bps or SUPPOSED_CAPACITY_BPS


def source_of(request: TransferRequest) -> str:
    """The path of what is moved. Raises ValueError where only its size is known."""
    if request.dataset.path is None:
        raise ValueError("DATA is missing: name the files to move")
    return request.dataset.path


async def manifest_of(request: TransferRequest) -> Manifest:
    """The manifest of what is moved. Raises OSError, ValueError."""
    return await asyncio.to_thread(
        source_listing.manifest_of, Path(source_of(request)), request.rules
    )


async def route_of(request: TransferRequest, path: PathFacts, *, must_run: bool = True) -> Route:
    """The route of the request.

    Raises ValueError if the tool must run here but cannot, or cannot reach its server.
    """
    tool = registry.transfer_tool(request.tool or traits.moving_tool())
    availability = registry.availability(tool)
    if must_run and not availability.ok:
        others = [name for name in traits.profiled_tools() if _is_here(name)]
        instead = f"; or use --tool {others[0]}, which is" if others and not request.tool else ""
        raise ValueError(f"{availability.reason} ({availability.remedy}{instead})")
    if availability.ok:
        tool = await informed(tool, request, request.destination_path)
    source = source_of(request)
    asked = CommandRequest(
        subject=tool.name,
        settings={},
        path=path,
        destination_host=request.destination_host,
        user=request.user,
        dataset=request.dataset,
        source_path=source,
        destination_path=request.destination_path,
    )
    return Route(
        tool=tool,
        path=path,
        places=Places(
            source=asked.source,
            target=asked.target,
            destination_host=request.destination_host,
            server_url=request.server_url,
        ),
        follows_links=request.rules.follow_links or await asyncio.to_thread(_is_link, source),
        login=asked.login,
    )


def _is_link(source: str) -> bool:
    """Whether DATA is a link to one file, which is followed in any case."""
    return Path(source).is_symlink() and Path(source).is_file()


def _is_here(tool: str) -> bool:
    """Whether the tool of that name can move files from this host."""
    return traits.can_move(tool) and registry.availability(registry.tool(tool)).ok
