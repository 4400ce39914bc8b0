"""Helpers of tool plugins that write command lines: notes, and the parts of a line."""

import math
import posixpath
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from advisor.api.tool import DESTINATION_PATH, SOURCE_PATH, CommandRequest, Piece
from advisor.domain.advice import Command, Side
from advisor.domain.path import PathFacts
from advisor.domain.quantities import format_bytes, format_rate
from advisor.domain.shell import quoted_line, shell_line, shell_word
from advisor.domain.space import Setting

__all__ = [
    "SSH_WINDOW_BYTES",
    "bracketed",
    "buffer_note",
    "command_of",
    "congestion_note",
    "explain",
    "files_at_once",
    "is_value",
    "only_note",
    "path_notes",
    "placeholder_note",
    "quoted_line",
    "roots_of",
    "shell_line",
    "shell_word",
    "source_note",
    "ssh_window_note",
    "streams_per_file",
    "why_not_listed",
    "with_errors",
]

SSH_WINDOW_BYTES: Final = 2 * 2**20
"""Of OpenSSH, and of Go's library."""


def bracketed(host: str) -> str:
    """HOST or USER@HOST as written in URLs: IPv6 addresses in brackets."""
    user, at, name = host.rpartition("@")
    return f"{user}{at}[{name}]" if ":" in name else host


def command_of(tool: str, side: Side, argv: list[str], notes: Iterable[str]) -> Command:
    """A tool's line, run on that side, with its notes in order."""
    return Command(tool=tool, side=side, argv=argv, shell=shell_line(argv), note=" ".join(notes))


def path_notes(request: CommandRequest, argv: Sequence[str]) -> list[str]:
    """The notes on this line's source address, and on paths that are missing or not absolute."""
    notes = [*source_note(request, argv), *placeholder_note(request, argv)]
    if any(path and not path.startswith("/") for path in _paths_given(request).values()):
        notes.append("Paths must be absolute.")
    return notes


def source_note(request: CommandRequest, argv: Sequence[str]) -> list[str]:
    """The note that the line does not send from the address that the user chose; else none."""
    bound = request.path.bound_address
    if not bound or any(_names(word, bound) for word in argv):
        return []
    return [
        f"{argv[0]} has no option to send from {bound}: it sends from the address that the routes "
        "choose."
    ]


def _names(word: str, address: str) -> bool:
    """Whether the address is in the word, and not the beginning or the end of another one."""
    part = "[0-9A-Fa-f:.]" if ":" in address else "[0-9.]"
    return re.search(rf"(?<!{part}){re.escape(address)}(?!{part})", word) is not None


def placeholder_note(request: CommandRequest, argv: Sequence[str]) -> list[str]:
    """The note that names the placeholders in this line for paths not given; else none."""
    missing = [
        name
        for name, path in _paths_given(request).items()
        if not path and any(name in word for word in argv)
    ]
    if not missing:
        return []
    real = "the real path" if len(missing) == 1 else "the real paths"
    return [f"Replace {' and '.join(missing)} with {real}."]


def _paths_given(request: CommandRequest) -> dict[str, str | None]:
    """Both paths by the placeholder for each."""
    return {SOURCE_PATH: request.known_source, DESTINATION_PATH: request.destination_path}


def only_note(request: CommandRequest, program: str, transport: str) -> list[str]:
    """The note for a program that supports only this transport, if another is recommended."""
    if request.subject in (transport, program):
        return []
    faster, own = (request.labels.get(name, name) for name in (request.subject, transport))
    return [f"{faster} was faster, but {program} has {own} only: this is the best {own} setting."]


def why_not_listed(name: str) -> str:
    """Why a file cannot be in a text that lists names line by line; "" if it can."""
    if "\n" in name or "\r" in name:
        return "a name in a list of files has no line end: rename it"
    try:
        name.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8, which a list of files is: rename it"
    return ""


def with_errors(argv: Sequence[str]) -> list[str]:
    """A lookup that always succeeds, and prints the command's errors too."""
    return ["sh", "-c", '"$@" 2>&1; true', "sh", *argv]


def streams_per_file(request: CommandRequest, setting: Setting) -> tuple[int, int]:
    """The number of files at a time and of connections each; their product is that measured.

    A directory's files are sent whole if there are enough of them.
    """
    streams = int(setting["streams"])
    if not request.is_directory:
        return 1, streams
    known = request.dataset.files if request.dataset else None
    files = min(streams, known or streams)
    return files, streams // files


def buffer_note(request: CommandRequest, setting: Setting, program: str) -> list[str]:
    """The note if the program leaves a measured buffer to the kernels; else none."""
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


def ssh_window_note(request: CommandRequest, connections: int) -> list[str]:
    """The note on a path on which the window of SSH itself is the limit; else none."""
    path = request.path
    most_bps = connections * SSH_WINDOW_BYTES * 8 / path.rtt_s
    if path.capacity_bps and most_bps >= path.capacity_bps:
        return []
    return [
        "SSH has at most 2 MiB in flight per connection, whatever its socket buffer, so at most "
        f"{format_rate(most_bps)} here."
    ]


def roots_of(pieces: Sequence[Piece], program: str) -> tuple[str, str]:
    """The folders below which all pieces have the same names; "" and "" for one that is renamed.

    Raises ValueError, with a sentence about the program, where there are none.
    """
    source = posixpath.commonpath([posixpath.dirname(piece.source) for piece in pieces])
    name = pieces[0].source[len(source) :].lstrip("/")
    target = pieces[0].target.removesuffix(f"/{name}") or "/"
    for piece in pieces:
        own = piece.source[len(source) :].lstrip("/")
        if piece.target != posixpath.join(target, own):
            if len(pieces) == 1:
                return "", ""
            raise ValueError(f"{program} moves a list of files only under their own names")
    return source, target


def _in_flight_bytes(path: PathFacts, setting: Setting) -> float:
    """The bytes in flight at this setting; 0 if neither buffers nor capacity are known."""
    buffers = int(setting["buffer_bytes"]) * int(setting["streams"])
    return buffers or (path.capacity_bps or 0) * path.rtt_s / 8


def files_at_once(request: CommandRequest, setting: Setting) -> int:
    """How many files to send concurrently: a divisor of the measured streams.

    Files smaller than the bytes in flight are limited by round trips, which concurrent files share.
    Each file gets enough streams that the largest does not outlast all the others.
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
    """The note if the program cannot set the measured congestion control; else none."""
    wanted, default = setting.get("congestion"), request.path.source.congestion
    if not wanted or wanted == default:
        return []
    return [
        f"Measured with {wanted} congestion control, which {program} cannot choose; the source's "
        f"default is {default or 'not known'}. To change it, on the source: "
        f"`sysctl -w net.ipv4.tcp_congestion_control={shell_word(str(wanted))}`."
    ]


def explain(argv: Sequence[str], flags: Mapping[str, str]) -> list[tuple[tuple[str, ...], str]]:
    """The parts of the line: each flag with its values, and its sentence in `flags`.

    Every word of the line is in one part, in order. Words unknown to `flags` stand alone with "".
    Of the matching usages, the one with the most fixed words is taken.
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
    """Whether a word of a usage stands for a value. `-P` is still a flag."""
    return word.isupper() and not word.startswith("-")


def _fits(usage: list[str], words: list[str]) -> bool:
    if len(usage) > len(words):
        return False
    return all(is_value(u) or u == w for u, w in zip(usage, words, strict=False))
