"""The interface of a tool plugin: it moves files, and command lines are written for it."""

import posixpath
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, runtime_checkable

import msgspec

from advisor.domain.advice import Command, Side
from advisor.domain.availability import Availability
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import FailureKind
from advisor.domain.path import PathFacts
from advisor.domain.space import Baseline, Setting, Space
from advisor.domain.traits import ToolTraits

__all__ = [
    "DESTINATION_PATH",
    "NOWHERE",
    "SOURCE_PATH",
    "ZEROS",
    "CommandRequest",
    "Kept",
    "LimitedTool",
    "LookingTool",
    "OutputReader",
    "Piece",
    "Place",
    "Progress",
    "ServedTool",
    "SeveralConnectionsTool",
    "SourceServer",
    "Step",
    "Tool",
    "ToolLimits",
    "ToolTraits",
    "ToolTrouble",
    "TransferOrder",
    "TransferTool",
]


SOURCE_PATH: Final = "SOURCE_PATH"
DESTINATION_PATH: Final = "DESTINATION_PATH"
"""The placeholders for paths that were not given."""

ZEROS: Final = "/dev/zero"
NOWHERE: Final = "/dev/null"
"""Source and target of pieces that are moved from memory to memory, without any file. Only a tool
with the trait `memory_to_memory` is given such pieces."""


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The input for a command line.

    `settings`: the best known setting of each transport, by its name; where a tool itself was
    profiled, its own setting by its name, which it then uses. `subject`: the recommended transport,
    or that tool. `labels`: how each transport is written, by its name.
    `destination_host`: the destination's name or address. `user`: the account that ssh logs in
    to there, "" for that of its configuration.
    `source_path`, `destination_path`, `server_url`: None if not given; only then
    may the line hold a placeholder. `verify`: whether to compare checksums.
    `kept`: the part of the dataset that is already there.
    """

    subject: str
    settings: dict[str, Setting]
    labels: Mapping[str, str] = {}
    path: PathFacts
    destination_host: str
    user: str = ""
    dataset: Dataset | None = None
    source_path: str | None = None
    destination_path: str | None = None
    server_url: str | None = None
    verify: bool = False
    kept: "Kept | None" = None

    @property
    def login(self) -> str:
        """HOST or USER@HOST, as the user's ssh takes it."""
        return f"{self.user}@{self.destination_host}" if self.user else self.destination_host

    @property
    def source(self) -> str:
        """The path to read, from the root directory; a placeholder if not given."""
        return _from_root(self.known_source or SOURCE_PATH)

    @property
    def known_source(self) -> str | None:
        """The path to read as it was given; None if it was not."""
        return self.source_path or (self.dataset.path if self.dataset else None)

    @property
    def target(self) -> str:
        """The path to write, from the root directory; a placeholder if not given.

        A file that goes to a directory keeps its name.
        """
        path = _from_root(self.destination_path or DESTINATION_PATH)
        if path.endswith("/") and not self.is_directory:
            return path + self.source.rpartition("/")[2]
        return path

    @property
    def target_under_own_name(self) -> str:
        """The path for programs that create the directory, under its own name, in the target.

        If both names agree, it is the parent directory. For a file, the same as `target`.
        """
        if not self.is_directory:
            return self.target
        above, name = posixpath.split(self.target.rstrip("/"))
        own = posixpath.basename(self.source.rstrip("/"))
        return above if name == own else self.target

    @property
    def is_directory(self) -> bool:
        """Whether more than one file is to be moved, as far as known."""
        dataset = self.dataset
        several = dataset is not None and (bool(dataset.largest) or (dataset.files or 1) > 1)
        return several or bool(self.source_path and self.source_path.endswith("/"))


class Kept(msgspec.Struct, frozen=True):
    """What was kept of the files moved during profiling: whole files, or the first bytes of one.

    `first_bytes` is above 0 only where a single file is to be moved.
    """

    files: int = 0
    first_bytes: int = 0


def _from_root(path: str) -> str:
    return "/" + path.lstrip("/")


@runtime_checkable
class Tool(Protocol):
    """A tool. A file in plugins/tools exports it as `plugin`."""

    @property
    def name(self) -> str:
        """The program's own name."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    @property
    def flags(self) -> Mapping[str, str]:
        """A sentence for each flag a line may have, by its usage.

        A usage is the flag and its arguments; words in capitals stand for values: `-fast`,
        `-p STREAMS`, `-op read`. Its first word is the flag itself.
        """

    def available(self) -> Availability:
        """Whether the program is on this machine. Its lines are written in either case."""

    def commands(self, request: CommandRequest) -> list[Command]:
        """The lines to run, in the order they are started. Pure: opens and looks up nothing."""


@runtime_checkable
class SeveralConnectionsTool(Tool, Protocol):
    """A tool that can use several connections of the same two hosts in one run."""

    def joint_commands(self, requests: Sequence[CommandRequest]) -> list[Command]:
        """The lines that use all connections, as `commands` for one; none if that is impossible.

        `requests`: one for each connection, with its path and settings, for the same files.
        """


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A file, or a range of one, to be moved in a probe. Paths from the root directory.

    `offset_bytes`: where the range begins, in the source as in the target.
    """

    source: str
    target: str
    size_bytes: int
    offset_bytes: int = 0
    is_whole: bool = True


