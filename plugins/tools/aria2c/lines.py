"""The lines to print, with notes."""

from typing import Final

from advisor.api.command_line import (
    command_of,
    congestion_note,
    files_at_once,
    only_note,
    path_notes,
)
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting

from .known import NAME, SERVER_FORM, Server, at_destination, is_server
from .options import MOST_STREAMS, NOTHING_ELSE, options_of

# The largest first. Each name becomes a URL, and "out=" the name below the target; without "./" it
# would lose spaces at its beginning. Where `find` cannot look into a folder, nothing is fetched: of
# a pipe its status would be lost. A name with a line end would be two in the list: it becomes one
# that the server does not have, so that the line fails.
_ESCAPED: Final = ' "#<>?[\\]^`{|}'
_SEVERAL: Final = (
    r'f=$(mktemp) && trap "rm -f \"$f\"" EXIT HUP INT TERM && cd "$0" && '
    r'find . -type f -printf "%s %P\0" >"$f" && sort -zrn "$f" | cut -zd" " -f2- | '
    r'tr "\n\0" "?\n" | '
    r'LC_ALL=C sed -e "h;s/%/%25/g;{escapes}s|^|$1/|;p;g;s|^|  out=./|" | '
    r'ssh -S none -- "$3" "$2"'
)
_LISTED: Final = (
    "Run on the source: ssh starts aria2c, which gets a list of the files. Empty folders, symbolic "
    "links, permissions and times are left out."
)
_KEPT: Final = "An existing file is kept, and the new one gets a number."
_RESUMED: Final = (
    "Files that are there with the same size are kept, those that were begun are completed."
)


def joint_line(request: CommandRequest, setting: Setting, server: Server) -> Command:
    """For the setting that was measured from disk to disk with aria2c itself."""
    return _line(request, setting, server, [])


def tcp_line(request: CommandRequest, setting: Setting, server: Server) -> Command:
    """For streams that were measured from memory to memory."""
    streams, buffer_bytes = int(setting["streams"]), int(setting["buffer_bytes"])
    files = files_at_once(request, setting)
    per_file = min(streams // files, MOST_STREAMS)
    notes = []
    if files * per_file < streams:
        notes.append(f"Measured with {streams} streams; aria2c opens {per_file} for a file.")
    if buffer_bytes:
        notes.append(f"The server sets the send buffer ({buffer_bytes} bytes when measured).")
    own: Setting = {"concurrency": files, "parallelism": per_file, "buffer_bytes": buffer_bytes}
    notes += congestion_note(request, setting, NAME)
    return _line(request, own, server, notes)


def _line(request: CommandRequest, setting: Setting, server: Server, notes: list[str]) -> Command:
    several = request.is_directory
    options = options_of(setting, several=several)
    argv = (_several if several else _single)(request, options, server)
    before = [*only_note(request, NAME, "tcp"), *path_notes(request, argv)]
    before += [*_server_notes(request, server), "It compares no checksums."]
    if not several:
        return command_of(NAME, "destination", argv, [*before, *notes, _KEPT])
    return command_of(NAME, "source", argv, [*before, *notes, _LISTED, _RESUMED])


def _server_notes(request: CommandRequest, server: Server) -> list[str]:
    if is_server(request.server_url):
        return [] if server.url.startswith("https:") else ["HTTP is not encrypted."]
    return [
        f"The source needs a web server that serves {server.root} at {server.url}, with range "
        f"requests: name yours with --server {SERVER_FORM}. HTTP is not encrypted."
    ]


def _single(request: CommandRequest, options: list[str], server: Server) -> list[str]:
    return [NAME, *options, "-d", "/", "-o", request.target, server.address(request.source)]


def _several(request: CommandRequest, options: list[str], server: Server) -> list[str]:
    escapes = r"s/\t/%09/g;" + "".join(
        f"s/{_in_pattern(one)}/%{ord(one):02X}/g;" for one in _ESCAPED
    )
    script = _SEVERAL.format(escapes=escapes)
    kept = ["-c", "--auto-file-renaming=false", *NOTHING_ELSE]
    there = at_destination([*options, *kept], request.target.rstrip("/") or "/")
    return ["sh", "-c", script, request.source.rstrip("/") + "/", server.url, there, server.login]


def _in_pattern(character: str) -> str:
    """As `sed` takes it in double quotes of a shell."""
    return {"\\": r"\\\\", "`": r"\`", '"': r"\"", "[": r"\\[", "^": r"\\^"}.get(
        character, character
    )
