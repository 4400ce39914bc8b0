"""xdd: moves one file between two hosts over several TCP connections, both ends started by hand.

What the options do was found by running xdd 7.0.0.rc:
- A flow is a connection; N of them use N ports from the base up. 124 work, 128 hang.
- Different flow counts on the two sides hang both, and a destination waits for ever for a source
  that does not come: both lines are built from one record, and are run within `timeout`.
- A status of 0 is not success, and a longer file that is there already is not truncated.
- It asks for socket buffers of 16 MiB, always, which the kernel cuts to its maximum.
- `-preallocate` does something in builds with XFS support and on XFS alone. Elsewhere it does
  nothing, in builds without with a line that looks like an error, and 0 is refused.
- `-bytes 0` is refused: it cannot move an empty file.
- The destination listens on the address it is given, not on all it has.
- `-startoffset` counts blocks, and holds for both files: what is before stays as it is.
- `-dio` opens the file anew, buffered, for each request that is no multiple of 4096 bytes in size
  and place. Once, for the end of a file, that is well; for all of them flows close each other's
  file.
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

from .lines import NAME, joint_lines, tcp_lines
from .names import why_not
from .reader import ResultReader
from .searching import baselines_for, space_for
from .steps import steps_for
from .trouble import WHERE_TO_GET_IT, trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "timeout SECONDS": "Ends the program that follows when it has run for so long.",
    "xdd": "Moves one file from end to end; both ends have to be started.",
    "-target FILE": "The file that is read on the source and written on the destination.",
    "-op read": "Reads the target.",
    "-op write": "Writes the target.",
    "-e2e issource": "Makes this end the source, which connects and sends.",
    "-e2e isdest": "Makes this end the destination, which waits for the source and receives.",
    "-e2e dest ADDRESS": (
        "The destination's own IPv4 address, its first port, and how many connections there are, a "
        "port for each; both ends must be given the same."
    ),
    "-reqsize BLOCKS": "Moves so many blocks with each read, send and write.",
    "-blocksize BYTES": "How large a block is; with 1, -reqsize and -startoffset count bytes.",
    "-bytes BYTES": "How much to move: the size of the file, or of what is left of it.",
    "-startoffset BLOCKS": "Begins so many blocks into the file, on both ends.",
    "-noordering": "Lets the connections write what they received in any order.",
    "-looseordering": "Starts the reads in the file's order without waiting for each to end.",
    "-preallocate BYTES": (
        "Reserves room for a file of this size before anything is written, where xdd was built "
        "with XFS support and the file system is XFS; elsewhere it does nothing, and says so."
    ),
    "-minall": "Locks neither its memory nor its process in place.",
    "-stoponerror": "Stops all connections at the first error on any of them.",
    "-dio": "Reads or writes the file past the page cache (direct I/O).",
    "-hb bytes": "Shows with each line of progress the bytes moved so far.",
    "-hb lf": "Ends each line of progress with a line feed.",
    "-hb SECONDS": "Shows progress every so many seconds, on the standard error.",
}


class Xdd:
    """Writes a pair of xdd lines, the destination's first, and is profiled by moving a real file.

    One file alone: steps for more are refused.
    """

    name = NAME
    summary = "parallel file mover, one file from end to end over TCP"
    flags = _FLAGS
    moves_several = False
    traits = ToolTraits(
        rank=1,
        is_default=True,
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
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(
            reason="xdd is not installed, and no distribution has it",
            remedy=f"build it on both hosts from {WHERE_TO_GET_IT}",
        )

    def commands(self, request: CommandRequest) -> list[Command]:
        """The destination's line and the source's.

        Where xdd itself was profiled, for its own setting, else for the best TCP setting. None
        without either, or for an empty file, which xdd cannot move.
        """
        if own := request.settings.get(self.name):
            return joint_lines(request, own)
        tcp = request.settings.get("tcp")
        return tcp_lines(request, tcp) if tcp else []

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Flows × request size, direct I/O held fixed."""
        return space_for(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """What xdd does when it is told nothing."""
        return baselines_for()

    def carries(self, name: str) -> str:
        """Why a file's path does not arrive; "" when it does."""
        return why_not(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The destination's program and the source's. Raises ValueError but for a single file."""
        return steps_for(order)

    def reader(self) -> OutputReader:
        """A reader of the line of results, which the source prints last."""
        return ResultReader()

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what either side wrote to its standard error.

        None for status 0, with which files may have come short: see to their sizes.
        """
        return trouble_of(status, errors)


plugin = Xdd()
