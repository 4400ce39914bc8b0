"""xrdcp: sends files to an XRootD server in several processes, or fetches them from one.

Found by running it (xrdcp and xrootd 5.5.3):
- It sends over one connection, whatever `-S` says; files that `--parallel` moves share it. So more
  connections are more processes.
- `-S 4` opens five connections, and data is received over all five. It takes 0 to 15.
- `-r` copies a directory, under its own name, into the target; it follows symbolic links.
- The path of a URL is not decoded, and ends at `?`.
- Without a terminal it prints no progress. It sets no buffer sizes.
- Of a file's time, three round trips are not its data; of a process's, some four more.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

from advisor.api.command_line import why_not_listed
from advisor.api.flow_space import process_space
from advisor.api.server_files import ServerCommands
from advisor.api.tool import (
    CommandRequest,
    OutputReader,
    Place,
    Progress,
    Step,
    ToolLimits,
    ToolTraits,
    ToolTrouble,
    TransferOrder,
)
from advisor.api.values import (
    Availability,
    Baseline,
    Command,
    Dataset,
    KnownCosts,
    PathFacts,
    Requirement,
    Space,
    install_line,
    program_available,
)

from .fetching import fetch_line
from .known import (
    NAME,
    PORT,
    SERVER,
    SERVER_FORM,
    Server,
    is_server,
    lookups_for,
    server_at,
    server_of,
)
from .sending import joint_line, tcp_line
from .server_files import commands_for, sizes_in
from .steps import steps_for
from .trouble import trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "xrdcp": "The copy client of XRootD.",
    "-f": "Replaces files that are there.",
    "-p": "Makes the folders above the target where they are missing.",
    "-r": "Copies the directory with all its contents.",
    "-S STREAMS": "Adds this many TCP connections to the first, and uses all of them for data.",
    "--parallel FILES": "Moves this many files at a time, all over the same connections.",
    "sh -c SCRIPT NAME SOURCE URL": (
        "Deals the files, the largest first, to several xrdcp processes that run at the same time, "
        "each with a folder of links to its files."
    ),
}
_COSTS: Final = KnownCosts(start=4, file=3, window_bytes=4 * 8 * 2**20)
"""Counted with delays of 0.1 s each way: 1.5 s for one file of 1 kB, 0.64 s for each further one.
Of a file, four blocks of 8 MiB are under way."""


class _NothingRead:
    """Without a terminal xrdcp prints no progress."""

    def feed(self, line: str) -> Progress | None:
        """None."""
        return None


class Xrdcp:
    """Writes lines that send, run on the source, or fetch, run on the destination; is profiled by
    sending real files.

    `server`: what was looked up, None before.
    """

    name = NAME
    summary = "copy client of XRootD, several processes at a time"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=50,
        whole_files=True,
        stream_parameter="parallelism",
        server_pattern=SERVER,
        server_form=SERVER_FORM,
        needed_at=("destination",),
        known_costs=lambda _: _COSTS,
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer to XRootD",
                find=partial(shutil.which, NAME),
                remedy=install_line("xrdcp"),
            ),
        ),
    )

    def __init__(self, server: Server | None = None) -> None:
        self._server = server

    def available(self) -> Availability:
        """Whether xrdcp is on the search path."""
        return program_available(self.name)

    def lookups(self, place: Place) -> Mapping[str, list[str]]:
        """Whether the server lets this user in."""
        return lookups_for(place)

    def informed(self, place: Place, found: Mapping[str, str]) -> "Xrdcp":
        """With the server that was named."""
        return Xrdcp(server_of(place, found))

    def _server_for(self, host: str, server_url: str | None) -> Server:
        return self._server or server_at(host, server_url)

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line: of its own setting where it was profiled, else for the best TCP setting."""
        server = self._server_for(request.destination_host, request.server_url)
        if own := request.settings.get(self.name):
            return [joint_line(request, own, server)]
        if (tcp := request.settings.get("tcp")) is None:
            return []
        if is_server(request.server_url):
            return [tcp_line(request, tcp, server)]
        return [fetch_line(request, tcp)]

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Processes at a time."""
        return process_space(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """One process: it has no option that is tuned."""
        return [Baseline("default", {"concurrency": 1, "parallelism": 1})]

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
        if "?" in name:
            return "XRootD ends a name at a question mark: rename it"
        return why_not_listed(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        return steps_for(order, self._server_for(order.destination_host, order.server_url))

    def server_address(self) -> tuple[str, int]:
        """Of the server."""
        server = self._server or Server(host="")
        return server.host.strip("[]"), server.port or PORT

    def server_commands(self, folder: str) -> ServerCommands:
        """Those of `xrdfs`. Raises ValueError for a folder that XRootD would not take as it is."""
        if self._server is None:
            raise ValueError("xrdcp's server has not been looked up")
        return commands_for(self._server, folder)

    def sizes_in(self, folder: str, text: str) -> Mapping[str, int]:
        """The sizes that `xrdfs ls` printed. Raises ValueError for any other text."""
        return sizes_in(folder, text)

    def reader(self) -> OutputReader:
        """A reader of nothing: what has been sent is counted at the sockets."""
        return _NothingRead()

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and the errors; None for status 0."""
        return trouble_of(status, output, errors)


plugin = Xrdcp()
