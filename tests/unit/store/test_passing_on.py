"""`--store -`: a session's records for somebody else."""

import io
from pathlib import Path

import msgspec

from advisor.domain.records import Record
from advisor.report.ndjson import record_writer
from advisor.store.history import Store
from advisor.store.passing_on import PassingOn

from .conftest import PAIR, make_a_probe, make_a_session


def test_records_are_printed_and_gone_with_the_session() -> None:
    stream = io.StringIO()
    backend = PassingOn(record_writer(stream))
    store = Store(backend)
    records = [make_a_session("s", 1.0), make_a_probe(session="s")]
    for record in records:
        store.append(record)
    assert store.records(PAIR) == records
    assert Store(backend.another()).records(PAIR) == records
    printed = [msgspec.json.decode(line, type=Record) for line in stream.getvalue().splitlines()]
    assert printed == records
    folder = Path(backend._directory)
    assert folder.exists()
    backend._own.cleanup()
    assert not folder.exists()
    assert store.argument == "-"
