"""Which remarks are in force, and which records therefore count. Pure."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.records import AdviceRecord, ProbeRecord, Record, RemarkRecord

OWN_ORIGIN: Final = "advisor"
_IMPORTED: Final = "import:"
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


_Mark = tuple[str, str, str, float | None]
"""Kind, session, importer, and the time of a probe; None for the session."""


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """The remarks in force on one pair, by session; probes by session and time.

    `deleted_by`: the account that did it, where that is known. `of_importers`: marks that are only
    about what one account has imported. The `importers` of the questions are the accounts that have
    imported a session, or a probe, see `importers_of`.
    """

    deleted: frozenset[str]
    outliers: frozenset[str]
    outlier_probes: frozenset[tuple[str, float]]
    notes: dict[str, list[Note]]
    deleted_by: dict[str, str] = {}
    of_importers: frozenset[_Mark] = frozenset()

    def hides(self, session: str, importers: Sequence[str] = ()) -> bool:
        """Whether all of it is deleted."""
        return session in self.deleted or self._is_marked("deleted", session, importers)

    def discredits(self, session: str, importers: Sequence[str] = ()) -> bool:
        """Whether nothing of it is a result."""
        return session in self.outliers or self._is_marked("outlier", session, importers)

    def counts(self, session: str, recorded_s: float, importers: Sequence[str] = ()) -> bool:
        """Whether a probe counts as a result."""
        return not (
            self.hides(session, importers)
            or self.discredits(session, importers)
            or (session, recorded_s) in self.outlier_probes
            or self._is_marked("outlier", session, importers, recorded_s)
        )

    def _is_marked(
        self, kind: str, session: str, importers: Sequence[str], probe_s: float | None = None
    ) -> bool:
        """Whether what each of them has imported is marked."""
        if not self.of_importers or not importers:
            return False
        return all((kind, session, one, probe_s) in self.of_importers for one in importers)

    @property
    def marked_probes(self) -> list[tuple[str, float]]:
        """The single probes that are marked as outliers, by session and time."""
        marked = {(session, at_s) for _, session, _, at_s in self.of_importers if at_s is not None}
        return sorted(self.outlier_probes | marked)

    @property
    def is_empty(self) -> bool:
        """Whether everything counts."""
        return not (self.deleted or self.outliers or self.outlier_probes or self.of_importers)


def standing(remarks: Iterable[RemarkRecord]) -> Standing:
    """The remarks in force on one pair, from all in the order they were stored.

    Of several remarks of one kind on the same thing the last counts; notes with different texts are
    separate. Those about one importer are separate too, until all on the thing are withdrawn.
    """
    last: dict[tuple[str, float | None, str, str], dict[str | None, RemarkRecord]] = {}
    for remark in remarks:
        text = remark.text if remark.kind == "note" else ""
        key = (remark.session, remark.probe_s, remark.kind, text)
        importer = None if remark.importer is msgspec.UNSET else remark.importer
        # Removed first, so that a repeated remark comes after those made in between.
        by_importer = last.pop(key, {})
        if remark.on:
            by_importer[importer] = remark
        elif importer is None:
            continue
        else:
            by_importer.pop(importer, None)
        last[key] = by_importer
    return _in_force([one for by_importer in last.values() for one in by_importer.values()])


def _in_force(remarks: Sequence[RemarkRecord]) -> Standing:
    notes: dict[str, list[Note]] = defaultdict(list)
    limited: set[_Mark] = set()
    deleted: list[RemarkRecord] = []
    marked: list[RemarkRecord] = []
    for r in remarks:
        if r.kind == "note":
            notes[r.session].append(Note(r.recorded_s, r.text, r.probe_s, r.by or ""))
        elif r.importer is not msgspec.UNSET:
            limited.add((r.kind, r.session, r.importer, r.probe_s))
        else:
            (deleted if r.kind == "deleted" else marked).append(r)
    return Standing(
        deleted=frozenset(r.session for r in deleted),
        outliers=frozenset(r.session for r in marked if r.probe_s is None),
        outlier_probes=frozenset((r.session, r.probe_s) for r in marked if r.probe_s is not None),
        notes=dict(notes),
        deleted_by={r.session: r.by for r in deleted if r.by},
        of_importers=frozenset(limited),
    )


def standing_of(records: Iterable[Record]) -> Standing:
    """The remarks in force among one pair's records."""
    return standing(r for r in records if isinstance(r, RemarkRecord))


def counting(records: list[Record]) -> list[ProbeRecord]:
    """The probes among one pair's records that count as results."""
    said = standing_of(records)
    probes = [r for r in records if isinstance(r, ProbeRecord)]
    return [p for p in probes if said.counts(session_of(p), p.recorded_s, importers_of(p))]


def visible(records: list[Record]) -> list[Record]:
    """One pair's records without those of deleted sessions."""
    said = standing_of(records)
    if said.is_empty:
        return records
    return [r for r in records if not said.hides(session_of(r), importers_of(r))]


def importers_of(record: Record) -> list[str]:
    """The account that has imported a probe, "" where it is not said; none of another record."""
    if isinstance(record, ProbeRecord) and record.origin != OWN_ORIGIN:
        return [record.by or ""]
    return []


def is_import_session(session: str) -> bool:
    """Whether it has the name of a session of imported probes, as of `session_of`."""
    return session.startswith(_IMPORTED)


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
    return f"{_IMPORTED}{date:%Y%m%d}-{tag}"
