"""Records exported for other programs and for people. Nothing here opens or closes a file."""

import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Final, Protocol

import msgspec

import advisor
from advisor.domain.measurement import Measurement
from advisor.domain.printable import json_text, printable
from advisor.domain.quantities import format_rate
from advisor.domain.records import ProbeRecord, Record
from advisor.domain.space import setting_words
from advisor.store import pscheduler
from advisor.store.importers.own_records import seal_of
from advisor.store.probdata_lines import line_of
from advisor.store.probe_rows import CSV_COLUMNS, row_of, utc_text
from advisor.store.remarks import importers_of, session_of, standing_of

# Markdown and HTML in a name, and what would end a cell.
_SPECIAL: Final = re.compile(r"([\\`|<\[\]])")


class TextWriter(Protocol):
    """What text is written to: a file, or what makes it printable first."""

    def write(self, text: str, /) -> object:
        """Write the text."""


def write_jsonl(records: Iterable[Record], stream: TextWriter) -> None:
    """All records as stored, one JSON object per line."""
    for record in records:
        stream.write(json_text(msgspec.json.encode(record)) + "\n")


def write_sealed(records: Sequence[Record], program: str) -> bytes:
    """Records as a compressed file that is only read if nothing of it was changed.

    `program`: what writes it, and its version.
    """
    lines = io.StringIO()
    write_jsonl(records, lines)
    body = lines.getvalue()
    # Without a time: the same records give the same file.
    return gzip.compress((seal_of(body, len(records), program) + body).encode(), mtime=0)


def write_csv(records: Iterable[Record], stream: TextWriter) -> None:
    """The probes, one per row as in probe_rows.py; missing values are empty.

    Those of deleted sessions are left out, and outliers have `yes` in the last column. The records
    of a pair, including its remarks, must be consecutive.
    """
    writer = csv.DictWriter(stream, CSV_COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(probe_rows(records))


def probe_rows(records: Iterable[Record]) -> Iterator[dict[str, object]]:
    """The rows of `write_csv`."""
    for probe, is_outlier in _shown(records):
        yield row_of(probe, is_outlier=is_outlier)


def write_probdata(records: Iterable[Record], stream: TextWriter) -> int:
    """The measurements as ProbData's .PROF; returns how many that format cannot hold."""
    left_out = 0
    for probe, is_outlier in _shown(records):
        line = None if is_outlier else line_of(probe)
        if line is None:
            left_out += 1
        else:
            stream.write(line + "\n")
    return left_out


def write_pscheduler(records: Iterable[Record], stream: TextWriter) -> int:
    """The probes as throughput results of pScheduler, failures too; see pscheduler.py.

    Returns how many that format cannot hold. Selected as for `write_probdata`.
    """
    left_out = 0
    for probe, is_outlier in _shown(records):
        line = None if is_outlier else pscheduler.line_of(probe, advisor.__version__)
        if line is None:
            left_out += 1
        else:
            stream.write(json_text(line.encode()) + "\n")
    return left_out


def write_markdown(records: Iterable[Record], stream: TextWriter) -> None:
    """The probes as a Markdown table, rounded for reading; selected as for `write_csv`."""
    stream.write("| recorded | pair | subject | setting | throughput | retransmits | origin |\n")
    stream.write("|---|---|---|---|---:|---:|---|\n")
    for probe, is_outlier in _shown(records):
        stream.write(f"| {' | '.join(map(_cell, _cells(probe, is_outlier)))} |\n")


def _cell(text: str) -> str:
    """A text in a cell of a Markdown table, on one line."""
    return _SPECIAL.sub(r"\\\1", printable(text.replace("\n", " ")))


def _shown(records: Iterable[Record]) -> Iterator[tuple[ProbeRecord, bool]]:
    """The probes that were not deleted, each with a flag for outliers."""
    for _, of_pair in groupby(records, lambda record: record.pair):
        kept = list(of_pair)
        said = standing_of(kept)
        for record in kept:
            session = session_of(record)
            if isinstance(record, ProbeRecord) and not said.hides(session, importers_of(record)):
                yield record, not said.counts(session, record.recorded_s, importers_of(record))


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
