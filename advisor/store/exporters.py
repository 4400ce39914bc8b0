"""Records exported for other programs and for people. Nothing here opens or closes a file."""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Protocol

import msgspec

from advisor.domain.measurement import Measurement
from advisor.domain.printable import json_text, printable
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord, Record
from advisor.domain.space import setting_words
from advisor.store.remarks import session_of, standing_of

# Markdown and HTML in a name, and what would end a cell.
_SPECIAL: Final = re.compile(r"([\\`|<\[\]])")

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
)


class TextWriter(Protocol):
    """What text is written to: a file, or what makes it printable first."""

    def write(self, text: str, /) -> object:
        """Write the text."""


def write_jsonl(records: Iterable[Record], stream: TextWriter) -> None:
    """All records as stored, one JSON object per line."""
    for record in records:
        stream.write(json_text(msgspec.json.encode(record)) + "\n")


def write_csv(records: Iterable[Record], stream: TextWriter) -> None:
    """The probes, one per row under CSV_COLUMNS; missing values are empty.

    Those of deleted sessions are left out, and outliers have `yes` in the last column. The records
    of a pair, including its remarks, must be consecutive.
    """
    writer = csv.DictWriter(stream, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    for probe, is_outlier in _shown(records):
        writer.writerow(_row(probe) | {"outlier": "yes" if is_outlier else ""})


def write_markdown(records: Iterable[Record], stream: TextWriter) -> None:
    """The probes as a Markdown table, rounded for reading; selected as for `write_csv`."""
    stream.write("| recorded | pair | subject | setting | throughput | retransmits | origin |\n")
    stream.write("|---|---|---|---|---:|---:|---|\n")
    for probe, is_outlier in _shown(records):
        stream.write(f"| {' | '.join(map(_cell, _cells(probe, is_outlier)))} |\n")


def _cell(text: str) -> str:
    """A text in a cell of a Markdown table, on one line."""
    return _SPECIAL.sub(r"\\\1", printable(text.replace("\n", " ")))


def utc_text(unix_s: float) -> str:
    """A Unix time as `2026-03-01T12:00:00Z`."""
    return datetime.fromtimestamp(unix_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _shown(records: Iterable[Record]) -> Iterator[tuple[ProbeRecord, bool]]:
    """The probes that were not deleted, each with a flag for outliers."""
    for _, of_pair in groupby(records, lambda record: record.pair):
        kept = list(of_pair)
        said = standing_of(kept)
        for record in kept:
            session = session_of(record)
            if isinstance(record, ProbeRecord) and session not in said.deleted:
                yield record, not said.counts(session, record.recorded_s)


def _row(probe: ProbeRecord) -> dict[str, object]:
    names = ("streams", "buffer_bytes", "block_bytes", "mss_bytes", "congestion")
    return {
        "recorded_utc": utc_text(probe.recorded_s),
        "source": probe.pair.source,
        "destination": probe.pair.destination,
        "subject": probe.subject,
        **{name: probe.setting.get(name) for name in names},
        "setting_json": msgspec.json.encode(probe.setting, order="sorted").decode(),
        **_result_columns(probe),
        "rtt_s": probe.rtt_s,
        "mtu_bytes": probe.mtu_bytes,
        "bandwidth_bps": probe.bandwidth_bps,
        "purpose": probe.purpose,
        "stage": probe.stage,
        "label": probe.label,
        "method": probe.method,
        "seed": probe.seed,
        "session": probe.session,
        "origin": probe.origin,
    }


def _result_columns(probe: ProbeRecord) -> dict[str, object]:
    result = probe.result
    if isinstance(result, Measurement):
        return {
            "outcome": "measured",
            "throughput_bps": result.throughput_bps,
            "stderr_bps": result.stderr_bps,
            "intervals": len(result.intervals),
            "steady_intervals": len(result.intervals) - result.steady_from,
            "retransmits": result.retransmits,
            "rtt_s": result.rtt_s,
            "elapsed_s": result.elapsed_s,
        }
    return {
        "outcome": "failed",
        "elapsed_s": result.elapsed_s,
        "failure": f"{result.kind}: {result.message}",
    }


def _cells(probe: ProbeRecord, is_outlier: bool) -> list[str]:
    result = probe.result
    if isinstance(result, Measurement):
        throughput = format_rate(result.throughput_bps)
        retransmits = "" if result.retransmits is None else str(result.retransmits)
    else:
        throughput, retransmits = f"failed: {result.kind}", ""
    return [
        utc_text(probe.recorded_s),
        str(probe.pair),
        probe.subject,
        setting_words(probe.setting),
        f"{throughput} (outlier)" if is_outlier else throughput,
        retransmits,
        probe.origin,
    ]
