"""The contract of tools that can look after their files at the server themselves.

With such a tool a session needs no agent at the destination: its commands, run on the source, make
up for what the agent does about files.
"""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

from advisor.api.tool import TransferTool


class ServerCommands(msgspec.Struct, frozen=True):
    """Commands about one folder at the destination.

    `look`: succeeds if the folder is there; empty where the tool's server has no folders of its
    own. `sizes`: lists all files below it. `remove`: removes it with everything below. All of them
    end with `absent_status` if it is not there.
    """

    look: list[str]
    sizes: list[str]
    remove: list[str]
    absent_status: int


@runtime_checkable
class ServerFilesTool(TransferTool, Protocol):
    """A tool that lists and removes files at its server."""

    def server_address(self) -> tuple[str, int]:
        """Where the server listens: its host, "" for the destination's, and its TCP port."""

    def server_commands(self, folder: str) -> ServerCommands:
        """The commands about this folder. Pure. Raises ValueError for one outside the server."""

    def sizes_in(self, folder: str, text: str) -> Mapping[str, int]:
        """The sizes in bytes that `sizes` of this folder printed, by path below it.

        Raises ValueError for any other text.
        """
