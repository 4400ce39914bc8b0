"""CSV files of recorded transfers, as the HARP papers published them (store/transfer_tables.py).

A row is one transfer. Its date is assumed to be UTC. Where the time of day is damaged or missing,
the rows of a day are placed end to end from its start; rows without a date from 1 January 1970, so
that they count as older than any dated row.
"""

import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.store.importers.entries import (
    REFUSALS,
    BadEntry,
    RefusedError,
    identity,
    whole_transfer,
)
from advisor.store.transfer_tables import TransferRow, pipelining_from_one, transfer_table
from advisor.traits import imported_subject

ORIGIN: Final = "harp-csv"
_PARAMETERS: Final = ("concurrency", "parallelism", "pipelining")
_DATES: Final = ("%Y-%m-%d", "%m/%d/%y", "%m/%d/%Y")
_TIME: Final = re.compile(r"(\d{1,2}):(\d\d):(\d\d(?:\.\d*)?)")
_UNDATED: Final = date(1970, 1, 1)


def read(text: str, path: Path, pair: Pair | None) -> Iterator[ProbeRecord | BadEntry]:
    """The transfers of a file, and the lines that are not imported. `pair` replaces theirs."""
    try:
        table = transfer_table(io.StringIO(text, newline=""), path)
    except ValueError as error:
        yield BadEntry("", str(error))
        return
    for why, count in table.left_out.items():
        first = table.first_left_out[why]
        yield from (BadEntry(f"line {number}", why) for number in first)
        if count > len(first):
            yield BadEntry("", why, count - len(first))
    if not table.rows and not table.left_out:
        yield BadEntry("", "nothing follows its header")
    for row, recorded_s in timed(_pipelining_alike(table.rows)):
        try:
            yield _record(row, recorded_s, pair)
        except REFUSALS as refused:
            yield BadEntry.about("", refused)


def _pipelining_alike(rows: Sequence[TransferRow]) -> list[TransferRow]:
    """The rows in order, with pipelining counted from 1."""
    studies: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for number, row in enumerate(rows):
        studies[row.source, row.destination, row.note, row.fast].append(number)
    counted = list(rows)
    for numbers in studies.values():
        alike = pipelining_from_one([rows[number] for number in numbers])
        for number, row in zip(numbers, alike, strict=True):
            counted[number] = row
    return counted


def timed(rows: Iterable[TransferRow]) -> Iterator[tuple[TransferRow, float]]:
    """Each row with the Unix time of its end."""
    day, until_s = None, 0.0
    for row in rows:
        recorded = _date(row.recorded)
        begins_s = datetime.combine(recorded, datetime.min.time(), UTC).timestamp()
        if recorded != day:
            day, until_s = recorded, begins_s
        if (into_day_s := _seconds(row.time)) is not None:
            until_s = begins_s + into_day_s
        until_s += row.elapsed_s
        yield row, until_s


def _date(text: str) -> date:
    for form in _DATES:
        try:
            found = datetime.strptime(text, form).replace(tzinfo=UTC).date()
        except ValueError:
            continue
        return max(found, _UNDATED)
    return _UNDATED


def _seconds(time: str) -> float | None:
    """Seconds since the start of the day, None where not known."""
    if (found := _TIME.fullmatch(time)) is None:
        return None
    hour, minute, second = int(found[1]), int(found[2]), float(found[3])
    return hour * 3600 + minute * 60 + second if hour < 24 and minute < 60 else None


def _record(row: TransferRow, recorded_s: float, pair: Pair | None) -> ProbeRecord:
    if pair is None and not (row.source and row.destination):
        raise RefusedError("it does not say which hosts it was between: name them with --pair")
    setting: Setting = {
        name: value for name in _PARAMETERS if (value := getattr(row, name)) is not None
    }
    if not setting:
        raise RefusedError("it has neither concurrency, parallelism nor pipelining")
    return ProbeRecord(
        pair=pair or Pair(row.source, row.destination),
        subject=imported_subject(ORIGIN),
        setting=setting,
        result=whole_transfer(
            row.throughput_bps, round(row.throughput_bps * row.elapsed_s / 8), row.elapsed_s
        ),
        recorded_s=recorded_s,
        session=identity(msgspec.json.encode(_content(row)).decode()),
        rtt_s=row.rtt_s,
        bandwidth_bps=row.bandwidth_bps,
        origin=ORIGIN,
        file_bytes=row.file_bytes,
        files=row.file_count,
        buffer_bytes=round(row.buffer_bytes) if row.buffer_bytes else None,
    )


def _content(row: TransferRow) -> tuple[object, ...]:
    """The fields that identify a transfer across files."""
    figures = (row.file_bytes, row.file_count, row.throughput_bps, row.elapsed_s)
    levels = (row.concurrency, row.parallelism, row.pipelining, row.fast)
    return (*figures, *levels, row.source, row.destination, row.recorded, row.time)
