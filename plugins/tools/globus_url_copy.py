"""globus-url-copy: puts local files on a GridFTP server, over TCP or over UDT.

What the options do was found by running it (globus-url-copy 10.12, server 13.24, UDT driver 2.3):
- `-p` and `-fast` mean MODE E, whose streams stay open from file to file.
- UDT needs gsiftp://. With ftp:// both `-udt` and `-dcstack udt` are ignored and TCP is used.
- `-udt` overrides the settings of `-dcstack`, whichever comes first, so it is left out.
- MODE E and `-pp` over UDT hang for ever, unless (MODE E) the server runs with `-threads 1`.
- The UDT driver's `sndbuf` and `rcvbuf` are the kernel's buffers of the UDP socket, which libudt
  asks enough for by itself; small ones ruin it. libudt's own buffer, the one that is profiled,
  stays at 8192 packets.
- `fc`, in packets, does not bound the window (32 packets over 50 ms were no slower), only how far
  slow start may go. A profiled buffer of as many packets did that too, so it is set.
- The server drops bytes beyond ASCII from file names.
"""

import shlex
import shutil
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlsplit

from advisor.api import (
    AVAILABLE,
    Availability,
    Command,
    CommandRequest,
    Setting,
    bracketed,
    congestion_note,
    files_at_once,
    format_bytes,
    path_notes,
)

_GRIDFTP_PORT: Final = 2811
_TCP_BLOCK_BYTES: Final = 2**20
"""A block goes over one stream, so a large one leaves the streams of a small file idle; into files
64 KiB, 256 KiB and 16 MiB were all slower."""

_UDT_BUFFER_PACKETS: Final = 8192
_UDP_HEADER_BYTES: Final = 28

_FLAGS: Final[Mapping[str, str]] = {
    "globus-url-copy": "The GridFTP client of the Grid Community Toolkit.",
    "-vb": "Shows the bytes moved and the rate while it runs, in MB of 2^20 bytes.",
    "-fast": "Moves all data in MODE E, whose connections stay open from file to file.",
    "-p STREAMS": "Sends each file over so many TCP connections at once.",
    "-tcp-bs BYTES": (
        "Asks for socket buffers of so many bytes on the data connections; a kernel whose maximum "
        "is below grants that maximum without a word."
    ),
    "-bs BYTES": "Reads and sends the data in blocks of so many bytes, each over one connection.",
    "-pp": (
        "Sends the commands for the next files before the last is answered (pipelining), so that "
        "files do not wait a round trip for each other."
    ),
    "-cc FILES": (
        "Moves so many files at a time (concurrency), each over connections of its own as -p says."
    ),
    "-dcstack STACK": (
        "Carries the data over these network drivers on both ends: UDT with packets of mss bytes "
        "and a flow window of fc packets."
    ),
    "-r": "Copies the files in subdirectories too.",
    "-cd": "Creates the destination's directories where they are missing.",
}


def _url_path(path: str) -> str:
    """A path as an URL has it: from the root, the bytes outside the unreserved set encoded."""
    return quote("/" + path.lstrip("/"), safe="/", errors="surrogateescape")


def _urls(request: CommandRequest, server: str) -> list[str]:
    """Source and destination. globus-url-copy takes for a directory only what ends with a slash."""
    source = _url_path(request.source)
    destination = _url_path(request.destination_path or "DESTINATION_PATH")
    if request.is_directory:
        source, destination = source.rstrip("/") + "/", destination.rstrip("/") + "/"
    return [f"file://{source}", server + destination]


def _server(request: CommandRequest, scheme: str) -> str:
    """The server's URL without a path: the given one with this scheme, or GridFTP's own port."""
    if request.server_url:
        return f"{scheme}://{urlsplit(request.server_url).netloc}"
    return f"{scheme}://{bracketed(request.destination_host)}:{_GRIDFTP_PORT}"


def _given_scheme(request: CommandRequest) -> str:
    return urlsplit(request.server_url).scheme if request.server_url else ""


