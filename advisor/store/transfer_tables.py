"""CSV files of recorded file transfers, as the HARP papers and GridFTP studies published them.

One line per transfer, under one of two headers, recognised by their names regardless of case and
order:

| meaning | gridftp-grids | parallel-streams |
|---|---|---|
| mean file size in bytes, and number of files | FileSize, FileCount | FileSize, FileNumbers |
| link, in bit/s or Mbit/s; RTT in s | Bandwidth, RTT | Bandwidth, RTT |
| socket buffer, in bytes or MiB | BufferSize | BufferSize |
| setting | Concurrency, Parallelism, Pipelining | CC, P, PP |
| the server's fast mode | Fast | FAST |
| 2^20 bit/s, whatever its name; seconds | Throughput, Duration | Throughput, TransferDuration |
| when, and between which hosts | Date, Time, Source, Destination | Source, Destination |
| purpose | Note | Note |

An empty field and `na` mean unknown. The throughput is recomputed from size × number ÷ duration
where these are known.
"""

import csv
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, TextIO

import msgspec

from advisor.domain.quantities import format_bytes

_FIELDS: Final = {
    "filesize": "size",
    "filecount": "count",
    "filenumbers": "count",
    "bandwidth": "bandwidth",
    "rtt": "rtt",
    "buffersize": "buffer",
    "concurrency": "concurrency",
    "cc": "concurrency",
    "parallelism": "parallelism",
    "p": "parallelism",
    "pipelining": "pipelining",
    "pp": "pipelining",
    "fast": "fast",
    "throughput": "throughput",
    "duration": "duration",
    "transferduration": "duration",
    "date": "date",
    "time": "time",
    "source": "source",
    "destination": "destination",
    "note": "note",
}
_NEEDED: Final = {"size", "throughput"}
_SETTING: Final = {"concurrency", "parallelism", "pipelining"}
_UNKNOWN: Final = {"", "na", "n/a", "nan"}
_TIME_OF_DAY: Final = re.compile(r"([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d*)?)?")

_MIBIT: Final = 2**20
# No studied hosts have 1 Tbit/s, which would be 1e6 in Mbit/s, or less than 1 Mbit/s, in bit/s.
_LEAST_BIT_PER_S: Final = 1e6
# No kernel gives a socket less than this; smaller values were written in MiB.
_LEAST_BUFFER_BYTES: Final = 1024
_ROUNDING: Final = 0.01
# Beyond any size, rate, duration and number of files; larger values come from a damaged line.
_GREATEST: Final = 2.0**62
_MOST: Final = 2**31
_LONGEST_TEXT: Final = 128
_FIRST: Final = 3
_LONGEST_LINE: Final = 2**20
_LONGEST_FILE: Final = 100 * 2**20


class _LeftOutError(Exception):
    """A line is not imported; the message says why."""


class TransferRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One transfer of files of `file_bytes` each; None and "" where a figure is not known.

    `bandwidth_bps`: of the link. `buffer_bytes`: of each socket. `pipelining`: as written, in some
    files counted from 0. `fast`: the server's fast mode, as written. `throughput_bps`, `elapsed_s`:
    above zero. `recorded`, `time`: the date and the time of day, as written.
    """

    file_bytes: float
    file_count: int | None
    bandwidth_bps: float | None
    rtt_s: float | None
    buffer_bytes: float | None
    concurrency: int | None
    parallelism: int | None
    pipelining: int | None
    fast: str
    throughput_bps: float
    elapsed_s: float
    source: str
    destination: str
    recorded: str
    note: str
    time: str = ""


class TransferTable(msgspec.Struct, frozen=True, kw_only=True):
    """The transfers of a file in file order, which is assumed to be the order of time.

    `repaired`, `left_out`: number of lines by kind of repair or reason for omission;
    `first_left_out`: the numbers of the first omitted lines.
    """

    rows: list[TransferRow]
    repaired: dict[str, int]
    left_out: dict[str, int]
    first_left_out: dict[str, list[int]] = {}


def read_transfer_table(path: Path) -> TransferTable:
    """The transfers in a file.

    Raises ValueError with one sentence for a file that has none or is longer than 100 MiB, OSError
    if it cannot be read.
    """
    if path.is_dir():
        raise ValueError(f"'{path}' is a directory: name a CSV file of transfers in it")
    if path.stat().st_size > _LONGEST_FILE:
        raise _too_long(path)
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        table = transfer_table(stream, path)
    if not table.rows:
        reasons = ", ".join(f"{count} {reason}" for reason, count in table.left_out.items())
        raise ValueError(
            f"'{path}' has no usable transfer ({reasons or 'nothing follows its header'}): "
            "fix it or name another file"
        )
    return table


def transfer_table(stream: TextIO, path: Path) -> TransferTable:
    """The transfers in an open file, possibly none. Raises ValueError as above."""
    records = _records(stream, path)
    _, header = next(records, (0, None))
    if header is None:
        raise ValueError(f"'{path}' is empty: name a CSV file of transfers")
    if any("\0" in field for field in header):
        raise ValueError(f"'{path}' is not text: save it as CSV in UTF-8, or name another file")
    columns = _columns(header)
    if columns is None:
        raise ValueError(
            f"'{path}' is not a table of transfers: it needs the columns FileSize, Throughput and "
            "one of Concurrency, Parallelism and Pipelining"
        )
    return _read(records, columns)


def is_header(line: str) -> bool:
    """Whether a table of transfers may start with this line."""
    try:
        return _columns(next(csv.reader([line]), [])) is not None
    except csv.Error:
        return False


def pipelining_from_one(alike: Sequence[TransferRow]) -> Sequence[TransferRow]:
    """Transfers recorded by one study, with pipelining increased by one if counted from 0.

    A pipelining of 1 sends nothing ahead.
    """
    if not any(row.pipelining == 0 for row in alike):
        return alike
    return [
        row
        if row.pipelining is None
        else msgspec.structs.replace(row, pipelining=row.pipelining + 1)
        for row in alike
    ]


def _records(stream: TextIO, path: Path) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line that is not blank.

    One empty field for a line that cannot be parsed.
    """
    reader = csv.reader(_lines(stream, path))
    while True:
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error:
            fields = [""]
        if fields:
            yield reader.line_num, fields


def _lines(stream: TextIO, path: Path) -> Iterator[str]:
    # Counted while reading, because the size of a pipe is not known; in pieces, because a file
    # without line ends would be read as a whole.
    read = 0
    while line := stream.readline(_LONGEST_LINE):
        read += len(line)
        if read > _LONGEST_FILE:
            raise _too_long(path)
        yield line


def _too_long(path: Path) -> ValueError:
    return ValueError(
        f"'{path}' is longer than {format_bytes(_LONGEST_FILE)}: cut it into smaller files"
    )


def _columns(fields: Sequence[str]) -> dict[str, int] | None:
    """The column of each field, if this is a header of either kind; the first of duplicates."""
    found: dict[str, int] = {}
    for place, name in enumerate(fields):
        meaning = _FIELDS.get("".join(filter(str.isalnum, name.casefold())))
        if meaning is not None:
            found.setdefault(meaning, place)
    return found if found.keys() >= _NEEDED and found.keys() & _SETTING else None


def _read(records: Iterator[tuple[int, list[str]]], columns: dict[str, int]) -> TransferTable:
    rows: list[TransferRow] = []
    repaired: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    first: dict[str, list[int]] = defaultdict(list)

    def leave_out(number: int, reason: str) -> None:
        left_out[reason] += 1
        if left_out[reason] <= _FIRST:
            first[reason].append(number)

    for number, fields in records:
        named = {name: fields[at] for name, at in columns.items() if at < len(fields)}
        try:
            row, repairs = _row(named)
        except _LeftOutError as error:
            leave_out(number, str(error))
        except ValueError:
            # Files were concatenated, perhaps of different kinds.
            if again := _columns(fields):
                columns = again
                repaired["headers between the lines"] += 1
            else:
                leave_out(number, "unreadable")
        else:
            rows.append(row)
            repaired.update(repairs)
    return TransferTable(
        rows=rows,
        repaired=dict(repaired),
        left_out=dict(left_out),
        first_left_out=dict(first),
    )


