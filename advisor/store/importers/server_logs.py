"""What GridFTP servers leave behind, a line for every file: from lines to records of transfers.

Two formats differ in how a line is read (gridftp_log.py, gridftp_usage.py). What they have in
common is here: which files are taken, and what is said of a transfer (models/log_transfers.py puts
the files together). Pipelining is not logged, and neither is the path's RTT.

`BUFFER` is not taken over. Without -tcp-bs it is what the socket had when the connection was made,
before the kernel let it grow, and the server takes the receive buffer of a socket it sends on, and
the other way round.
"""

import math
from calendar import timegm
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Final

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.models.log_transfers import LoggedFile, LoggedTransfer, LogTransfers, Movement, Place
from advisor.store.importers.entries import BadEntry, RefusedError, identity

SUBJECT: Final = "globus-url-copy"
# TCP needs about ten round trips to come up to speed. The RTT is not in a log: ten of 100 ms, as
# between continents.
SHORTEST_S: Final = 1.0
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
    """Logs of one format, told apart by their numbers: transfers go on from one to the next.

    `parse` reads a line: None for one that is passed over, RefusedError for one that is not taken.
    `pair` replaces that of the lines.
    """

    def __init__(self, parse: Parse, origin: str, pair: Pair | None) -> None:
        self._parse = parse
        self._origin = origin
        self._pair = pair
        self._transfers = LogTransfers()

    def take(self, log: str, lines: Iterable[str]) -> Iterator[Taken]:
        """The transfers that are known to be whole, and the lines that are not taken."""
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
            except RefusedError as refused:
                yield place, BadEntry(f"line {number}", str(refused))
            if number % _LINES_BETWEEN_LOOKS == 0:
                yield from self._records(self._transfers.ended(until_s))

    def rest(self) -> Iterator[Taken]:
        """The transfers that are left when all logs are read."""
        yield from self._records(self._transfers.rest())

    def _records(self, transfers: Iterable[LoggedTransfer]) -> Iterator[Taken]:
        for transfer in transfers:
            try:
                yield transfer.place, _record(transfer, self._origin, self._pair)
            except RefusedError as refused:
                yield transfer.place, BadEntry(f"line {transfer.place[1]}", str(refused))


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
    """A file from the words of a line. Raises RefusedError where it is not to be taken."""
    if int(code) != _DONE:
        raise RefusedError(f"it failed: its code is not {_DONE}")
    size_bytes, start_s, end_s = int(size), time_of(start), time_of(end)
    if size_bytes == 0:
        raise RefusedError("no bytes were moved")
    if int(stripes) > 1:
        raise RefusedError("several hosts of a striped server moved it: what one can is not told")
    if end_s < start_s:
        raise RefusedError("it ends before it begins")
    if end_s - start_s > _LONGEST_S or size_bytes > _MOST:
        raise RefusedError("its dates or its bytes are beyond all measure")
    if not 1 <= movement.streams <= _MOST_STREAMS:
        raise RefusedError("its number of streams is out of range")
    # What the receiver retransmits are not the data.
    known = retransmits and not movement.received
    return LoggedFile(
        movement=movement,
        name=name,
        size_bytes=size_bytes,
        start_s=start_s,
        end_s=end_s,
        retransmits=sum(map(int, filter(None, retransmits.split(",")))) if known else None,
        place=place,
    )


def is_received(kind: str) -> bool:
    """Whether the server got the file (STOR, ESTO). Raises RefusedError for what is no file."""
    try:
        return _SENDS[kind]
    except KeyError:
        raise RefusedError("it is a listing or another command, not a file") from None


def time_of(text: str) -> float:
    """Unix time of `YYYYMMDDhhmmss.µs`, which servers write in UTC.

    What follows the point is a number of microseconds; old servers left out its zeros. Raises
    RefusedError.
    """
    second, micros = int(text[12:14]), text[_TIME_DIGITS + 1 :]
    if second > 60:
        raise RefusedError("its date is none")
    return _minute_s(text[:12]) + second + (int(micros) / 1e6 if micros else 0.0)


@lru_cache(maxsize=4096)
def _minute_s(text: str) -> int:
    year, month, day, hour, minute = (
        int(text[:4]),
        *(int(text[at : at + 2]) for at in (4, 6, 8, 10)),
    )
    if not (year >= 1970 and 1 <= month <= 12 and 1 <= day <= 31 and hour <= 23 and minute <= 59):
        raise RefusedError("its date is none")
    return timegm((year, month, day, hour, minute, 0))


def _record(transfer: LoggedTransfer, origin: str, pair: Pair | None) -> ProbeRecord:
    if transfer.elapsed_s < SHORTEST_S:
        raise RefusedError(f"it was over in less than {SHORTEST_S:g} s: too short to tell a rate")
    movement = transfer.movement
    rate_bps = transfer.total_bytes * 8 / transfer.elapsed_s
    return ProbeRecord(
        pair=pair or _pair(movement),
        subject=SUBJECT,
        setting={"concurrency": transfer.concurrency, "parallelism": movement.streams},
        result=Measurement(
            throughput_bps=rate_bps,
            # One figure for the whole transfer: nothing is known of how it varied.
            stderr_bps=rate_bps,
            intervals=[Interval(0.0, transfer.elapsed_s, transfer.total_bytes)],
            steady_from=0,
            settled=False,
            elapsed_s=transfer.elapsed_s,
            retransmits=transfer.retransmits,
        ),
        recorded_s=transfer.end_s,
        # By its beginning: read again when more of it is logged, it is the same transfer.
        session=identity(f"{origin} {tuple(movement)} {transfer.start_s:.6f}"),
        origin=origin,
        file_bytes=transfer.total_bytes / transfer.files,
        files=transfer.files,
    )


def _pair(movement: Movement) -> Pair:
    ends = (movement.peer, movement.host) if movement.received else (movement.host, movement.peer)
    if _UNKNOWN_ADDRESSES.intersection(ends):
        raise RefusedError("it does not say which hosts it was between: name them with --pair")
    if any(len(name) > 255 for name in ends):
        raise RefusedError("a host name has more than 255 characters")
    return Pair(*ends)
