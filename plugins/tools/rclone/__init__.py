"""rclone: copies over SFTP or to an S3 store, a TCP connection for each file or part of a file.

Found by running it (1.60.1 and 1.75.2, against OpenSSH 9.2):
- Files and directories are written to the given name, whatever characters it has.
- Without `--no-check-dest` a file is skipped where size and modification time are the same.
- With `--files-from-raw` a line is a name, whatever characters it has but a line end.
- Since 1.63 a file has another name until it is complete; `--inplace` prevents that.
- What it counts as moved is what it has read; the rest may be a MiB for each file.
Not run, but taken from rclone's documentation and tracker: sending a file in parts was added in
August 2026 (pull request 9724); reading one in parts is older. SSH's window of 2 MiB is that of
OpenSSH and of Go's library.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

from advisor.api.command_line import SSH_WINDOW_BYTES, why_not_listed
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
    KnownCosts,
    PathFacts,
    Requirement,
    Space,
    install_line,
    program_available,
)

from .known import (
    Login,
    Store,
    flags_of,
    is_store,
    login_at,
    login_of,
    lookups_for,
    store_at,
    store_of,
)
from .lines import NAME, joint_line, store_line, tcp_line
from .reader import StatsReader
from .searching import baselines_for, space_for
from .server_files import commands_for, sizes_in
from .steps import steps_for
from .trouble import refusal_of, trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "rclone copyto": (
        "Copies the file to exactly this name, or the directory's contents into this directory."
    ),
    "--progress": "Shows the bytes moved and the rate while it runs.",
    "--transfers FILES": "Moves this many files at a time, each over its own connection.",
    "--multi-thread-streams STREAMS": (
        "Moves each large file in this many concurrent parts, each over its own connection; "
        "with 0, files are not split."
    ),
    "--sftp-concurrency REQUESTS": "Sends this many blocks of a file before the first is answered.",
    "--s3-upload-concurrency PARTS": "Sends this many parts of each large file at a time.",
    "--s3-chunk-size SIZE": "The size of a part, which is kept in memory while it is sent.",
    "--s3-upload-cutoff SIZE": "The least size of a file that is sent in parts.",
    "--bind ADDRESS": "Sends from this address of the host.",
    "--multi-thread-cutoff SIZE": "The least size of a file that is moved in parts.",
}
_SFTP: Final = KnownCosts(start=34, connection=9, turn=1.4, file=9.5, window_bytes=SSH_WINDOW_BYTES)
"""Counted at 45.6 ms with 1 to 200 files of 1 kB, 1 to 64 at a time: 1.60.1 needs 8.2 round trips
for a file and 1.0 for its turn, 1.75.2 11 and 2.1; both about 34 from the first connection to the
first file, for the kind of shell, the checksum commands and the folders. Before each file it looks
whether its folder exists, and holds a lock for that folder meanwhile, also while it opens a
connection for the question (its source, `mkdir` in backend/sftp): the files of one folder begin one
after another."""
_SERVER: Final = (
    r"sftp://([A-Za-z0-9_][\w.+-]*@)?([A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?"
)
_SSH_PORT: Final = 22
_HTTPS_PORT: Final = 443
_REMOTE: Final = r"\w[\w .@+-]*:[A-Za-z0-9][A-Za-z0-9._-]{1,62}(/[^/].*)?"


class Rclone:
    """Writes rclone lines, run on the source; is profiled by moving real files.

    `server`, `version_flags` (of this rclone): what was looked up, None and empty before.
    """

    name = NAME
    summary = "copies files over SFTP or to S3, several connections at a time"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=20,
        whole_files=True,
        stream_parameter="parallelism",
        server_pattern=f"{_SERVER}|{_REMOTE}",
        known_costs=lambda url: KnownCosts() if is_store(url) else _SFTP,
        server_form="sftp://USER@HOST:PORT for an SSH server, or REMOTE:BUCKET/PREFIX for a store",
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer over SFTP or to S3",
                find=partial(shutil.which, NAME),
                remedy=install_line("rclone"),
            ),
        ),
    )

    def __init__(
        self, server: Login | Store | None = None, version_flags: frozenset[str] = frozenset()
    ) -> None:
        self._server = server
        self._version_flags = version_flags

    def available(self) -> Availability:
        """Whether rclone is on the search path."""
        return program_available(self.name)

    def lookups(self, place: Place) -> Mapping[str, list[str]]:
        """Its options, and a login by ssh or the remotes of its configuration."""
        return lookups_for(place)

    def informed(self, place: Place, found: Mapping[str, str]) -> "Rclone":
        """With its options, and the key and host key of that login, or the store."""
        named_store = is_store(place.server_url)
        server = store_of(place, found) if named_store else login_of(found)
        return Rclone(server, flags_of(found))

    def _server_for(self, host: str, server_url: str | None, path: str) -> Login | Store:
        if self._server is not None:
            return self._server
        if server_url and is_store(server_url):
            return store_at(server_url, path)
        return login_at(host, server_url)

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line: of its own setting where it was profiled, else for the best TCP setting."""
        # Without --to, the line has its placeholder below what was named of a store.
        path = request.target if request.destination_path else "/"
        server = self._server_for(request.login, request.server_url, path)
        if own := request.settings.get(self.name):
            return [joint_line(request, own, server, self._version_flags)]
        if (tcp := request.settings.get("tcp")) is None:
            return []
        if isinstance(server, Store):
            return [store_line(request, tcp, server)]
        is_known = self._server is not None
        return [tcp_line(request, tcp, server, self._version_flags, is_known=is_known)]

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Files at a time × parts of each × requests under way, or the size of parts."""
        return space_for(dataset, limits, self._version_flags, self._server)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The line without options, as users type it."""
        return baselines_for(dataset, self._server)

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
        return why_not_listed(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        target = order.pieces[0].target
        server = self._server_for(order.destination_host, order.server_url, target)
        return steps_for(order, server, self._version_flags)

    def server_address(self) -> tuple[str, int]:
        """The host of the login, or the port of the store at the destination."""
        if isinstance(self._server, Store):
            return "", self._server.port or _HTTPS_PORT
        login = self._server or Login(host="")
        return login.host, login.port or _SSH_PORT

    def server_commands(self, folder: str) -> ServerCommands:
        """`rclone lsjson` and `rclone purge`. Raises ValueError for a folder outside a store."""
        if self._server is None:
            raise ValueError("rclone's server has not been looked up")
        return commands_for(self._server, folder, self._version_flags)

    def sizes_in(self, folder: str, text: str) -> Mapping[str, int]:
        """The sizes that `rclone lsjson` printed. Raises ValueError for any other text."""
        return sizes_in(text)

    def reader(self) -> OutputReader:
        """A reader of the statistics in its log."""
        return StatsReader()

    def refusal(self, output: str, errors: str) -> str:
        """Why the server refused some of the connections; "" if it did not."""
        return refusal_of(output, errors)

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and what it logged; None for status 0."""
        return trouble_of(status, output, errors)


plugin = Rclone()
