"""The lines to print, with notes."""

from typing import Final

from advisor.api.command_line import command_of, congestion_note, files_at_once, path_notes
from advisor.api.tool import DESTINATION_PATH, CommandRequest
from advisor.api.values import Command, Setting, format_bytes

from .options import joint_options, payload_bytes, tcp_options, udt_options
from .servers import anonymous_server_note, gsi_server_note, ssh_server_note
from .urls import SSH, scheme_of, server_at, url_path

NAME: Final = "globus-url-copy"
_UDT_BUFFER_PACKETS: Final = 8192


def joint_line(request: CommandRequest, setting: Setting) -> Command:
    """For the setting that was measured from disk to disk with this very tool."""
    options = joint_options(setting, several=request.is_directory)
    # What was measured: without a server that was named, the one on GridFTP's own port.
    scheme = scheme_of(request.server_url) or "ftp"
    return _line(request, options, scheme, anonymous_server_note(request))


def tcp_line(request: CommandRequest, setting: Setting, reasons: list[str]) -> Command:
    """For streams that were measured from memory to memory."""
    streams, at_once = int(setting["streams"]), files_at_once(request, setting)
    options = tcp_options(
        at_once=at_once,
        per_file=streams // at_once,
        buffer_bytes=int(setting["buffer_bytes"]),
        several=request.is_directory,
    )
    notes = list(reasons)
    if at_once > 1:
        notes.append(
            f"{at_once} files at a time over {streams // at_once} each: the {streams} streams "
            "that were measured."
        )
    notes += ssh_server_note(request)
    notes += congestion_note(request, setting, NAME)
    return _line(request, options, scheme_of(request.server_url) or SSH, notes)


def udt_line(request: CommandRequest, setting: Setting, reasons: list[str]) -> Command:
    """For UDT as it was measured from memory to memory."""
    notes = [
        *reasons,
        "The server must allow UDT: -dc-whitelist udt,gsi,tcp. Do not add -fast, -p or -pp, which "
        "hang over UDT, nor -udt, which overrides the settings.",
        *gsi_server_note(request, "-dc-whitelist", "udt,gsi,tcp"),
        *_udt_buffer_note(setting),
    ]
    return _line(request, udt_options(setting), "gsiftp", notes)


def _line(request: CommandRequest, options: list[str], scheme: str, notes: list[str]) -> Command:
    recurse = ["-r", "-cd"] if request.is_directory else []
    argv = [NAME, "-vb", *options, *_extent(request), *recurse, *_urls(request, scheme)]
    return command_of(
        NAME, "source", argv, [*_path_notes(request, argv), *notes, *_kept_notes(request)]
    )


def _urls(request: CommandRequest, scheme: str) -> list[str]:
    """Source and destination. For globus-url-copy a directory must end with a slash."""
    server = server_at(request.server_url, request.login, scheme)
    source = url_path(request.source)
    destination = url_path(request.destination_path or DESTINATION_PATH)
    if request.is_directory:
        source, destination = source.rstrip("/") + "/", destination.rstrip("/") + "/"
    return [f"file://{source}", server + destination]


def _extent(request: CommandRequest) -> list[str]:
    """The options for what to send of the dataset and whether to verify it."""
    kept = request.kept
    options = ["-verify-checksum"] if request.verify else []
    if kept and kept.first_bytes:
        return [*options, "-off", str(kept.first_bytes)]
    if kept and kept.files:
        return [*options, "-sync", "-sync-level", "1"]
    return options


def _kept_notes(request: CommandRequest) -> list[str]:
    kept = request.kept
    if kept and kept.first_bytes:
        return [f"{format_bytes(kept.first_bytes)} are already there: -off continues after them."]
    if kept and kept.files:
        files = "1 file is" if kept.files == 1 else f"{kept.files} files are"
        return [
            f"{files} already there: -sync skips files of the same size without comparing contents."
        ]
    return []


def _path_notes(request: CommandRequest, argv: list[str]) -> list[str]:
    """Notes on names that the server does not keep."""
    notes = path_notes(request, argv)
    if request.is_directory:
        notes.append(
            "The server silently drops non-ASCII letters and line ends from file names, "
            "and -r stops at a name with a double quote: rename such files first."
        )
    elif not (request.destination_path or "").isascii():
        notes.append("The server silently drops non-ASCII letters from file names.")
    return notes


def _udt_buffer_note(setting: Setting) -> list[str]:
    wanted, kept = int(setting["buffer_bytes"]), _UDT_BUFFER_PACKETS * payload_bytes(setting)
    if 0.5 < wanted / kept < 2:
        return []
    return [
        f"Measured with a UDT buffer of {format_bytes(wanted)}; GridFTP always uses "
        f"{format_bytes(kept)} ({_UDT_BUFFER_PACKETS} packets), so its throughput may differ."
    ]