class TransferOrder(msgspec.Struct, frozen=True, kw_only=True):
    """One transfer of part of the dataset, to be measured.

    `destination_host`: HOST, or USER@HOST where the user runs the line and has named one.
    `list_file`: a path of a file on the source that a `Step` may have written before it starts.
    `base_port`: the first of as many free ports at the destination as there are flows.
    `make_folders`: whether to create missing target folders; None: the usual behaviour, which
    creates them for several pieces. `is_proven`: what arrives is compared with its source by
    others, whatever the tool says, and replaces what is there. `for_user`: the user runs the line,
    and nothing reads what it prints. `follows_links`: the source of a piece may be a symbolic link,
    or be below one; what it points to is moved. The destination is not told.
    """

    setting: Setting
    pieces: tuple[Piece, ...]
    path: PathFacts
    destination_host: str
    list_file: str
    server_url: str | None = None
    verify: bool = False
    base_port: int = 0
    make_folders: bool | None = None
    is_proven: bool = False
    for_user: bool = False
    follows_links: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def total_bytes(self) -> int:
        """Of all the pieces."""
        return sum(piece.size_bytes for piece in self.pieces)


class SourceServer(msgspec.Struct, frozen=True):
    """A server on the source, whoever runs it: its port, and the address of its client."""

    port: int
    client: str


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A program to start for a transfer, on one side. `list_text` goes into the order's list file.

    The steps of a transfer are started in order, and it is over when the last one has ended.
    `ready`: what a step writes to its standard error when the next may start; "" for at once.
    `control_port`: the other end of connections that carry commands and no data; `server_port`:
    where the server listens, if that is another one. `as_login`: what it writes at the destination
    belongs to the account that the user logs in to there, as over ssh. `by_children`: the data are
    sent by programs that it starts, as ssh. `login_bytes`: about what each connection sends before
    the first byte of a file. `fetched_from`: the server from which the destination fetches the
    data; None: the step sends them.
    """

    side: Side
    argv: list[str]
    list_text: str | None = None
    ready: str = ""
    control_port: int | None = None
    server_port: int | None = None
    as_login: bool = False
    by_children: bool = False
    login_bytes: int = 0
    fetched_from: SourceServer | None = None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """Progress reported by a tool: bytes moved, files started; None if it does not report it.

    `has_failed`: it cannot succeed any more, whatever it still tries, and is to be ended.
    """

    moved_bytes: int | None = None
    files_begun: int | None = None
    has_failed: bool = False


class OutputReader(Protocol):
    """Reads what a tool prints while it runs: one reader per transfer."""

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress.

        A client whose lines have none is taken for stalled after a while. Lines end with a line
        feed or a carriage return. Unknown lines are ignored.
        """


class ToolTrouble(msgspec.Struct, frozen=True):
    """Why a transfer failed: `message` is one sentence with its remedy."""

    kind: FailureKind
    message: str


class ToolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits for a profiled tool: concurrent files, and streams for each, as the user allows.

    `direct_io`: whether the file systems of both ends support direct I/O.
    """

    max_concurrency: int = 64
    max_streams: int = 8
    direct_io: bool = False


@runtime_checkable
class TransferTool(Tool, Protocol):
    """A tool that can be profiled: run on part of the real files, and read while it runs."""

    @property
    def moves_several(self) -> bool:
        """Whether one transfer may have several files; otherwise it has a single one."""

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """The space to search for this dataset: a single file needs no concurrency."""

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """The settings of a user who does not tune; the first one's role is `default`."""

    def carries(self, name: str) -> str:
        """Why a file cannot arrive or would change its name; "" if it arrives unchanged."""

    def steps(self, order: TransferOrder) -> list[Step]:
        """The programs that carry it out. Pure: opens and looks up nothing."""

    def reader(self) -> OutputReader:
        """A reader of the last step's standard output."""

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What failed, from the exit status and the end of the output; None for no failure."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where files are to go: `host` is HOST or USER@HOST, as the user's ssh takes it; `server_url`
    is the server that was named, `path` the folder or file there, `source` the one here."""

    host: str
    server_url: str | None = None
    path: str | None = None
    source: str | None = None


@runtime_checkable
class LookingTool(TransferTool, Protocol):
    """A tool whose lines depend on what has to be looked up on the source, once a session."""

    def lookups(self, place: Place) -> Mapping[str, list[str]]:
        """Short commands to run on the source, by a name for each. Pure."""

    def informed(self, place: Place, found: Mapping[str, str]) -> TransferTool:
        """This tool with what was found: the standard output of each command that succeeded.

        Raises ValueError, with a sentence, where it cannot be used.
        """


@runtime_checkable
class ServedTool(TransferTool, Protocol):
    """A tool whose server listens by itself, so that a connection shows whether it is there."""

    def served_at(self, place: Place) -> tuple[str, int]:
        """The host and the port of the server. Pure."""


@runtime_checkable
class LimitedTool(TransferTool, Protocol):
    """A tool that recognises that its server accepts fewer connections than a setting wants."""

    def refusal(self, output: str, errors: str) -> str:
        """Why the server refused some of the connections, in words; "" if it did not.

        Asked of every run, also of one that succeeded or was stopped at its time limit.
        """
