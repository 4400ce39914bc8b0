"""aria2c: the destination fetches files from a web server, each over several TCP connections.

The effect of the options was found by running it (1.36.0):
- `-x` and `-s` open the stated number of connections if a file has enough parts; a part has at
  least `-k`, which is 1 MiB at the least.
- `-o` is relative to `-d`, even with a leading slash; so is `out=` in a list of URLs.
- It follows what it has fetched where that is a torrent or a Metalink file, if not switched off.
- It continues when nobody reads what it prints; `--stop-with-process` ends it with another process.
- Its status is that of the last error, and 0 only if every file is complete.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

from advisor.api.tool import (
    CommandRequest,
    OutputReader,
    Place,
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
    PathFacts,
    Requirement,
    Space,
    install_line,
    program_available,
)

from .known import NAME, SERVER, SERVER_FORM, Server, lookups_for, server_at, server_of
from .lines import joint_line, tcp_line
from .options import baselines_for, space_for
from .reader import CompleteReader
from .steps import steps_for, why_not
from .trouble import refusal_of, trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "aria2c": "A download program for HTTP, FTP and SFTP.",
    "-x STREAMS": "Opens this many connections to one server for each file, 16 at most.",
    "-s PARTS": "Fetches each file in this many parts at once.",
    "-k SIZE": "Makes no part smaller than this; small enough that all connections are used.",
    "--socket-recv-buffer-size BYTES": (
        "Requests receive buffers of this size; a kernel with a lower maximum silently caps it."
    ),
    "--file-allocation falloc": (
        "Reserves a file's space at once; the default writes zeros to all of it first."
    ),
    "-d DIRECTORY": "The directory that file names are relative to.",
    "-o FILE": "The name to write to, in the directory of -d.",
    "sh -c SCRIPT SOURCE URL THERE LOGIN": (
        "Lists the files with their URLs for aria2c, which ssh starts at the destination by the "
        "command THERE; it ends when the connection of ssh does."
    ),
}


class Aria2c:
    """Writes aria2c lines; is profiled by fetching real files from a server at the source.

    `server`: what was looked up, None before.
    """

    name = NAME
    summary = "download program, fetches a file over several HTTP connections"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=60,
        whole_files=True,
        fetches=True,
        stream_parameter="parallelism",
        server_pattern=SERVER,
        server_form=SERVER_FORM,
        needed_at=("destination",),
        requirements=(
            Requirement(
                name=NAME,
                purpose="fetch from a web server",
                find=partial(shutil.which, NAME),
                remedy=install_line("aria2c"),
            ),
        ),
    )

    def __init__(self, server: Server | None = None) -> None:
        self._server = server

    def available(self) -> Availability:
        """Whether aria2c is on the search path."""
        return program_available(self.name)

    def lookups(self, place: Place) -> Mapping[str, list[str]]:
        """Whether the server listens here, and whether ssh can start aria2c there."""
        return lookups_for(place)

    def informed(self, place: Place, found: Mapping[str, str]) -> "Aria2c":
        """With the server and the login. Raises ValueError where either cannot be used."""
        return Aria2c(server_of(place, found))

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line: of its own setting where it was profiled, else for the best TCP setting."""
        server = server_at(
            request.server_url,
            request.source,
            self._server.login if self._server else request.login,
            request.path.source_address,
        )
        if own := request.settings.get(self.name):
            return [joint_line(request, own, server)]
        tcp = request.settings.get("tcp")
        return [tcp_line(request, tcp, server)] if tcp else []

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Files at a time × connections for each."""
        return space_for(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The line without options, as users type it."""
        return baselines_for(dataset)

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
        return why_not(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        server = self._server or server_at(
            order.server_url, "", order.destination_host, order.path.source_address
        )
        return steps_for(order, server)

    def reader(self) -> OutputReader:
        """A reader of the lines for complete files."""
        return CompleteReader()

    def refusal(self, output: str, errors: str) -> str:
        """Why the server refused some of the connections; "" if it did not."""
        return refusal_of(output, errors)

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what was printed; None for status 0."""
        return trouble_of(status, output, errors)


plugin = Aria2c()
