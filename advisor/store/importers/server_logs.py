"""Logs of GridFTP servers, one line per file: from lines to records of transfers.

The two formats differ in how a line is parsed (gridftp_log.py, gridftp_usage.py). What they share
is here: which files are imported, and the record of a transfer (models/log_transfers.py reassembles
the files). The log contains neither pipelining nor the path's RTT.

`BUFFER` is not imported. Without -tcp-bs it is the socket's buffer when the connection was made,
before the kernel let it grow, and the server reports the receive buffer of a sending socket and
vice versa.
"""

import math
from calendar import timegm
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.models.log_transfers import LoggedFile, LoggedTransfer, LogTransfers, Movement, Place
from advisor.store.importers.entries import (
    REFUSALS,
    BadEntry,
    RefusedError,
    identity,
    pair_of,
    require_long,
    whole_transfer,
)
from advisor.traits import imported_subject

# No transfer of one file takes longer: a date is damaged.
_LONGEST_S: Final = 30 * 24 * 3600.0
_MOST: Final = 2**62
_MOST_STREAMS: Final = 2**16
_SENDS: Final = {"RETR": False, "ERET": False, "STOR": True, "ESTO": True}
_DONE: Final = 226
_UNKNOWN_ADDRESSES: Final = {"", "0.0.0.0", "::"}
_TIME_DIGITS: Final = 14
_LINES_BETWEEN_LOOKS: Final = 10_000

Parse = Callable[[str, Place], LoggedFile | None]
Taken = tuple[Place, ProbeRecord | BadEntry]


class ServerLog:
    """Logs of one format, in order of their numbers: transfers continue from one to the next.

    `parse` parses a line: None for one to skip, one of REFUSALS for one that is not imported.
    `pair` replaces that of the lines.
    """

    def __init__(self, parse: Parse, origin: str, pair: Pair | None) -> None:
        self._parse = parse
        self._origin = origin
        self._pair = pair
        self._transfers = LogTransfers()

    def take(self, log: str, lines: Iterable[str]) -> Iterator[Taken]:
        """The transfers known to be complete, and the lines that are not imported."""
        until_s = -math.inf
        for number, line in enumerate(lines, 1):
            place = (log, number)
            try:
                file = self._parse(line, place)
                if file is None:
                    continue
                if not self._transfers.add(file):
                    raise RefusedError("the same line was read before")
                until_s = file.end_s
            except REFUSALS as refused:
                yield place, BadEntry.about(f"line {number}", refused)
            if number % _LINES_BETWEEN_LOOKS == 0:
                yield from self._records(self._transfers.ended(until_s))

    def rest(self) -> Iterator[Taken]:
        """The remaining transfers after all logs were read."""
        yield from self._records(self._transfers.rest())

    def _records(self, transfers: Iterable[LoggedTransfer]) -> Iterator[Taken]:
        for transfer in transfers:
            try:
                yield transfer.place, _record(transfer, self._origin, self._pair)
            except REFUSALS as refused:
                yield transfer.place, BadEntry.about(f"line {transfer.place[1]}", refused)


def logged_file(
    movement: Movement,
    *,
    code: str,
    stripes: str,
    name: str,
    size: str,
    start: str,
    end: str,
    retransmits: str,
    place: Place,
) -> LoggedFile:
    """A file from the fields of a line. Raises RefusedError if it is not to be imported."""
    if int(code) != _DONE:
        raise RefusedError(f"it failed: its code is not {_DONE}")
    size_bytes, start_s, end_s = int(size), time_of(start), time_of(end)
    if size_bytes == 0:
        raise RefusedError("no bytes were moved")
    if int(stripes) > 1:
        raise RefusedError("several hosts of a striped server moved it: its own part is unknown")
    if end_s < start_s:
        raise RefusedError("it ends before it starts")
    if end_s - start_s > _LONGEST_S or size_bytes > _MOST:
        raise RefusedError("its dates or its bytes exceed all limits")
    if not 1 <= movement.streams <= _MOST_STREAMS:
        raise RefusedError("its number of streams is out of range")
    # The receiver's retransmits are not of the data.
    known = retransmits if not movement.received else ""
    counts = [int(count) for count in known.split(",") if count]
    if sum(counts) > _MOST:
        raise RefusedError("its number of retransmits exceeds all limits")
    return LoggedFile(
        movement=movement,
        name=name,
        size_bytes=size_bytes,
        start_s=start_s,
        end_s=end_s,
        retransmits=sum(counts) if known else None,
        place=place,
    )


def is_received(kind: str) -> bool:
    """Whether the server received the file (STOR, ESTO). Raises RefusedError for non-files."""
    try:
        return _SENDS[kind]
    except KeyError:
        raise RefusedError("it is a listing or another command, not a file") from None


def time_of(text: str) -> float:
    """Unix time of `YYYYMMDDhhmmss.µs`, which servers write in UTC.

    The part after the point is a number of microseconds; old servers omitted its leading zeros.
    Raises RefusedError.
    """
    second, micros = int(text[12:14]), text[_TIME_DIGITS + 1 :]
    if second > 60:
        raise RefusedError("its date is invalid")
    return _minute_s(text[:12]) + second + (int(micros) / 1e6 if micros else 0.0)


@lru_cache(maxsize=4096)
def _minute_s(text: str) -> int:
    year, month, day, hour, minute = (
        int(text[:4]),
        *(int(text[at : at + 2]) for at in (4, 6, 8, 10)),
    )
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31 and hour <= 23 and minute <= 59):
        raise RefusedError("its date is invalid")
    return timegm((year, month, day, hour, minute, 0))


def _record(transfer: LoggedTransfer, origin: str, pair: Pair | None) -> ProbeRecord:
    require_long(transfer.elapsed_s)
    movement = transfer.movement
    rate_bps = transfer.total_bytes * 8 / transfer.elapsed_s
    return ProbeRecord(
        pair=pair or _pair(movement),
        subject=imported_subject(origin),
        setting={"concurrency": transfer.concurrency, "parallelism": movement.streams},
        result=msgspec.structs.replace(
            whole_transfer(rate_bps, transfer.total_bytes, transfer.elapsed_s),
            retransmits=transfer.retransmits,
        ),
        recorded_s=transfer.end_s,
        # By its start: when read again after more of it was logged, it is the same transfer.
        session=identity(f"{origin} {tuple(movement)} {transfer.start_s:.6f}"),
        origin=origin,
        file_bytes=transfer.total_bytes / transfer.files,
        files=transfer.files,
    )


def _pair(movement: Movement) -> Pair:
    ends = (movement.peer, movement.host) if movement.received else (movement.host, movement.peer)
    if _UNKNOWN_ADDRESSES.intersection(ends):
        raise RefusedError("it does not say which hosts it was between: name them with --pair")
    return pair_of(*ends)
