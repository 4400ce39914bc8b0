"""The lines to print, and what is to be known beside them."""

import shlex
from typing import Final

from advisor.api.command_line import congestion_note, files_at_once, path_notes
from advisor.api.tool import CommandRequest
from advisor.api.values import Command, Setting, format_bytes

from .options import joint_options, payload_bytes, tcp_options, udt_options
from .urls import GRIDFTP_PORT, scheme_of, server_at, url_path

NAME: Final = "globus-url-copy"
_UDT_BUFFER_PACKETS: Final = 8192


def joint_line(request: CommandRequest, setting: Setting) -> Command:
    """For the setting that was measured from disk to disk with this very tool."""
    options = joint_options(setting, several=request.is_directory)
    return _line(request, options, _scheme(request), _anonymous_server_note(request))


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
    notes += _anonymous_server_note(request)
    notes += congestion_note(request, setting, NAME)
    return _line(request, options, _scheme(request), notes)


def udt_line(request: CommandRequest, setting: Setting, reasons: list[str]) -> Command:
    """For UDT as it was measured from memory to memory."""
    notes = [
        *reasons,
        "The server must allow UDT: -dc-whitelist udt,gsi,tcp. Do not add -fast, -p or -pp, which "
        "hang over UDT, nor -udt, which undoes the settings.",
        *_server_note(request, "-dc-whitelist udt,gsi,tcp", " with a host certificate"),
        *_udt_buffer_note(setting),
    ]
    return _line(request, udt_options(setting), "gsiftp", notes)


def _scheme(request: CommandRequest) -> str:
    return scheme_of(request.server_url) or "ftp"


def _line(request: CommandRequest, options: list[str], scheme: str, notes: list[str]) -> Command:
    recurse = ["-r", "-cd"] if request.is_directory else []
    argv = [NAME, "-vb", *options, *_extent(request), *recurse, *_urls(request, scheme)]
    note = " ".join([*_path_notes(request), *notes, *_kept_notes(request)])
    return Command(tool=NAME, side="source", argv=argv, shell=shlex.join(argv), note=note)


def _urls(request: CommandRequest, scheme: str) -> list[str]:
    """Source and destination. globus-url-copy takes for a directory only what ends with a slash."""
    server = server_at(request.server_url, request.destination_host, scheme)
    source = url_path(request.source)
    destination = url_path(request.destination_path or "DESTINATION_PATH")
    if request.is_directory:
        source, destination = source.rstrip("/") + "/", destination.rstrip("/") + "/"
    return [f"file://{source}", server + destination]


def _extent(request: CommandRequest) -> list[str]:
    """What of the dataset is to go, and whether it is looked at again."""
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
        return [f"The first {format_bytes(kept.first_bytes)} are there: -off goes on after them."]
    if kept and kept.files:
        files = "1 file is" if kept.files == 1 else f"{kept.files} files are"
        return [
            f"{files} there: -sync leaves out what is there in the same size, whatever is in it."
        ]
    return []


def _path_notes(request: CommandRequest) -> list[str]:
    """What the paths need to come out right."""
    notes = path_notes(request)
    if request.is_directory:
        notes.append(
            "The server drops letters beyond ASCII and line ends from file names without a word, "
            "and -r stops at a name with a double quote: rename such files before."
        )
    elif not (request.destination_path or "").isascii():
        notes.append("The server drops letters beyond ASCII from file names without a word.")
    return notes


def _server_note(request: CommandRequest, arguments: str, needs: str) -> list[str]:
    """How to run a server when none was named."""
    if request.server_url:
        return []
    path = request.path
    return [
        f"A server for it, on the destination{needs}: `globus-gridftp-server -p {GRIDFTP_PORT} "
        f"-hostname {path.destination_address} -allow-from {path.source_address} {arguments}`."
    ]


def _anonymous_server_note(request: CommandRequest) -> list[str]:
    anonymous = "-aa -anonymous-user nobody"
    return _server_note(request, anonymous, " as root (nobody must be able to write there)")


def _udt_buffer_note(setting: Setting) -> list[str]:
    wanted, kept = int(setting["buffer_bytes"]), _UDT_BUFFER_PACKETS * payload_bytes(setting)
    if 0.5 < wanted / kept < 2:
        return []
    return [
        f"Measured with a UDT buffer of {format_bytes(wanted)}; GridFTP always uses "
        f"{format_bytes(kept)} ({_UDT_BUFFER_PACKETS} packets), so its throughput may differ."
    ]
