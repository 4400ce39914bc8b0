"""aria2c: fetches files from an HTTP server, each over several TCP connections.

What the options do was found by running it (aria2c 1.36.0): `-x` and `-s` open as many connections
as they say, where a file has parts enough; `-o` counts from `-d`, also with a slash before it.
"""

import shlex
import shutil
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from advisor.api.command_line import (
    bracketed,
    congestion_note,
    files_at_once,
    only_note,
    path_notes,
)
from advisor.api.tool import CommandRequest
from advisor.api.values import AVAILABLE, Availability, Command, Setting

_HTTP_PORT: Final = 8080
_MOST_STREAMS: Final = 16
_URL_LIST: Final = "URL_LIST"

_FLAGS: Final[Mapping[str, str]] = {
    "aria2c": "A download program for HTTP, FTP and SFTP.",
    "-x STREAMS": "Opens so many connections to one server for each file, 16 at most.",
    "-s PARTS": "Fetches each file in so many parts at once.",
    "-k SIZE": "Makes no part smaller than this, so that the connections are all used.",
    "-j FILES": "Fetches so many files at a time.",
    "--socket-recv-buffer-size BYTES": (
        "Asks for receive buffers of so many bytes; a kernel whose maximum is below grants that "
        "maximum without a word."
    ),
    "--file-allocation falloc": (
        "Reserves the room for a file at once, where the default writes zeros to all of it first."
    ),
    "-d DIRECTORY": "The directory that names of files are taken from.",
    "-o FILE": "The name to write to, in the directory of -d.",
    "-i LIST": "A file with the URLs to fetch, one a line.",
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


def _notes(request: CommandRequest, setting: Setting) -> list[str]:
    at_once, per_file = _shares(request, setting)
    notes = [*only_note(request, plugin.name, "tcp"), *path_notes(request)]
    notes.append(
        f"The source needs a server at {_server(request)} that answers requests for parts of a "
        "file; change the URL to the one you have, also ftp:// or https://. HTTP encrypts nothing."
    )
    if request.is_directory:
        notes.append(
            f"aria2c takes no directories: {_URL_LIST} is a file with the URL of each file, and "
            "under it, after two spaces, out= and its path in the directory."
        )
    if at_once * per_file < int(setting["streams"]):
        notes.append(
            f"Measured with {setting['streams']} streams; aria2c opens {per_file} for a file."
        )
    if int(setting["buffer_bytes"]):
        notes.append(
            f"The send buffer ({setting['buffer_bytes']} bytes when measured) is up to the server."
        )
    notes.append("A file that is there already is kept, and the new one gets a number.")
    return [*notes, *congestion_note(request, setting, plugin.name)]


class Aria2c:
    """Writes an aria2c line, run on the destination."""

    name = "aria2c"
    summary = "download program, fetches a file over several HTTP connections"
    flags = _FLAGS

    def available(self) -> Availability:
        """Whether aria2c is on the search path."""
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(reason="aria2c is not installed", remedy="apt install aria2")

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        argv = ["aria2c", *_options(request, setting), *_operands(request)]
        note = " ".join(_notes(request, setting))
        return [
            Command(
                tool=self.name, side="destination", argv=argv, shell=shlex.join(argv), note=note
            )
        ]


plugin = Aria2c()
