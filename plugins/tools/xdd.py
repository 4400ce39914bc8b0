"""xdd: moves one file between two hosts over several TCP connections, both ends started by hand.

What the options do was found by running xdd 7.0.0.rc:
- A flow is a connection; N of them use N ports from the base up. 124 work, 200 hang.
- Different flow counts on the two sides hang both, so both lines are built from one record, and
  each is wrapped in `timeout`.
- A status of 0 is not success, and a longer file that is there already is not truncated.
- It asks for socket buffers of 16 MiB, always, which the kernel cuts to its maximum.
"""

import posixpath
import shlex
import shutil
from collections.abc import Mapping
from typing import Final

import msgspec

from advisor.api import (
    AVAILABLE,
    Availability,
    Command,
    CommandRequest,
    Setting,
    congestion_note,
    format_bytes,
    udt_note,
)

_BASE_PORT: Final = 40010
_MOST_FLOWS: Final = 124
_REQUEST_BYTES: Final = 4 * 2**20
_BUFFER_BYTES: Final = 16 * 2**20
_SLOW_SHARE: Final = 0.1
_SLOW_BPS: Final = 1e8
"""A tenth of the path, but no more than a slow disk gives, is the least that is waited for."""

_LEAST_TIMEOUT_S: Final = 60
_DAY_S: Final = 86400

_FLAGS: Final[Mapping[str, str]] = {
    "timeout SECONDS": "Ends the program that follows when it has run for so long.",
    "xdd": "Moves one file from end to end; both ends have to be started.",
    "-target FILE": "The file that is read on the source and written on the destination.",
    "-op read": "Reads the target.",
    "-op write": "Writes the target.",
    "-e2e issource": "Makes this end the source, which connects and sends.",
    "-e2e isdest": "Makes this end the destination, which waits for the source and receives.",
    "-e2e dest ADDRESS": (
        "The destination's address, its first port, and how many connections there are, a port "
        "for each; both ends must be given the same."
    ),
    "-reqsize BLOCKS": "Moves so many blocks with each read, send and write.",
    "-blocksize BYTES": "How large a block is; with 1, -reqsize counts bytes.",
    "-bytes BYTES": "How much to move: the size of the file.",
    "-noordering": "Lets the connections write what they received in any order.",
    "-looseordering": "Starts the reads in the file's order without waiting for each to end.",
    "-preallocate BYTES": "Reserves so much room for the file before anything is written.",
    "-minall": "Locks neither its memory nor its process in place.",
    "-stoponerror": "Stops all connections at the first error on any of them.",
    "-hb bytes": "Shows with each line of progress the bytes moved so far.",
    "-hb lf": "Ends each line of progress with a line feed.",
    "-hb SECONDS": "Shows progress every so many seconds.",
}


class _Transfer(msgspec.Struct, frozen=True, kw_only=True):
    """What the two sides must agree on. `size_bytes` is None when it was not said."""

    source: str
    destination: str
    address: str
    flows: int
    size_bytes: int | None
    timeout_s: int

    @property
    def size(self) -> str:
        return "SIZE_IN_BYTES" if self.size_bytes is None else str(self.size_bytes)

    @property
    def ports(self) -> str:
        """The ports that the destination's firewall has to let in."""
        last = _BASE_PORT + self.flows - 1
        return f"{_BASE_PORT} to {last}" if self.flows > 1 else str(_BASE_PORT)


def _paths(request: CommandRequest) -> tuple[str, str]:
    """The file to move, the largest when a directory was named, and where it goes."""
    dataset = request.dataset
    source = request.source_path or (dataset.path if dataset else None) or "/SOURCE_PATH"
    destination = request.destination_path or "/DESTINATION_PATH"
    if dataset and dataset.largest:
        return posixpath.join(source, dataset.largest), posixpath.join(destination, dataset.largest)
    if destination.endswith("/"):
        return source, posixpath.join(destination, posixpath.basename(source))
    return source, destination


def _address(request: CommandRequest) -> str:
    """The destination's IPv4 address, else its name, which may have one."""
    address = request.path.destination_address
    return request.destination_host if ":" in address else address


def _size_bytes(request: CommandRequest) -> int | None:
    """The size of the file to move, where it is known that this is the one."""
    dataset = request.dataset
    if dataset is None:
        return None
    several = bool(dataset.largest) or (dataset.files or 1) > 1
    return dataset.largest_bytes or (None if several else dataset.total_bytes)


def _timeout_s(request: CommandRequest, size_bytes: int | None) -> int:
    """How long a side may take: ample, so that it ends what hangs and never what is only slow."""
    if size_bytes is None:
        return _DAY_S
    capacity_bps = request.path.capacity_bps or _SLOW_BPS
    slow_bps = min(capacity_bps * _SLOW_SHARE, _SLOW_BPS)
    return _LEAST_TIMEOUT_S + round(size_bytes * 8 / slow_bps)


