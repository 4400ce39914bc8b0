"""What a record must be to be taken from somebody else: no more than an advisor records."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from advisor.domain.bounded import MOST
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.printable import is_printable
from advisor.domain.records import ProbeRecord, Record
from advisor.store.importers.entries import RefusedError

_FASTEST_BPS: Final = 1e15
_LATEST_S: Final = 2.0**33
_MOST_INTERVALS: Final = 100_000
_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_LONG: Final = b"0" * len(str(MOST))


def require_usable(record: Record, text: str = "\\") -> None:
    """Raises RefusedError for what no advisor has recorded.

    `text`: the JSON text that it was decoded from; it mostly decides faster.
    """
    if "\\" in text or not text.isprintable() or _has_long_number(text):
        _require_plain(msgspec.to_builtins(record))
    if not 0 <= record.recorded_s <= _LATEST_S:
        raise RefusedError(f"its time {record.recorded_s} is out of range")
    if isinstance(record, ProbeRecord):
        _require_usable_probe(record)


def _require_usable_probe(record: ProbeRecord) -> None:
    counts = (record.file_bytes, record.files, record.bandwidth_bps)
    if any(one is not None and one < 0 for one in counts):
        raise RefusedError("its files or its bandwidth are less than nothing")
    if isinstance(record.result, Measurement):
        result = record.result
        rates_bps = (result.throughput_bps, result.stderr_bps)
        if not all(0 <= rate_bps <= _FASTEST_BPS for rate_bps in rates_bps):
            raise RefusedError(f"its throughput {result.throughput_bps} is out of range")
        if len(result.intervals) > _MOST_INTERVALS:
            raise RefusedError(f"it has more than {_MOST_INTERVALS} intervals")
        if not _are_in_order(result.intervals):
            raise RefusedError("its intervals are not in order")


def require_in_range(record: Record) -> None:
    """Raises RefusedError for numbers that could not be read back. For what was not decoded."""
    try:
        msgspec.convert(msgspec.to_builtins(record), type(record))
    except msgspec.ValidationError as error:
        raise RefusedError(f"its numbers are out of range: {error}") from None


def _are_in_order(intervals: Sequence[Interval]) -> bool:
    """Whether each begins no earlier than the one before, and none before the first byte."""
    starts_s = [one.start_s for one in intervals]
    each_has_a_length = all(0 <= one.start_s <= one.end_s for one in intervals)
    return each_has_a_length and starts_s == sorted(starts_s)


def _has_long_number(text: str) -> bool:
    """Whether there are as many digits in a row as in MOST."""
    return _LONG in text.encode(errors="replace").translate(_ZEROS)


def _require_plain(value: Any) -> None:
    """Raises RefusedError for text that cannot be shown, and for integers without bounds."""
    match value:
        case str():
            if not is_printable(value.replace("\n", "").replace("\t", "")):
                raise RefusedError("it contains characters that cannot be shown")
        case dict():
            for name, one in value.items():
                _require_plain(name)
                _require_plain(one)
        case list() | tuple():
            for one in value:
                _require_plain(one)
        case int():
            if not -MOST <= value <= MOST:
                raise RefusedError("it contains a number of more than 62 bits")
