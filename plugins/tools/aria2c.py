"""aria2c: fetches files from an HTTP server, each over several TCP connections.

The effect of the options was found by running it (aria2c 1.36.0): `-x` and `-s` open the stated
number of connections if a file has enough parts; `-o` is relative to `-d`, even with a leading
slash.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from advisor.api.command_line import (
    bracketed,
    command_of,
    congestion_note,
    files_at_once,
    only_note,
    path_notes,
)
from advisor.api.tool import CommandRequest, ToolTraits
from advisor.api.values import Availability, Command, Setting, program_available

_HTTP_PORT: Final = 8080
_MOST_STREAMS: Final = 16
_URL_LIST: Final = "URL_LIST"

_FLAGS: Final[Mapping[str, str]] = {
    "aria2c": "A download program for HTTP, FTP and SFTP.",
    "-x STREAMS": "Opens this many connections to one server for each file, 16 at most.",
    "-s PARTS": "Fetches each file in this many parts at once.",
    "-k SIZE": "Makes no part smaller than this; small enough that all connections are used.",
    "-j FILES": "Fetches this many files at a time.",
    "--socket-recv-buffer-size BYTES": (
        "Requests receive buffers of this size; a kernel with a lower maximum silently caps it."
    ),
    "--file-allocation falloc": (
        "Reserves a file's space at once; the default writes zeros to all of it first."
    ),
    "-d DIRECTORY": "The directory that file names are relative to.",
    "-o FILE": "The name to write to, in the directory of -d.",
    "-i LIST": "A file with the URLs to fetch, one per line.",
}


def _shares(request: CommandRequest, setting: Setting) -> tuple[int, int]:
    """How many files at a time, and how many connections each."""
    at_once = files_at_once(request, setting)
    return at_once, min(int(setting["streams"]) // at_once, _MOST_STREAMS)


def _options(request: CommandRequest, setting: Setting) -> list[str]:
    at_once, per_file = _shares(request, setting)
    options = ["-x", str(per_file), "-s", str(per_file), "-k", "1M"]
    if request.is_directory:
        options += ["-j", str(at_once)]
    if buffer_bytes := int(setting["buffer_bytes"]):
        options += ["--socket-recv-buffer-size", str(buffer_bytes)]
    return [*options, "--file-allocation", "falloc"]


def _server(request: CommandRequest) -> str:
    return f"http://{bracketed(request.path.source_address)}:{_HTTP_PORT}"


def _operands(request: CommandRequest) -> list[str]:
    if request.is_directory:
        return ["-d", request.target, "-i", _URL_LIST]
    url = _server(request) + quote(request.source, safe="/", errors="surrogateescape")
    return ["-d", "/", "-o", request.target, url]


def _notes(request: CommandRequest, setting: Setting, argv: list[str]) -> list[str]:
    at_once, per_file = _shares(request, setting)
    notes = [*only_note(request, plugin.name, "tcp"), *path_notes(request, argv)]
    notes.append(
        f"The source needs a server at {_server(request)} with range requests for a "
        "file; replace the URL with yours, which may be ftp:// or https://. HTTP is not encrypted."
    )
    if request.is_directory:
        notes.append(
            f"aria2c takes no directory: {_URL_LIST} is a file with the URL of each file, and "
            "under it, after two spaces, out= and its path in the directory."
        )
    if at_once * per_file < int(setting["streams"]):
        notes.append(
            f"Measured with {setting['streams']} streams; aria2c opens {per_file} for a file."
        )
    if int(setting["buffer_bytes"]):
        notes.append(
            f"The server sets the send buffer ({setting['buffer_bytes']} bytes when measured)."
        )
    notes.append("An existing file is kept, and the new one gets a number.")
    return [*notes, *congestion_note(request, setting, plugin.name)]


class Aria2c:
    """Writes an aria2c line, run on the destination."""

    name = "aria2c"
    summary = "download program, fetches a file over several HTTP connections"
    flags = _FLAGS
    traits = ToolTraits(needed_at=("destination",))

    def available(self) -> Availability:
        """Whether aria2c is on the search path."""
        return program_available(self.name)

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        argv = ["aria2c", *_options(request, setting), *_operands(request)]
        return [command_of(self.name, "destination", argv, _notes(request, setting, argv))]


plugin = Aria2c()