def _transfer(request: CommandRequest, setting: Setting) -> _Transfer:
    size_bytes = _size_bytes(request)
    # More flows than requests would have nothing to send.
    requests = _MOST_FLOWS if size_bytes is None else -(-size_bytes // _REQUEST_BYTES)
    source, destination = _paths(request)
    return _Transfer(
        source=source,
        destination=destination,
        address=_address(request),
        flows=max(1, min(int(setting["streams"]), requests, _MOST_FLOWS)),
        size_bytes=size_bytes,
        timeout_s=_timeout_s(request, size_bytes),
    )


def _common(transfer: _Transfer) -> list[str]:
    sizes = ["-reqsize", str(_REQUEST_BYTES), "-blocksize", "1", "-bytes", transfer.size]
    return [*sizes, "-e2e", "dest", f"{transfer.address}:{_BASE_PORT},{transfer.flows}"]


def _destination_argv(transfer: _Transfer) -> list[str]:
    target = ["-target", transfer.destination, "-op", "write", "-e2e", "isdest"]
    order = ["-noordering", "-preallocate", transfer.size, "-minall", "-stoponerror"]
    heartbeat = ["-hb", "1", "-hb", "bytes", "-hb", "lf"]
    return [*_started(transfer), *target, *_common(transfer), *order, *heartbeat]


def _source_argv(transfer: _Transfer) -> list[str]:
    target = ["-target", transfer.source, "-op", "read", "-e2e", "issource"]
    order = ["-looseordering", "-minall", "-stoponerror"]
    return [*_started(transfer), *target, *_common(transfer), *order]


def _started(transfer: _Transfer) -> list[str]:
    return ["timeout", str(transfer.timeout_s), "xdd"]


def _destination_notes(request: CommandRequest, transfer: _Transfer) -> list[str]:
    notes = [
        f"Start this side first. TCP ports {transfer.ports} must be open to the source. A file "
        f"already at {transfer.destination} has to be removed before: xdd does not shorten it. "
        "xdd makes no directories."
    ]
    if ":" in request.path.destination_address:
        notes.append(f"xdd speaks IPv4 only: {transfer.address} must have such an address.")
    return notes


def _buffer_note(request: CommandRequest, setting: Setting) -> list[str]:
    limits = (request.path.source.send_max_bytes, request.path.destination.receive_max_bytes)
    granted = min([_BUFFER_BYTES, *(limit for limit in limits if limit)])
    wanted = int(setting["buffer_bytes"])
    if wanted and 0.5 < wanted / granted < 2:
        return []
    measured = format_bytes(wanted) if wanted else "the kernel's own sizing"
    return [
        f"Measured with {measured} per socket; xdd always asks for {format_bytes(_BUFFER_BYTES)}, "
        f"of which {format_bytes(granted)} is granted, so its throughput may differ."
    ]


def _flows_note(setting: Setting, transfer: _Transfer) -> list[str]:
    if transfer.flows == setting["streams"]:
        return []
    return [f"Measured with {setting['streams']} streams; {transfer.flows} is all xdd can use."]


def _scope_notes(request: CommandRequest, transfer: _Transfer) -> list[str]:
    """What the two lines move, and what of it was not said."""
    notes = []
    dataset = request.dataset
    if dataset and (dataset.largest or (dataset.files or 1) > 1):
        notes.append(
            "xdd moves one file per pair of lines: repeat both for each file, with its path and "
            "its size after -bytes and -preallocate."
        )
    if (
        transfer.size_bytes is None
        or "/SOURCE_PATH" in transfer.source
        or not (request.destination_path)
    ):
        notes.append("Put the real paths and the exact size in place of the words in capitals.")
    return notes


def _source_notes(request: CommandRequest, setting: Setting, transfer: _Transfer) -> list[str]:
    return [
        *udt_note(request, plugin.name),
        *_scope_notes(request, transfer),
        *_flows_note(setting, transfer),
        *_buffer_note(request, setting),
        *congestion_note(request, setting, plugin.name),
        "Compare the sizes of both files afterwards: xdd may end with status 0 and a short file. "
        f"Both sides are ended after {transfer.timeout_s} s, should one of them hang.",
    ]


class Xdd:
    """Writes a pair of xdd lines, the destination's first."""

    name = "xdd"
    summary = "parallel file mover, one file from end to end over TCP"
    flags = _FLAGS

    def available(self) -> Availability:
        """Whether xdd is on the search path."""
        if shutil.which(self.name):
            return AVAILABLE
        return Availability(
            reason="xdd is not installed, and no distribution has it",
            remedy="build it on both hosts from https://github.com/bws/xdd",
        )

    def commands(self, request: CommandRequest) -> list[Command]:
        """The destination's line and the source's, for the best TCP setting; none without one."""
        setting = request.settings.get("tcp")
        if setting is None:
            return []
        transfer = _transfer(request, setting)
        first, second = _destination_argv(transfer), _source_argv(transfer)
        return [
            Command(
                tool=self.name,
                side="destination",
                argv=first,
                shell=shlex.join(first),
                note=" ".join(_destination_notes(request, transfer)),
            ),
            Command(
                tool=self.name,
                side="source",
                argv=second,
                shell=shlex.join(second),
                note=" ".join(_source_notes(request, setting, transfer)),
            ),
        ]


plugin = Xdd()
