"""The line that fetches from a server at the source, over several connections."""

from typing import Final

from advisor.api.command_line import (
    bracketed,
    buffer_note,
    command_of,
    congestion_note,
    files_at_once,
    only_note,
    path_notes,
)
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting

from .known import NAME, PORT

_MOST_STREAMS: Final = 16


def _streams(setting: Setting) -> int:
    return min(int(setting["streams"]), _MOST_STREAMS)


def _options(request: CommandRequest, setting: Setting) -> list[str]:
    streams, at_once = _streams(setting), files_at_once(request, setting)
    return [
        *(["-S", str(streams - 1)] if streams > 1 else []),
        *(["-r"] if request.is_directory else []),
        *(["--parallel", str(at_once)] if at_once > 1 else []),
    ]


def _operands(request: CommandRequest) -> list[str]:
    """The source's URL and the local path, directories with a slash at their end."""
    url = f"root://{bracketed(request.path.source_address)}:{PORT}/{request.source}"
    operands = [url, request.target_under_own_name]
    if request.is_directory:
        return [operand.rstrip("/") + "/" for operand in operands]
    return operands


def _notes(request: CommandRequest, setting: Setting, argv: list[str]) -> list[str]:
    streams = _streams(setting)
    notes = [*only_note(request, NAME, "tcp"), *path_notes(request, argv)]
    notes.append(
        "It pulls, since xrdcp pushes over one connection whatever -S says. The source "
        f"needs an XRootD server for the directory: `xrootd -p {PORT} DIRECTORY`, not as "
        "root; by default anyone can read, and nothing is encrypted."
    )
    if streams < int(setting["streams"]):
        notes.append(f"Measured with {setting['streams']} streams; xrdcp takes {streams} at most.")
    if request.is_directory:
        notes.append(
            "The directory is created under its own name in the named directory, which must exist."
        )
    if "?" in request.source:
        notes.append("XRootD ends a name at a question mark: rename the file first.")
    return [
        *notes,
        *buffer_note(request, setting, NAME),
        *congestion_note(request, setting, NAME),
    ]


def fetch_line(request: CommandRequest, setting: Setting) -> Command:
    """For the destination, where the source has a server and the destination's is not known."""
    argv = [NAME, *_options(request, setting), *_operands(request)]
    return command_of(NAME, "destination", argv, _notes(request, setting, argv))
