"""xdd: moves one file between two hosts over several TCP connections, both ends started by hand.

The effect of the options was found by running xdd 7.0.0.rc:
- A flow is a connection; N flows use N ports from the base port up. 124 work, 128 hang.
- Different flow counts on the two sides hang both, and a destination waits forever for a source
  that does not connect: both lines are built from one record, and are run under `timeout`.
- A status of 0 does not mean success, and an existing longer file is not truncated.
- It always requests socket buffers of 16 MiB, which the kernel limits to its maximum.
- `-preallocate` works only in builds with XFS support and on XFS. Elsewhere it does nothing; builds
  without XFS support print a line that looks like an error. 0 is rejected.
- `-bytes 0` is rejected: it cannot move an empty file.
- The destination listens on the given address, not on all of its addresses.
- `-startoffset` counts blocks, and applies to both files: data before it stays unchanged.
- `-targets 1 null` in place of `-target FILE`, on both sides, moves bytes without a file.
- `-dio` reopens the file, buffered, for each request whose size or offset is no multiple of 4096
  bytes. Once, at the end of a file, that works; for all requests, flows close each other's file.
"""

import shutil
from collections.abc import Mapping, Sequence
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
    Availability,
    Baseline,
    Command,
    Dataset,
    PathFacts,
    Requirement,
    Space,
    program_available,
)

from .lines import NAME, joint_lines, lines_for_several, tcp_lines
from .names import why_not
from .reader import ResultReader
from .searching import baselines_for, space_for
from .steps import steps_for
from .trouble import WHERE_TO_GET_IT, trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "timeout SECONDS": "Ends the following program after this time.",
    "xdd": "Moves one file between two hosts; both ends must be started.",
    "-target FILE": "The file that is read on the source and written on the destination.",
    "-op read": "Reads the target.",
    "-op write": "Writes the target.",
    "-e2e issource": "Makes this end the source, which connects and sends.",
    "-e2e isdest": "Makes this end the destination, which waits for the source and receives.",
    "-e2e dest ADDRESS": (
        "The destination's own IPv4 address, its first port, and how many connections there are, a "
        "port for each, repeated for each network; both ends must be given the same."
    ),
    "-reqsize BLOCKS": "Moves this many blocks with each read, send and write.",
    "-blocksize BYTES": "The size of a block; with 1, -reqsize and -startoffset count bytes.",
    "-bytes BYTES": "How much to move: the size of the file, or the rest of it.",
    "-startoffset BLOCKS": "Begins this many blocks into the file, on both ends.",
    "-noordering": "Lets the connections write received data in any order.",
    "-looseordering": "Starts the reads in the file's order without waiting for each to end.",
    "-preallocate BYTES": (
        "Reserves space for a file of this size before writing, if xdd was built "
        "with XFS support and the file system is XFS; elsewhere it does nothing but print that."
    ),
    "-minall": "Does not lock its memory or its process in RAM.",
    "-stoponerror": "Stops all connections at the first error on any of them.",
    "-dio": "Bypasses the page cache when reading or writing the file (direct I/O).",
    "-hb bytes": "Shows the bytes moved so far with each line of progress.",
    "-hb lf": "Ends each line of progress with a line feed.",
    "-hb SECONDS": "Shows progress at this interval on standard error.",
}


class Xdd:
    """Writes a pair of xdd lines, the destination's first; is profiled by moving a real file.

    It moves a single file: steps for more are rejected.
    """

    name = NAME
    summary = "parallel file mover, one file from end to end over TCP"
    flags = _FLAGS
    moves_several = False
    traits = ToolTraits(
        rank=1,
        is_default=True,
        needed_at=("source", "destination"),
        memory_to_memory=True,
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer with xdd",
                find=partial(shutil.which, NAME),
                remedy=f"Debian has no package: build it from {WHERE_TO_GET_IT}",
            ),
        ),
    )

    def available(self) -> Availability:
        """Whether xdd is on the search path."""
        return program_available(
            self.name,
            reason="xdd is not installed, and no distribution has it",
            remedy=f"build it on both hosts from {WHERE_TO_GET_IT}",
        )

    def commands(self, request: CommandRequest) -> list[Command]:
        """The destination's line and the source's.

        For xdd's own setting if it was profiled, else for the best TCP setting. None without
        either, or for an empty file, which xdd cannot move.
        """
        if own := request.settings.get(self.name):
            return joint_lines(request, own)
        tcp = request.settings.get("tcp")
        return tcp_lines(request, tcp) if tcp else []

    def joint_commands(self, requests: Sequence[CommandRequest]) -> list[Command]:
        """The destination's line and the source's, with an address for each connection."""
        return lines_for_several(requests)

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Flows × request size × direct or buffered I/O."""
        return space_for(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """What xdd does by default."""
        return baselines_for()

    def carries(self, name: str) -> str:
        """Why xdd cannot open a file's path; "" when it can."""
        return why_not(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The destination's program and the source's. Raises ValueError for several files."""
        return steps_for(order)

    def reader(self) -> OutputReader:
        """A reader of the results line, which the source prints last."""
        return ResultReader()

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what either side wrote to its standard error.

        None for status 0, with which files may still be truncated: check their sizes.
        """
        return trouble_of(status, errors)


plugin = Xdd()
