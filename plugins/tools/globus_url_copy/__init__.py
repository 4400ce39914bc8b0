"""globus-url-copy: puts local files on a GridFTP server, over TCP or over UDT.

The effect of the options was found by running it (10.12, server 13.24, UDT driver 2.3):
- `-p` and `-fast` mean MODE E, whose streams stay open from file to file.
- UDT needs gsiftp://. With ftp:// both `-udt` and `-dcstack udt` are ignored and TCP is used.
- `-udt` overrides the settings of `-dcstack`, whichever comes first, so it is left out.
- MODE E and `-pp` over UDT hang forever, unless (MODE E) the server runs with `-threads 1`.
- The UDT driver's `sndbuf` and `rcvbuf` are the kernel's buffers of the UDP socket, for which
  libudt's default is large enough; small ones make it very slow. libudt's own buffer, the one that
  is profiled, stays at 8192 packets.
- `fc`, in packets, does not limit the window (32 packets over 50 ms were no slower), only slow
  start. A profiled buffer of as many packets limits that too, so it is set.
- `-verify-checksum` reads both files completely, a round trip each: it fails with ranges, and works
  with the rest of a file after `-off`.
- `-sync` lists the directories at the destination, four round trips each, not each file.
- In a list, a range's length also applies to the whole files after it, which are truncated with
  status 0.
- A range of /dev/zero to /dev/null moves that many bytes without a file, also from a list.
- A source file that shrinks while it is read is no error: exit status 0 does not prove the sizes.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

import msgspec

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

from .lines import NAME, joint_line, tcp_line, udt_line
from .names import why_not
from .reader import VerboseReader
from .searching import baselines_for, space_for
from .steps import steps_for
from .trouble import trouble_of
from .urls import measured_server, own_server, place_of, scheme_of

_FLAGS: Final[Mapping[str, str]] = {
    "globus-url-copy": "The GridFTP client of the Grid Community Toolkit.",
    "-vb": "Shows the bytes moved and the rate while it runs, in MB of 2^20 bytes.",
    "-fast": "Moves all data in MODE E, whose connections stay open from file to file.",
    "-p STREAMS": "Sends each file over this many TCP connections at once.",
    "-tcp-bs BYTES": (
        "Requests socket buffers of this size on the data connections; a kernel whose maximum "
        "is lower silently caps it."
    ),
    "-bs BYTES": "Reads and sends the data in blocks of this size, each over one connection.",
    "-pp": (
        "Sends the commands for the next files before the last is answered (pipelining), which "
        "saves a round trip per file."
    ),
    "-cc FILES": (
        "Moves this many files at a time (concurrency), each over its own connections as set by -p."
    ),
    "-dcstack STACK": (
        "Sends the data through these network drivers on both ends: UDT with packets of mss bytes "
        "and a flow window of fc packets."
    ),
    "-verify-checksum": (
        "Compares the MD5 checksums of source and copy after each file, for which both are read "
        "again."
    ),
    "-off BYTES": "Skips the first bytes of the file, which are already at the destination.",
    "-sync": "Skips files that are already at the destination, according to the level.",
    "-sync-level LEVEL": "Level 1 skips a file if the destination has one of the same size.",
    "-r": "Copies the files in subdirectories too.",
    "-cd": "Creates missing directories at the destination.",
}


class GlobusUrlCopy:
    """Writes globus-url-copy lines, run on the source; is profiled by moving real files."""

    name = NAME
    summary = "GridFTP client of the Grid Community Toolkit, over TCP or UDT"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=0,
        is_default=True,
        moves_ranges=True,
        memory_to_memory=True,
        stream_parameter="parallelism",
        server_pattern=r"(gsiftp|ftp)://.+",
        server_form="gsiftp://HOST:PORT or ftp://HOST:PORT for a GridFTP server",
        imported_from=("gridftp-log", "gridftp-usage", "harp-csv"),
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer with GridFTP",
                find=partial(shutil.which, NAME),
                remedy=install_line("globus-url-copy"),
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether globus-url-copy is on the search path."""
        return program_available(self.name)

    def served_at(self, place: Place) -> tuple[str, int]:
        """The server that was named, else GridFTP's own port."""
        return place_of(measured_server(place.server_url, place.host))

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line; two to choose from when UDT won and the server ignores it.

        If this tool itself was profiled, its own setting is used. Without a setting for UDT or TCP
        there is no line.
        """
        server = own_server(request.server_url)
        request = msgspec.structs.replace(request, server_url=server)
        if own := request.settings.get(self.name):
            return [joint_line(request, own)]
        tcp, udt = request.settings.get("tcp"), request.settings.get("udt")
        if request.subject != "udt" or udt is None:
            return [tcp_line(request, tcp, [])] if tcp else []
        if scheme_of(request.server_url) != "ftp":
            return [udt_line(request, udt, [])]
        why = "UDT was faster, but an ftp:// server ignores it and uses TCP"
        usable = [tcp_line(request, tcp, [f"{why}: this is the best TCP setting."])] if tcp else []
        faster = udt_line(request, udt, [f"{why}: this needs a server that accepts gsiftp://."])
        return [*usable, faster]

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Concurrency × parallelism × pipelining, within the files and the user's limits."""
        return space_for(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The line without options, as users type it, and the same with `-fast -pp`."""
        return baselines_for(dataset)

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
        return why_not(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        return steps_for(order)

    def reader(self) -> OutputReader:
        """A reader of what `-vb` prints."""
        return VerboseReader()

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what it wrote to its standard error.

        None for status 0, with which files may still be truncated: check their sizes.
        """
        return trouble_of(status, errors)


plugin = GlobusUrlCopy()
