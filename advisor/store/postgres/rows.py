"""Records as rows of a shared history, and rows as records. Pure.

Who may write there is not trusted: a row is decoded like a line of a journal, and is a record only
if its columns say what the record says. By the columns the database decides who may write what.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair
from advisor.domain.printable import printable
from advisor.domain.records import (
    AdviceRecord,
    ClosingRecord,
    ProbeRecord,
    ProfileRecord,
    Record,
    RemarkRecord,
    SessionRecord,
)
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.store.backend import encoded
from advisor.store.identity import without_account
from advisor.store.importers.entries import RefusedError
from advisor.store.importers.usable import require_usable
from advisor.store.remarks import OWN_ORIGIN, is_import_session, session_of

IMPORT: Final = "import"
"""What the database calls imported probes."""

Takes: TypeAlias = Literal["without orders", "without requests", "everything"]

_decoder: Final[msgspec.json.Decoder[Record]] = msgspec.json.Decoder(Record)


class Row(msgspec.Struct, frozen=True):
    """A stored record. `by`: the account that wrote it, as the database knows it.

    `operates`: of what hides or discredits results, whether that account may do so with those of
    everybody.
    """

    number: int
    kind: str
    session: str
    by: str
    text: str
    operates: bool = False


def mark_of(row: Row) -> bytes:
    """What a row is known by again."""
    return hashlib.sha256(f"{row.number}\0{row.by}\0{row.text}".encode()).digest()[:16]


class Reader(msgspec.Struct, frozen=True):
    """The account that reads, and what it takes of others.

    A request could start programs when it is resumed, and advice has lines that people run.
    "without orders": those of others come without. "without requests": requests and advice of
    others are left out, as of an imported file. "everything": for who trusts all.
    """

    account: str
    takes: Takes = "without orders"


def record_of(row: Row, pair: Pair, reader: Reader) -> Record | None:
    """The record of a row of `pair`; None if it is none, or not what its columns say.

    Of other accounts only what an import would take, see Reader.
    """
    try:
        record = decoded(_decoder, row.text.encode(), LINE_LIMIT_BYTES)
        if row.by != reader.account:
            require_usable(record, row.text)
    except (BadData, RefusedError):
        return None
    if (record.pair, kind_of(record), session_of(record)) != (pair, row.kind, row.session):
        return None
    importer = "" if row.by == reader.account else printable(row.by)
    if isinstance(record, RemarkRecord):
        return _remark_of(record, row, importer)
    if isinstance(record, ProbeRecord) and row.kind == IMPORT:
        return msgspec.structs.replace(record, by=importer or msgspec.UNSET)
    if reader.takes == "everything" or row.by == reader.account:
        return record
    return without_orders(record)


def _remark_of(record: RemarkRecord, row: Row, importer: str) -> RemarkRecord:
    """With who made it. Imported probes of one day have one session, whoever imported them: there
    the results of others are hidden and discredited by operators only."""
    is_mark = record.kind in ("outlier", "deleted")
    is_limited = is_mark and is_import_session(record.session) and not row.operates
    return msgspec.structs.replace(
        record, by=printable(row.by), importer=importer if is_limited else msgspec.UNSET
    )


def is_left_out(row: Row, reader: Reader) -> bool:
    """Whether the reader takes nothing of such a row."""
    of_others = reader.takes == "without requests" and row.by != reader.account
    return of_others and row.kind in ("session", "advice")


def without_orders(record: Record) -> Record:
    """The record without what could start programs, or have people run lines."""
    if isinstance(record, AdviceRecord):
        advice = msgspec.structs.replace(record.advice, commands=[], limits=[])
        return msgspec.structs.replace(record, advice=advice)
    if isinstance(record, SessionRecord | ProfileRecord):
        return msgspec.structs.replace(record, request={})
    return record


def kind_of(record: Record) -> str:
    """What the database calls it; see `append` in migrations/0001.sql."""
    if isinstance(record, RemarkRecord):
        return record.kind
    if isinstance(record, ProbeRecord) and record.origin != OWN_ORIGIN:
        return IMPORT
    return str(record.__struct_config__.tag)


def text_of(record: Record) -> str:
    """A record as it is stored. Raises StoreError if it could not be read back.

    Without who made or imported it: that is for the database to say.
    """
    return encoded(without_account(record)).decode()


def columns_of(records: Iterable[tuple[Record, bool]]) -> list[Sequence[Any]]:
    """The arrays that `append` of the database takes; each record with whether it is new only once.

    Raises StoreError for a record that could not be read back.
    """
    rows = [_columns(record, only_new=only_new) for record, only_new in records]
    return [list(column) for column in zip(*rows, strict=True)]


def _columns(record: Record, *, only_new: bool) -> tuple[object, ...]:
    path = record.path if isinstance(record, SessionRecord | ProfileRecord) else None
    probe = record if isinstance(record, ProbeRecord) else None
    connection = Connection.of(path) if path else probe.connection if probe else None
    asked = record.request if isinstance(record, SessionRecord) else None
    measured = path or probe
    return (
        text_of(record),
        kind_of(record),
        session_of(record),
        probe.session if probe and only_new else None,
        bool(probe and probe.file_bytes is not None),
        record.recorded_s if asked else None,
        isinstance(record, ClosingRecord)
        or (isinstance(record, AdviceRecord) and not record.advice.incomplete),
        measured.rtt_s if measured else None,
        measured.bandwidth_bps if measured else None,
        hosts_of(connection) if connection else None,
    )


def hosts_of(connection: Connection) -> str | None:
    """The names and addresses of both hosts as one text; None unless all are known."""
    names = (
        connection.source_host,
        connection.source_address,
        connection.destination_host,
        connection.destination_address,
    )
    return "\n".join(names) if all(names) else None
