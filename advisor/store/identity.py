"""When two records are the same: when all that they say is the same. Pure."""

import hashlib
from collections.abc import Iterable

import msgspec

from advisor.domain.records import ProbeRecord, Record, RemarkRecord


def record_digest(record: Record) -> str:
    """A name that depends on the content alone, in every version that writes the record alike."""
    record = without_account(record)
    return hashlib.sha256(msgspec.json.encode(record, order="sorted")).hexdigest()[:16]


def without_account(record: Record) -> Record:
    """The record without what only the database of a shared history says."""
    if isinstance(record, RemarkRecord):
        return msgspec.structs.replace(record, by=msgspec.UNSET, importer=msgspec.UNSET)
    if isinstance(record, ProbeRecord) and record.by is not msgspec.UNSET:
        return msgspec.structs.replace(record, by=msgspec.UNSET)
    return record


def missing_from(stored: Iterable[Record], records: Iterable[Record]) -> list[Record]:
    """Those of `records` that are not among `stored`, each once, in their order."""
    known = {record_digest(record) for record in stored}
    new = []
    for record in records:
        if (digest := record_digest(record)) not in known:
            known.add(digest)
            new.append(record)
    return new