def _tcp_options(request: CommandRequest, setting: Setting) -> list[str]:
    streams, buffer_bytes = int(setting["streams"]), int(setting["buffer_bytes"])
    at_once = files_at_once(request, setting)
    options = ["-fast", "-p", str(streams // at_once)]
    if buffer_bytes:
        options += ["-tcp-bs", str(buffer_bytes)]
    options += ["-bs", str(_TCP_BLOCK_BYTES)]
    if request.is_directory:
        # Without -pp every file waits a round trip for the one before.
        options += ["-pp"]
    if at_once > 1:
        options += ["-cc", str(at_once)]
    return options


def _line(request: CommandRequest, options: list[str], server: str, notes: list[str]) -> Command:
    recurse = ["-r", "-cd"] if request.is_directory else []
    argv = ["globus-url-copy", "-vb", *options, *recurse, *_urls(request, server)]
    note = " ".join([*_path_notes(request), *notes])
    return Command(tool=plugin.name, side="source", argv=argv, shell=shlex.join(argv), note=note)


def _path_notes(request: CommandRequest) -> list[str]:
    """What the paths need to come out right."""
    notes = path_notes(request)
    if request.is_directory:
        notes.append(
            "The server drops letters beyond ASCII from file names without a word, and -r stops "
            "at a name with a double quote: rename such files before."
        )
    elif not (request.destination_path or "").isascii():
        notes.append("The server drops letters beyond ASCII from file names without a word.")
    return notes


def _server_note(request: CommandRequest, arguments: str, needs: str) -> list[str]:
    """How to run a server when none was named."""
    if request.server_url:
        return []
    port, path = _GRIDFTP_PORT, request.path
    return [
        f"A server for it, on the destination{needs}: `globus-gridftp-server -p {port} "
        f"-hostname {path.destination_address} -allow-from {path.source_address} {arguments}`."
    ]


def _tcp_line(request: CommandRequest, setting: Setting, reasons: list[str]) -> Command:
    scheme = _given_scheme(request) or "ftp"
    at_once = files_at_once(request, setting)
    notes = list(reasons)
    if at_once > 1:
        notes.append(
            f"{at_once} files at a time over {int(setting['streams']) // at_once} each: the "
            f"{setting['streams']} streams that were measured."
        )
    anonymous = "-aa -anonymous-user nobody"
    notes += _server_note(request, anonymous, " as root (nobody must be able to write there)")
    notes += congestion_note(request, setting, plugin.name)
    return _line(request, _tcp_options(request, setting), _server(request, scheme), notes)


def _payload_bytes(setting: Setting) -> int:
    """What libudt counts as a packet's share of its buffer."""
    return int(setting["mss_bytes"]) - _UDP_HEADER_BYTES


def _udt_stack(setting: Setting) -> str:
    packets = -(-int(setting["buffer_bytes"]) // _payload_bytes(setting))
    return f"udt:mss={setting['mss_bytes']};fc={packets}"


def _udt_buffer_note(setting: Setting) -> list[str]:
    wanted, kept = int(setting["buffer_bytes"]), _UDT_BUFFER_PACKETS * _payload_bytes(setting)
    if 0.5 < wanted / kept < 2:
        return []
    return [
        f"Measured with a UDT buffer of {format_bytes(wanted)}; GridFTP always uses "
        f"{format_bytes(kept)} ({_UDT_BUFFER_PACKETS} packets), so its throughput may differ."
    ]


def _udt_line(request: CommandRequest, setting: Setting, reasons: list[str]) -> Command:
    options = ["-bs", str(setting["block_bytes"]), "-dcstack", _udt_stack(setting)]
    notes = [
        *reasons,
        "The server must allow UDT: -dc-whitelist udt,gsi,tcp. Do not add -fast, -p or -pp, which "
        "hang over UDT, nor -udt, which undoes the settings.",
        *_server_note(request, "-dc-whitelist udt,gsi,tcp", " with a host certificate"),
        *_udt_buffer_note(setting),
    ]
    return _line(request, options, _server(request, "gsiftp"), notes)


class GlobusUrlCopy:
    """Writes globus-url-copy lines, run on the source."""

    name = "globus-url-copy"
    summary = "GridFTP client of the Grid Community Toolkit, over TCP or UDT"
    flags = _FLAGS

    def available(self) -> Availability:
        """Whether globus-url-copy is on the search path."""
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(
            reason=f"{self.name} is not installed", remedy="apt install globus-gass-copy-progs"
        )

    def commands(self, request: CommandRequest) -> list[Command]:
        """One line; two to choose from when UDT won and the server is one that ignores it.

        Without a setting for UDT or TCP there is nothing to write: no line.
        """
        tcp, udt = request.settings.get("tcp"), request.settings.get("udt")
        if request.transport != "udt" or udt is None:
            return [_tcp_line(request, tcp, [])] if tcp else []
        if _given_scheme(request) != "ftp":
            return [_udt_line(request, udt, [])]
        why = "UDT was faster, but an ftp:// server ignores it and uses TCP"
        usable = [_tcp_line(request, tcp, [f"{why}: this is the best TCP setting."])] if tcp else []
        faster = _udt_line(request, udt, [f"{why}: this needs the server to take gsiftp://."])
        return [*usable, faster]


plugin = GlobusUrlCopy()
