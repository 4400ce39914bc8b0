"""Probes as rows of a CSV table, without loss.

Each column that has a place in the record is read from there and back. `rest_json` has everything
else of the record. The remaining columns are for people, and are not read.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.hosts.decoding import decoded

# New columns go at the end: users' scripts rely on the order.
CSV_COLUMNS: Final = (
    "recorded_utc",
    "source",
    "destination",
    "subject",
    "streams",
    "buffer_bytes",
    "block_bytes",
    "mss_bytes",
    "congestion",
    "setting_json",
    "outcome",
    "throughput_bps",
    "stderr_bps",
    "intervals",
    "steady_intervals",
    "retransmits",
    "rtt_s",
    "mtu_bytes",
    "bandwidth_bps",
    "elapsed_s",
    "failure",
    "purpose",
    "stage",
    "label",
    "method",
    "seed",
    "session",
    "origin",
    "outlier",
    "rest_json",
)

_TEXTS: Final[Mapping[str, tuple[str, ...]]] = {
    "source": ("pair", "source"),
    "destination": ("pair", "destination"),
    "subject": ("subject",),
    "purpose": ("purpose",),
    "stage": ("stage",),
    "label": ("label",),
    "method": ("method",),
    "session": ("session",),
    "origin": ("origin",),
}
_FIGURES: Final[Mapping[str, tuple[str, ...]]] = {
    "setting_json": ("setting",),
    "throughput_bps": ("result", "throughput_bps"),
    "stderr_bps": ("result", "stderr_bps"),
    "retransmits": ("result", "retransmits"),
    "elapsed_s": ("result", "elapsed_s"),
    "rtt_s": ("rtt_s",),
    "mtu_bytes": ("mtu_bytes",),
    "bandwidth_bps": ("bandwidth_bps",),
    "seed": ("seed",),
}
_SHOWN: Final = ("streams", "buffer_bytes", "block_bytes", "mss_bytes", "congestion")
_LONGEST_CELL: Final = 2**24

_rest: Final = msgspec.json.Decoder(dict[str, Any])
_figures: Final = msgspec.json.Decoder(Any)


def utc_text(unix_s: float) -> str:
    """A Unix time as `2026-03-01T12:00:00Z`."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def is_header(line: str) -> bool:
    """Whether a table of probes may start with this line."""
    names = line.strip().split(",")
    return tuple(names[: len(CSV_COLUMNS)]) == CSV_COLUMNS


def row_of(probe: ProbeRecord, *, is_outlier: bool) -> dict[str, object]:
    """The cells of a probe by column; those without a value are empty."""
    record = msgspec.to_builtins(probe)
    row: dict[str, object] = {name: probe.setting.get(name) for name in _SHOWN}
    row |= {name: _taken(record, place) for name, place in _TEXTS.items()}
    row |= {name: _figure(_taken(record, place)) for name, place in _FIGURES.items()}
    rest = msgspec.json.encode(record, order="sorted").decode()
    return row | _for_people(probe) | {"outlier": "yes" if is_outlier else "", "rest_json": rest}


def _taken(record: dict[str, Any], place: tuple[str, ...]) -> Any:
    """The value at a place, removed from the record; None if there is none."""
    for name in place[:-1]:
        record = record[name]
    return record.pop(place[-1], None)


def _figure(value: Any) -> str:
    """A value as JSON: a float is read back as it was."""
    return "" if value is None else json.dumps(value, sort_keys=True, separators=(",", ":"))


def _for_people(probe: ProbeRecord) -> dict[str, object]:
    result = probe.result
    shown: dict[str, object] = {"recorded_utc": utc_text(probe.recorded_s)}
    if isinstance(result, Measurement):
        return shown | {
            "outcome": "measured",
            "intervals": len(result.intervals),
            "steady_intervals": len(result.intervals) - result.steady_from,
        }
    return shown | {"outcome": "failed", "failure": f"{result.kind}: {result.message}"}


def records_in(lines: Iterable[str]) -> Iterator[tuple[int, ProbeRecord | ValueError, bool]]:
    """Each row: its line, the probe or why it is none, and whether it is marked as an outlier."""
    rows = csv.DictReader(lines, restval="")
    try:
        while (row := _next(rows)) is not None:
            try:
                yield rows.line_num, _probe_in(row), row.get("outlier") == "yes"
            except (ValueError, TypeError, AttributeError, RecursionError) as error:
                yield rows.line_num, ValueError(f"it is no probe: {error}"), False
    except csv.Error as error:
        yield rows.line_num, ValueError(f"it is no row of a table: {error}"), False


def _next(rows: "csv.DictReader[str]") -> dict[str, str] | None:
    """The next row. Its last cell may be longer than csv allows otherwise, in this process."""
    usual = csv.field_size_limit(_LONGEST_CELL)
    try:
        return next(rows, None)
    finally:
        csv.field_size_limit(usual)


def _probe_in(row: Mapping[str, str]) -> ProbeRecord:
    """The inverse of `row_of`. Raises ValueError (also msgspec's), TypeError, AttributeError."""
    record = decoded(_rest, row["rest_json"].encode(), _LONGEST_CELL)
    for name, place in _TEXTS.items():
        _put(record, place, row[name])
    for name, place in _FIGURES.items():
        if row[name]:
            _put(record, place, decoded(_figures, row[name].encode(), _LONGEST_CELL))
    return msgspec.convert(record, ProbeRecord)


def _put(record: dict[str, Any], place: tuple[str, ...], value: object) -> None:
    for name in place[:-1]:
        record = record.setdefault(name, {})
    record[place[-1]] = value
