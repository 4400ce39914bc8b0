"""Which remarks are in force, and which records therefore count. Pure."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import AdviceRecord, ProbeRecord, Record, RemarkRecord

OWN_ORIGIN: Final = "advisor"
_DAY_S: Final = 24 * 3600
_LAST_DAY: Final = 2_932_896  # The end of the year 9999, the limit of datetime.


class Note(msgspec.Struct, frozen=True):
    """A user's text, its time (Unix time), and its probe; None for the session.

    `by`: whose it is, "" in a history of one user.
    """

    recorded_s: float
    text: str
    probe_s: float | None = None
    by: str = ""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The remarks in force on one pair, by session; probes by session and time.

    `deleted_by`: the account that did it, where that is known.
    """

    deleted: frozenset[str]
    outliers: frozenset[str]
    outlier_probes: frozenset[tuple[str, float]]
    notes: dict[str, list[Note]]
    deleted_by: dict[str, str] = {}

    def counts(self, session: str, recorded_s: float) -> bool:
        """Whether a probe counts as a result."""
        return (
            session not in self.deleted
            and session not in self.outliers
            and (session, recorded_s) not in self.outlier_probes
        )

    @property
    def is_empty(self) -> bool:
        """Whether everything counts."""
        return not (self.deleted or self.outliers or self.outlier_probes)


def standing(remarks: Iterable[RemarkRecord]) -> Standing:
    """The remarks in force on one pair, from all in the order they were stored.

    Of several remarks of one kind on the same thing the last counts; notes with different texts are
    separate.
    """
    last: dict[tuple[str, float | None, str, str], RemarkRecord] = {}
    for remark in remarks:
        text = remark.text if remark.kind == "note" else ""
        key = (remark.session, remark.probe_s, remark.kind, text)
        # Removed first, so that a repeated remark comes after those made in between.
        last.pop(key, None)
        if remark.on:
            last[key] = remark
    notes: dict[str, list[Note]] = defaultdict(list)
    for r in last.values():
        if r.kind == "note":
            notes[r.session].append(Note(r.recorded_s, r.text, r.probe_s, r.by or ""))
    marked = [r for r in last.values() if r.kind == "outlier"]
    return Standing(
        deleted=frozenset(r.session for r in last.values() if r.kind == "deleted"),
        outliers=frozenset(r.session for r in marked if r.probe_s is None),
        outlier_probes=frozenset((r.session, r.probe_s) for r in marked if r.probe_s is not None),
        notes=dict(notes),
        deleted_by={r.session: r.by for r in last.values() if r.kind == "deleted" and r.by},
    )


def standing_of(records: Iterable[Record]) -> Standing:
    """The remarks in force among one pair's records."""
    return standing(r for r in records if isinstance(r, RemarkRecord))


def counting(records: list[Record]) -> list[ProbeRecord]:
    """The probes among one pair's records that count as results."""
    said = standing_of(records)
    probes = [r for r in records if isinstance(r, ProbeRecord)]
    return [p for p in probes if said.counts(session_of(p), p.recorded_s)]


def visible(records: list[Record]) -> list[Record]:
    """One pair's records without those of deleted sessions."""
    deleted = standing_of(records).deleted
    return [r for r in records if session_of(r) not in deleted] if deleted else records


def session_of(record: Record) -> str:
    """The session under which a record is reviewed.

    Imported probes have one session each, derived from their content; they are reviewed together
    with all of the same pair, origin and day (UTC), as in `import:20200228-1f2e3d`.
    """
    if isinstance(record, AdviceRecord):
        return record.advice.session
    if isinstance(record, ProbeRecord) and record.origin != OWN_ORIGIN:
        return _import_session(record.pair, record.origin, int(record.recorded_s // _DAY_S))
    return record.session


@lru_cache(maxsize=4096)
def _import_session(pair: Pair, origin: str, day: int) -> str:
    text = f"{pair.source}\0{pair.destination}\0{origin}"
    tag = hashlib.sha256(text.encode()).hexdigest()[:6]
    date = datetime.fromtimestamp(min(max(day, 0), _LAST_DAY) * _DAY_S, UTC)
    return f"import:{date:%Y%m%d}-{tag}"
