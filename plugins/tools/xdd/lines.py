"""The two lines to print, with notes."""

import posixpath
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.api.command_line import (
    congestion_note,
    only_note,
    placeholder_note,
    shell_line,
    source_note,
)
from advisor.api.tool import DESTINATION_PATH, SOURCE_PATH, CommandRequest
from advisor.api.values import Command, Setting, format_bytes

from .exchange import (
    MOST_FLOWS,
    SIZE,
    USUAL_REQUEST_BYTES,
    Exchange,
    ample_s,
    ipv4_of,
    within,
)

NAME: Final = "xdd"
_BUFFER_BYTES: Final = 16 * 2**20


def joint_lines(request: CommandRequest, setting: Setting) -> list[Command]:
    """For the setting that was measured from disk to disk with this very tool."""
    return _lines(request, setting, _exchange(request, setting), [])


def tcp_lines(request: CommandRequest, setting: Setting) -> list[Command]:
    """For streams that were measured from memory to memory."""
    notes = [*_buffer_note(request, setting), *congestion_note(request, setting, NAME)]
    reasons = [*only_note(request, NAME, "tcp"), *notes]
    return _lines(request, setting, _exchange(request, setting), reasons)


def lines_for_several(requests: Sequence[CommandRequest]) -> list[Command]:
    """For streams measured over several connections, which the lines use all.

    None where one of them has no IPv4 address or no TCP setting, or the file too few requests.
    """
    settings = [request.settings.get("tcp") for request in requests]
    if any(":" in request.path.destination_address for request in requests):
        return []
    first, *others = (_exchange(r, tcp) for r, tcp in zip(requests, settings, strict=True) if tcp)
    if len(others) + 1 < len(requests):
        return []
    exchange = msgspec.structs.replace(
        first, also=tuple((other.address, other.flows) for other in others)
    )
    if exchange.total_flows > _most_flows(exchange.size_bytes, exchange.request_bytes):
        return []
    request, setting = requests[0], settings[0]
    assert setting is not None
    names = ", ".join(one.path.destination_address for one in requests)
    reasons = [
        f"The connections are spread over {names}, each by the interface that the routes choose.",
        *congestion_note(request, setting, NAME),
    ]
    return _lines(request, setting, exchange, reasons)


def _lines(
    request: CommandRequest, setting: Setting, exchange: Exchange, reasons: list[str]
) -> list[Command]:
    """The destination's line and the source's; none when there is nothing to move."""
    if exchange.size_bytes == 0:
        return []
    timeout_s = ample_s(request.path, exchange.size_bytes)
    destination = within(timeout_s, exchange.destination_argv())
    source = within(timeout_s, exchange.source_argv())
    source_notes = [
        *([] if exchange.also else source_note(request, exchange.source_argv())),
        *_missing_notes(request, exchange, source),
        *_scope_notes(request),
        *_flows_note(setting, exchange),
        *reasons,
        "Compare the sizes of both files afterwards: xdd may truncate a file with status 0. "
        f"Both sides are ended after {timeout_s} s, in case one hangs.",
    ]
    return [
        Command(
            tool=NAME,
            side="destination",
            argv=destination,
            shell=shell_line(destination),
            note=" ".join(_destination_notes(request, exchange, destination)),
        ),
        Command(
            tool=NAME,
            side="source",
            argv=source,
            shell=shell_line(source),
            note=" ".join(source_notes),
        ),
    ]


def _exchange(request: CommandRequest, setting: Setting) -> Exchange:
    size_bytes = _size_bytes(request)
    offset_bytes = request.kept.first_bytes if request.kept else 0
    if size_bytes is not None:
        size_bytes = max(0, size_bytes - offset_bytes)
    request_bytes = int(setting.get("request_bytes", USUAL_REQUEST_BYTES))
    most = _most_flows(size_bytes, request_bytes)
    source, destination = _paths(request)
    return Exchange(
        source=source,
        destination=destination,
        address=ipv4_of(request) or "DESTINATION_ADDRESS",
        flows=max(1, min(int(setting["streams"]), most)),
        size_bytes=size_bytes,
        offset_bytes=offset_bytes,
        request_bytes=request_bytes,
        direct=bool(setting.get("direct", 0)),
    )


def _most_flows(size_bytes: int | None, request_bytes: int) -> int:
    """Flows beyond the number of requests would have nothing to send."""
    return MOST_FLOWS if size_bytes is None else min(MOST_FLOWS, -(-size_bytes // request_bytes))


def _paths(request: CommandRequest) -> tuple[str, str]:
    """The file to move, the largest when a directory was named, and its destination."""
    dataset = request.dataset
    source = request.known_source or f"/{SOURCE_PATH}"
    destination = request.destination_path or f"/{DESTINATION_PATH}"
    if dataset and dataset.largest:
        return posixpath.join(source, dataset.largest), posixpath.join(destination, dataset.largest)
    if destination.endswith("/"):
        return source, posixpath.join(destination, posixpath.basename(source))
    return source, destination


def _size_bytes(request: CommandRequest) -> int | None:
    """The size of the file to move, if the file is known."""
    dataset = request.dataset
    if dataset is None:
        return None
    if dataset.largest_bytes is not None:
        return dataset.largest_bytes
    several = bool(dataset.largest) or (dataset.files or 1) > 1
    return None if several else dataset.total_bytes


def _missing_notes(request: CommandRequest, exchange: Exchange, argv: list[str]) -> list[str]:
    """Notes on what is missing in this line."""
    notes = placeholder_note(request, argv)
    if exchange.size_bytes is None:
        notes.append(f"Replace {SIZE} with the exact size of the file.")
    return notes


def _destination_notes(request: CommandRequest, exchange: Exchange, argv: list[str]) -> list[str]:
    there = exchange.destination
    if exchange.offset_bytes:
        kept = format_bytes(exchange.offset_bytes)
        before = f"The first {kept} are already at {there} and are not sent again: keep that file."
    else:
        before = (
            f"A file already at {there} must be removed first: xdd does not truncate it. xdd "
            "does not create directories."
        )
    return [
        f"Start this side first. TCP ports {exchange.ports} must be open to the source.",
        *_missing_notes(request, exchange, argv),
        before,
        *_address_notes(request, exchange),
        "A message that xdd cannot preallocate is not a failure: most builds lack it.",
    ]


def _address_notes(request: CommandRequest, exchange: Exchange) -> list[str]:
    address = exchange.address
    if ipv4_of(request) is None:
        return [f"xdd supports IPv4 only: replace {address} with the destination's address."]
    if ":" in request.path.destination_address:
        return [f"xdd supports IPv4 only: {address} must have an IPv4 address."]
    return [
        f"{address} must be this host's own address, which xdd listens on: a translated "
        "one (NAT) does not work."
    ]


def _scope_notes(request: CommandRequest) -> list[str]:
    """Notes on what the two lines move."""
    notes = []
    dataset = request.dataset
    if dataset and (dataset.largest or (dataset.files or 1) > 1):
        notes.append(
            "xdd moves one file per pair of lines: repeat both for each file, with its path and "
            "its size after -bytes and -preallocate. It cannot move empty files."
        )
    if request.verify:
        notes.append("xdd does not verify checksums: compare those of both files afterwards.")
    return notes


def _flows_note(setting: Setting, exchange: Exchange) -> list[str]:
    if exchange.flows == setting["streams"]:
        return []
    return [f"Measured with {setting['streams']} streams; {exchange.flows} is all xdd can use."]


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