def _row(named: Mapping[str, str]) -> tuple[TransferRow, list[str]]:
    """A line's transfer, and its repairs.

    Raises ValueError for an invalid figure, _LeftOutError with the reason if it is not imported.
    """
    repairs: list[str] = []
    size = _number(named.get("size", ""))
    if not size:
        raise ValueError("no size")
    count = _whole(named.get("count", ""), 0) or None
    rate_bps, elapsed_s = _rate(named, size * count if count else None, repairs)
    bandwidth_bps = _bandwidth_bps(named, repairs)
    if bandwidth_bps is not None and rate_bps > bandwidth_bps:
        raise _LeftOutError("faster than the link")
    if (time := named.get("time", "").strip()) and not _TIME_OF_DAY.fullmatch(time):
        repairs.append("damaged times of day, replaced by the order of the lines")
    row = TransferRow(
        file_bytes=size,
        file_count=count,
        bandwidth_bps=bandwidth_bps,
        rtt_s=_fact(named, "rtt"),
        buffer_bytes=_buffer_bytes(named, repairs),
        concurrency=_whole(named.get("concurrency", ""), 1),
        parallelism=_whole(named.get("parallelism", ""), 1),
        pipelining=_whole(named.get("pipelining", ""), 0),
        fast=_text(named, "fast"),
        throughput_bps=rate_bps,
        elapsed_s=elapsed_s,
        source=_text(named, "source"),
        destination=_text(named, "destination"),
        recorded=_text(named, "date"),
        note=_text(named, "note"),
        time=_text(named, "time"),
    )
    return row, repairs


def _rate(
    named: Mapping[str, str], total_bytes: float | None, repairs: list[str]
) -> tuple[float, float]:
    """Throughput in bit/s and duration in seconds, both above zero."""
    mibit_per_s = _number(named.get("throughput", ""))
    elapsed_s = _number(named.get("duration", ""))
    if mibit_per_s == 0:
        raise _LeftOutError("no throughput")
    rate_bps = mibit_per_s * _MIBIT if mibit_per_s else None
    if total_bytes and elapsed_s:
        worked_out_bps = total_bytes * 8 / elapsed_s
        if rate_bps is None:
            repairs.append("throughputs computed from size and duration")
        elif abs(worked_out_bps / rate_bps - 1) > _ROUNDING:
            repairs.append("throughputs that are not size over duration, recomputed")
        rate_bps = worked_out_bps
    elif rate_bps is None:
        raise _LeftOutError("no throughput")
    elif not elapsed_s:
        if total_bytes is None:
            raise _LeftOutError("neither a duration nor a number of files")
        elapsed_s = total_bytes * 8 / rate_bps
        repairs.append("durations computed from size and throughput")
    if not (0 < rate_bps < math.inf and 0 < elapsed_s < math.inf):
        raise ValueError("outside the range of numbers")
    return rate_bps, elapsed_s


def _bandwidth_bps(named: Mapping[str, str], repairs: list[str]) -> float | None:
    bandwidth = _fact(named, "bandwidth")
    if bandwidth is None or bandwidth >= _LEAST_BIT_PER_S:
        return bandwidth
    repairs.append("bandwidths in Mbit/s")
    return bandwidth * 1e6


def _buffer_bytes(named: Mapping[str, str], repairs: list[str]) -> float | None:
    buffer = _fact(named, "buffer")
    if buffer is None or buffer >= _LEAST_BUFFER_BYTES:
        return buffer
    repairs.append("buffers in MiB")
    return buffer * 2**20


def _fact(named: Mapping[str, str], name: str) -> float | None:
    """An optional figure above zero; None if it is damaged."""
    try:
        return _number(named.get(name, "")) or None
    except ValueError:
        return None


def _number(text: str) -> float | None:
    """At least zero; None where it is not known."""
    if text.strip().casefold() in _UNKNOWN:
        return None
    value = float(text)
    if not 0 <= value < _GREATEST:
        raise ValueError(f"{text} is not a size, rate or duration")
    return value


def _whole(text: str, least: int) -> int | None:
    """A number of files or a parameter of the setting; None where it is not known."""
    value = _number(text)
    if value is None:
        return None
    if value != int(value) or not least <= value <= _MOST:
        raise ValueError(f"{text} is not a count")
    return int(value)


def _text(named: Mapping[str, str], name: str) -> str:
    return _clean(named.get(name, ""))


# The same few names occur in every line.
@lru_cache(maxsize=1024)
def _clean(text: str) -> str:
    """A name as written, without characters that would move a terminal's cursor."""
    shown = "".join(filter(str.isprintable, text)).strip()[:_LONGEST_TEXT]
    return "" if shown.casefold() in _UNKNOWN else shown
