"""What a tool plugin is: something that moves files, for which a command line is written."""

import posixpath
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import msgspec

from advisor.domain.advice import Command, Side
from advisor.domain.availability import Availability
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import FailureKind
from advisor.domain.path import PathFacts
from advisor.domain.space import Baseline, Setting, Space
from advisor.domain.traits import ToolTraits

__all__ = [
    "CommandRequest",
    "Kept",
    "OutputReader",
    "Piece",
    "Progress",
    "Step",
    "Tool",
    "ToolLimits",
    "ToolTraits",
    "ToolTrouble",
    "TransferOrder",
    "TransferTool",
]


class CommandRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What a command line is to be written from.

    `settings`: the best known setting of each transport, by its name; where a tool itself was
    profiled, its own setting by its name, which it then uses. `transport`: the recommended one.
    `source_path`, `destination_path`, `server_url`: None where the user did not say, and only
    there may the line hold a placeholder. `verify`: whether checksums are to be compared.
    `kept`: what of the dataset is there already.
    """

    transport: str
    settings: dict[str, Setting]
    path: PathFacts
    destination_host: str
    dataset: Dataset | None = None
    source_path: str | None = None
    destination_path: str | None = None
    server_url: str | None = None
    verify: bool = False
    kept: "Kept | None" = None

    @property
    def source(self) -> str:
        """The path to read, from the root directory; a placeholder where it was not said."""
        known = self.source_path or (self.dataset.path if self.dataset else None)
        return _from_root(known or "SOURCE_PATH")

    @property
    def target(self) -> str:
        """The path to write, from the root directory; a placeholder where it was not said.

        A file that goes to a directory keeps its name.
        """
        path = _from_root(self.destination_path or "DESTINATION_PATH")
        if path.endswith("/") and not self.is_directory:
            return path + self.source.rpartition("/")[2]
        return path

    @property
    def target_under_own_name(self) -> str:
        """The path for programs that make the directory anew, under its own name, in the target.

        Where both names agree, it is the directory above. As `target` for a file.
        """
        if not self.is_directory:
            return self.target
        above, name = posixpath.split(self.target.rstrip("/"))
        own = posixpath.basename(self.source.rstrip("/"))
        return above if name == own else self.target

    @property
    def is_directory(self) -> bool:
        """Whether more than one file is meant, as far as it was said."""
        dataset = self.dataset
        several = dataset is not None and (bool(dataset.largest) or (dataset.files or 1) > 1)
        return several or bool(self.source_path and self.source_path.endswith("/"))


class Kept(msgspec.Struct, frozen=True):
    """What arrived while a tool was profiled, and was kept: whole files, or the first bytes of one.

    `first_bytes` is above 0 only where a single file is to be moved.
    """

    files: int = 0
    first_bytes: int = 0


def _from_root(path: str) -> str:
    return "/" + path.lstrip("/")


@runtime_checkable
class Tool(Protocol):
    """What a file in plugins/tools offers as `plugin`."""

    @property
    def name(self) -> str:
        """The program's own name."""

    @property
    def summary(self) -> str:
        """One line for `advisor plugins`."""

    @property
    def flags(self) -> Mapping[str, str]:
        """A sentence for each flag a line may have, by its usage.

        A usage is the flag and what follows it, where words in capitals stand for values: `-fast`,
        `-p STREAMS`, `-op read`. Its first word is the flag itself.
        """

    def available(self) -> Availability:
        """Whether the program is on this machine. Its lines are written all the same."""

    def commands(self, request: CommandRequest) -> list[Command]:
        """The lines to run, in the order they are started. Pure: opens and looks up nothing."""


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

    `list_file`: a path of a file on the source that a `Step` may have written before it starts.
    `base_port`: the first of as many free ports at the destination as there are flows.
    `make_folders`: whether the folders of the targets may be missing and are to be made; None for
    where they are as a rule, with several pieces.
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

    @property
    def total_bytes(self) -> int:
        """Of all the pieces."""
        return sum(piece.size_bytes for piece in self.pieces)


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """A program to start for a transfer, on one side. `list_text` goes into the order's list file.

    The steps of a transfer are started in order, and it is over when the last one has ended.
    `ready`: what a step writes to its standard error when the next may start; "" for at once.
    `control_port`: the other end of connections that carry commands and no data.
    """

    side: Side
    argv: list[str]
    list_text: str | None = None
    ready: str = ""
    control_port: int | None = None


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool said of itself so far: bytes moved, files begun; None where it does not say."""

    moved_bytes: int | None = None
    files_begun: int | None = None


class OutputReader(Protocol):
    """Reads what a tool prints while it runs: one reader a transfer."""

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None when it told nothing.

        Lines end with a line feed or a carriage return. Unknown lines tell nothing.
        """


class ToolTrouble(msgspec.Struct, frozen=True):
    """Why a transfer failed: `message` is one sentence with its remedy."""

    kind: FailureKind
    message: str


class ToolLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What the user allows a tool that is profiled: files at a time, and streams for each."""

    max_concurrency: int = 16
    max_streams: int = 8


@runtime_checkable
class TransferTool(Tool, Protocol):
    """A tool that can be profiled: run on part of the real files, and read while it runs."""

    @property
    def moves_several(self) -> bool:
        """Whether one transfer may be of several files; else it is given a single one to move."""

    def space(self, path: PathFacts, dataset: Dataset, limits: ToolLimits) -> Space:
        """The box to search for this dataset: what there is one file of needs no concurrency."""

    def baselines(self, path: PathFacts, dataset: Dataset) -> list[Baseline]:
        """What a user who tunes nothing gets; the first one's role is `default`."""

    def carries(self, name: str) -> str:
        """Why a file's path arrives under another name or not at all; "" when it does arrive."""

    def steps(self, order: TransferOrder) -> list[Step]:
        """The programs that carry it out. Pure: opens and looks up nothing."""

    def reader(self) -> OutputReader:
        """A reader of the last step's standard output."""

    def trouble(self, status: int, output: str, errors: str) -> ToolTrouble | None:
        """What went wrong, by the exit status and the ends of what it printed; None for nothing."""
