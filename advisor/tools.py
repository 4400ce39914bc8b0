"""What a tool plugin is: something that moves files, for which a command line is written."""

import math
import posixpath
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import msgspec

from advisor.availability import Availability
from advisor.domain.advice import Command, Side
from advisor.domain.dataset import Dataset
from advisor.domain.measurement import FailureKind
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_bytes
from advisor.domain.space import Baseline, Setting, Space


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


def bracketed(host: str) -> str:
    """The host as URLs have it: IPv6 addresses in brackets."""
    return f"[{host}]" if ":" in host else host


def path_notes(request: CommandRequest) -> list[str]:
    """The sentences on paths that were not said, or not from the root directory."""
    source = request.source_path or (request.dataset.path if request.dataset else None)
    given = [path for path in (source, request.destination_path) if path]
    notes = []
    if len(given) < 2:
        notes.append("Put the real paths in place of the words in capitals.")
    if any(not path.startswith("/") for path in given):
        notes.append("Paths are taken from the root directory: give absolute ones.")
    return notes


def udt_note(request: CommandRequest, program: str) -> list[str]:
    """The sentence for a program without UDT, where UDT is recommended; else none."""
    if request.transport != "udt":
        return []
    return [f"UDT was faster, but {program} has TCP only: this is the best TCP setting."]


def buffer_note(request: CommandRequest, setting: Setting, program: str) -> list[str]:
    """The sentence for a measured buffer that the program leaves to the kernels; else none."""
    wanted = int(setting["buffer_bytes"])
    if not wanted:
        return []
    source, destination = request.path.source, request.path.destination
    ranges = (source.tcp_wmem_bytes, destination.tcp_rmem_bytes)
    most = min((known[2] for known in ranges if known), default=None)
    up_to = f", which may grow them to {format_bytes(most)}" if most else ""
    return [
        f"Measured with {format_bytes(wanted)} per socket; {program} leaves the buffers to the "
        f"kernel{up_to}."
    ]


def _in_flight_bytes(path: PathFacts, setting: Setting) -> float:
    """What is under way at once at this setting; 0 where neither buffers nor capacity are known."""
    buffers = int(setting["buffer_bytes"]) * int(setting["streams"])
    return buffers or (path.capacity_bps or 0) * path.rtt_s / 8


def files_at_once(request: CommandRequest, setting: Setting) -> int:
    """How many files to send side by side, a divisor of the streams that were measured.

    Files smaller than what is under way at once are a matter of round trips, which side by side
    they share. Each gets streams enough that the largest does not outlast all the others.
    """
    dataset, streams = request.dataset, int(setting["streams"])
    if dataset is None or not dataset.files or dataset.files < 2:
        return 1
    mean_bytes = dataset.total_bytes / dataset.files
    if mean_bytes >= _in_flight_bytes(request.path, setting):
        return 1
    largest_bytes = dataset.largest_bytes or mean_bytes
    per_file = math.ceil(streams * largest_bytes / dataset.total_bytes)
    fitting = (n for n in range(1, streams + 1) if streams % n == 0 and n >= per_file)
    return streams // min(fitting, default=streams)


def congestion_note(request: CommandRequest, setting: Setting, program: str) -> list[str]:
    """The sentence for a setting whose congestion control the program cannot choose; else none."""
    wanted, default = setting.get("congestion"), request.path.source.congestion
    if not wanted or wanted == default:
        return []
    return [
        f"Measured with {wanted} congestion control, which {program} cannot choose; the source's "
        f"default is {default or 'not known'}. To change it, on the source: "
        f"`sysctl -w net.ipv4.tcp_congestion_control={wanted}`."
    ]


def explain(argv: Sequence[str], flags: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """The line taken apart: each flag with its values, and its sentence of `flags`.

    Every word of the line is in one of the parts, in its order. Words that `flags` knows nothing of
    stand alone with "". Of usages that fit, the one with the most words of its own is taken.
    """
    usages = [(usage.split(), sentence) for usage, sentence in flags.items()]
    usages.sort(key=lambda pair: sum(not is_value(word) for word in pair[0]), reverse=True)
    parts, rest = [], list(argv)
    while rest:
        fitting = (pair for pair in usages if _fits(pair[0], rest))
        words, sentence = next(fitting, (rest[:1], ""))
        parts.append((tuple(rest[: len(words)]), sentence))
        rest = rest[len(words) :]
    return parts


def is_value(word: str) -> bool:
    """Whether a word of a usage stands for a value. `-P` is a flag all the same."""
    return word.isupper() and not word.startswith("-")


def _fits(usage: list[str], words: list[str]) -> bool:
    if len(usage) > len(words):
        return False
    return all(is_value(u) or u == w for u, w in zip(usage, words, strict=False))


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
