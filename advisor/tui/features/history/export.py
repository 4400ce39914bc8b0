"""Stored sessions as files."""

import gzip
import io
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

from advisor.domain.records import Record
from advisor.store.completeness import in_full
from advisor.store.exporters import write_csv, write_jsonl, write_markdown
from advisor.store.flent import flent_data
from advisor.store.remarks import counting, session_of
from advisor.store.session_digests import SessionDigest
from advisor.tui.features.history.widgets.session_table import key_of
from advisor.tui.kit.dialogs.save import Format
from advisor.tui.kit.open_history import OpenHistory


def formats(history: OpenHistory, sessions: Sequence[SessionDigest]) -> list[Format]:
    """The formats in which sessions can be written."""

    def records() -> list[Record]:
        return records_of(history, sessions)

    def text(write: Callable[[Iterable[Record], TextIO], None]) -> Callable[[], bytes]:
        def data() -> bytes:
            stream = io.StringIO()
            write(records(), stream)
            return stream.getvalue().encode(errors="surrogateescape")

        return data

    return [
        Format(name="CSV, a row for each probe", suffix=".csv", data=text(write_csv)),
        Format(name="JSON, a line for each record", suffix=".jsonl", data=text(write_jsonl)),
        Format(name="Markdown table", suffix=".md", data=text(write_markdown)),
        Format(name="flent", suffix=".flent.gz", data=lambda: _flent(records())),
    ]


def records_of(history: OpenHistory, sessions: Sequence[SessionDigest]) -> list[Record]:
    """All stored records of these sessions, grouped by pair.

    Raises StoreError if a database was not reached for all of them.
    """
    wanted = {key_of(session) for session in sessions}
    pairs = dict.fromkeys(session.pair for session in sessions)
    with history.store() as store, in_full(store.kept, "the file"):
        return [
            record
            for pair in pairs
            for record in store.records(pair)
            if f"{pair}\0{session_of(record)}" in wanted
        ]


def _flent(records: list[Record]) -> bytes:
    pairs = {record.pair for record in records}
    if len(pairs) > 1:
        raise ValueError("a flent file holds one pair: mark sessions of one pair alone")
    data = flent_data(counting(records), str(next(iter(pairs), "")))
    return gzip.compress(data, mtime=0)
