"""globus-url-copy: puts local files on a GridFTP server, over TCP or over UDT.

What the options do was found by running it (globus-url-copy 10.12, server 13.24, UDT driver 2.3):
- `-p` and `-fast` mean MODE E, whose streams stay open from file to file.
- UDT needs gsiftp://. With ftp:// both `-udt` and `-dcstack udt` are ignored and TCP is used.
- `-udt` overrides the settings of `-dcstack`, whichever comes first, so it is left out.
- MODE E and `-pp` over UDT hang for ever, unless (MODE E) the server runs with `-threads 1`.
- The UDT driver's `sndbuf` and `rcvbuf` are the kernel's buffers of the UDP socket, which libudt
  asks enough for by itself; small ones ruin it. libudt's own buffer, the one that is profiled,
  stays at 8192 packets.
- `fc`, in packets, does not bound the window (32 packets over 50 ms were no slower), only how far
  slow start may go. A profiled buffer of as many packets did that too, so it is set.
- `-verify-checksum` reads both files whole, a round trip each: with ranges it fails, with the rest
  of a file after `-off` it is right.
- `-sync` lists the directories there, four round trips each, not the files one by one.
- In a list, a range's length sticks to the whole files after it, which come short with status 0.
- A source file that shrinks while it is read is no error: exit status 0 says nothing of the sizes.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

from advisor.api.tool import (
    CommandRequest,
    OutputReader,
    Step,
    ToolLimits,
    ToolTraits,
    ToolTrouble,
    TransferOrder,
)
from advisor.api.values import (
    AVAILABLE,
    Availability,
    Baseline,
    Command,
    Dataset,
    PathFacts,
    Requirement,
    Space,
)

from .lines import NAME, joint_line, tcp_line, udt_line
from .names import why_not
from .reader import VerboseReader
from .searching import baselines_for, space_for
from .steps import steps_for
from .trouble import trouble_of
from .urls import scheme_of

_FLAGS: Final[Mapping[str, str]] = {
    "globus-url-copy": "The GridFTP client of the Grid Community Toolkit.",
    "-vb": "Shows the bytes moved and the rate while it runs, in MB of 2^20 bytes.",
    "-fast": "Moves all data in MODE E, whose connections stay open from file to file.",
    "-p STREAMS": "Sends each file over so many TCP connections at once.",
    "-tcp-bs BYTES": (
        "Asks for socket buffers of so many bytes on the data connections; a kernel whose maximum "
        "is below grants that maximum without a word."
    ),
    "-bs BYTES": "Reads and sends the data in blocks of so many bytes, each over one connection.",
    "-pp": (
        "Sends the commands for the next files before the last is answered (pipelining), so that "
        "files do not wait a round trip for each other."
    ),
    "-cc FILES": (
        "Moves so many files at a time (concurrency), each over connections of its own as -p says."
    ),
    "-dcstack STACK": (
        "Carries the data over these network drivers on both ends: UDT with packets of mss bytes "
        "and a flow window of fc packets."
    ),
    "-verify-checksum": (
        "Compares the MD5 checksums of source and copy after each file, for which both are read "
        "once more."
    ),
    "-off BYTES": "Leaves out the first bytes of the file, which are at the destination already.",
    "-sync": "Leaves out files that are at the destination already, as the level says.",
    "-sync-level LEVEL": "At level 1 a file is there already when one of the same size is.",
    "-r": "Copies the files in subdirectories too.",
    "-cd": "Creates the destination's directories where they are missing.",
}


class GlobusUrlCopy:
    """Writes globus-url-copy lines, run on the source, and is profiled by moving real files."""

    name = NAME
    summary = "GridFTP client of the Grid Community Toolkit, over TCP or UDT"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=0,
        is_default=True,
        moves_ranges=True,
        imported_from=("gridftp-log", "gridftp-usage", "harp-csv"),
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer with GridFTP",
                find=partial(shutil.which, NAME),
                remedy="apt-get install globus-gass-copy-progs",
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether globus-url-copy is on the search path."""
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(
            reason=f"{self.name} is not installed", remedy="apt install globus-gass-copy-progs"
        )

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line; two to choose from when UDT won and the server is one that ignores it.

        Where this tool itself was profiled, its own setting is used. Without a setting for UDT or
        TCP there is nothing to write: no line.
        """
        if own := request.settings.get(self.name):
            return [joint_line(request, own)]
        tcp, udt = request.settings.get("tcp"), request.settings.get("udt")
        if request.transport != "udt" or udt is None:
            return [tcp_line(request, tcp, [])] if tcp else []
        if scheme_of(request.server_url) != "ftp":
            return [udt_line(request, udt, [])]
        why = "UDT was faster, but an ftp:// server ignores it and uses TCP"
        usable = [tcp_line(request, tcp, [f"{why}: this is the best TCP setting."])] if tcp else []
        faster = udt_line(request, udt, [f"{why}: this needs the server to take gsiftp://."])
        return [*usable, faster]

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Concurrency × parallelism, as far as there are files and the user allows."""
        return space_for(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The setting of Globus, 2 × 8, typed by hand."""
        return baselines_for(dataset)

    def carries(self, name: str) -> str:
        """Why a file's path arrives under another name or not at all; "" when it does arrive."""
        return why_not(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        return steps_for(order)

    def reader(self) -> OutputReader:
        """A reader of what `-vb` prints."""
        return VerboseReader()

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what it wrote to its standard error.

        None for status 0, with which files may have come short: see to their sizes.
        """
        return trouble_of(status, errors)


plugin = GlobusUrlCopy()
