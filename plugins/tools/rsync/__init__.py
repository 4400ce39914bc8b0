"""rsync over ssh: several processes, each with a connection and a part of the files of its own.

Found by running it (3.5.0, with ssh and sshd of OpenSSH 9.2, and split of coreutils 9.1):
- One process moves one file after another over one connection, but waits for no answer between
  them: small files cost no round trips.
- `split --filter` gives the processes their lists one after another, when each has ended: so the
  lists are files first.
- With `--files-from` names that begin with "#" or ";" are comments, even with `--from0`.
- Each process sets permissions and times of the folders of its files when it ends. Where a folder
  is read-only at the source, another process of an ordinary user would then fail to write to it: so
  folders are writable until all have ended.
"""

import shutil
from collections.abc import Mapping
from functools import partial
from typing import Final

from advisor.api.command_line import SSH_WINDOW_BYTES, why_not_listed
from advisor.api.flow_space import process_space
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

from .known import Server, lookups_for, server_at, server_of
from .lines import NAME, joint_line, tcp_line
from .options import baselines_for
from .reader import SentReader
from .steps import steps_for
from .trouble import refusal_of, trouble_of

_FLAGS: Final[Mapping[str, str]] = {
    "rsync": "Copies files over ssh, and only those that differ.",
    "-a": "Copies folders with all they contain, symbolic links, permissions and times.",
    "-s": "Keeps spaces and other special characters of names from the shell at the destination.",
    "--whole-file": "Sends a file that differs whole, and does not read the one that is there.",
    "--mkpath": "Makes the folders above the target where they are missing.",
    "-e SSH": "The ssh that carries the data, with its options.",
    "sh -c SCRIPT SOURCE TARGET THERE": (
        "Deals the files, the largest first, to several rsync processes that run at the same time; "
        "THERE makes the target's folder and starts rsync at the destination."
    ),
}
_SERVER: Final = r"ssh://([A-Za-z0-9_][\w.+-]*@)?([A-Za-z0-9][\w.-]*|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?"


class Rsync:
    """Writes rsync lines, run on the source; is profiled by moving real files.

    `server`: what was looked up, None before.
    """

    name = NAME
    summary = "copies files over ssh, several processes at a time"
    flags = _FLAGS
    moves_several = True
    traits = ToolTraits(
        rank=30,
        whole_files=True,
        stream_parameter="parallelism",
        server_pattern=_SERVER,
        server_form="ssh://USER@HOST:PORT for an SSH server",
        needed_at=("source", "destination"),
        known_costs=lambda _: KnownCosts(file=0, window_bytes=SSH_WINDOW_BYTES),
        requirements=(
            Requirement(
                name=NAME,
                purpose="transfer over ssh",
                find=partial(shutil.which, NAME),
                remedy=install_line("rsync"),
            ),
        ),
    )

    def __init__(self, server: Server | None = None) -> None:
        self._server = server

    def available(self) -> Availability:
        """Whether rsync is on the search path."""
        return program_available(self.name)

    def lookups(self, place: Place) -> Mapping[str, list[str]]:
        """Both versions, a login by ssh, and whether AES is fast at both ends."""
        return lookups_for(place)

    def informed(self, place: Place, found: Mapping[str, str]) -> "Rsync":
        """With the server, its cipher and the options that both versions have."""
        return Rsync(server_of(place, found))

    def _server_for(self, host: str, server_url: str | None) -> Server:
        return self._server or server_at(host, server_url)

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line: of its own setting where it was profiled, else for the best TCP setting."""
        server = self._server_for(request.login, request.server_url)
        if own := request.settings.get(self.name):
            return [joint_line(request, own, server)]
        tcp = request.settings.get("tcp")
        return [tcp_line(request, tcp, server)] if tcp else []

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """Processes at a time."""
        return process_space(dataset, limits)

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The line as users type it, and with the faster cipher where both ends have it."""
        return baselines_for(self._server)

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""
        return why_not_listed(name)

    def steps(self, order: TransferOrder) -> list[Step]:
        """The line of one transfer, on the source, with a list of its pieces."""
        return steps_for(order, self._server_for(order.destination_host, order.server_url))

    def reader(self) -> OutputReader:
        """A reader of the lines for complete files."""
        return SentReader()

    def refusal(self, output: str, errors: str) -> str:
        """Why the server refused some of the connections; "" if it did not."""
        return refusal_of(errors)

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and the errors; None for status 0."""
        return trouble_of(status, output, errors)


plugin = Rsync()
