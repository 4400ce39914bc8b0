"""The history: all measurements and advice, by pair."""

import gzip
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from platformdirs import user_cache_path, user_data_path

from advisor.domain.connection import Connection
from advisor.domain.endpoints import Pair, is_in_lab
from advisor.domain.events import AnyEvent, PastResult
from advisor.domain.path import PathFacts
from advisor.domain.records import (
    AdviceRecord,
    ClosingRecord,
    ProbeRecord,
    Record,
    SessionRecord,
)
from advisor.domain.transfers import PastTransfer
from advisor.models.past_transfers import transfers_of
from advisor.models.similarity import likeness
from advisor.store.digest_cache import DigestCache
from advisor.store.errors import StoreError, explaining
from advisor.store.event_log import EventLog, kept_events
from advisor.store.files import make_directory, replace_file
from advisor.store.identity import missing_from
from advisor.store.journal import JournalStorage, JournalTable
from advisor.store.layout import JOURNAL, pair_directory, safe_name
from advisor.store.matching import (
    Matched,
    connections_of,
    count_words,
    faster_words,
    of_this_connection,
    of_this_rtt,
)
from advisor.store.ranking import best_results, capped, with_caution
from advisor.store.reading import bounded_lines
from advisor.store.references import References
from advisor.store.remarks import counting, standing_of
from advisor.store.session_digests import SessionDigest, session_digests
from advisor.store.stored_sessions import StoredSessions
from advisor.store.summaries import PairSummary, SimilarPair, summary

__all__ = ["PairSummary", "Past", "SessionDigest", "SimilarPair", "Store"]

_REFERENCE_CAUTION: Final = "From a reference profile shipped with the program, not measured here."
# Paths that differ by more than a factor of four in total say little about each other.
_ALIKE: Final = 0.25


class Past(NamedTuple):
    """The best result of each subject, and sentences on what was left out or included, and why."""

    results: list[PastResult]
    notes: list[str]


class Store:
    """The user's own history in `directory`, and the `references` as a fallback.

    Nothing is created before something is stored. `reference`: folders of sealed profiles. Any
    number of processes may use one directory at once; within a process, one thread at a time.
    Methods raise StoreError with a sentence when the directory cannot be read or written. Digests
    are kept in `cache`, by default in the user's cache folder.
    """

    def __init__(
        self, directory: Path, reference: Sequence[Path] = (), cache: Path | None = None
    ) -> None:
        self.directory = directory
        self._cache = cache or user_cache_path("advisor")
        self._digests = DigestCache(self._cache)
        self.references = References(tuple(reference))
        self._tables: dict[Path, JournalTable] = {}
        self._known_sessions: dict[Path, StoredSessions] = {}

    @classmethod
    def default(cls, reference: Sequence[Path] = ()) -> "Store":
        """The history in the user's data folder ($XDG_DATA_HOME, else ~/.local/share)."""
        return cls(user_data_path("advisor") / "history", reference)

    def another(self) -> "Store":
        """One more of the same history, references and cache: for another thread."""
        other = Store(self.directory, cache=self._cache)
        other.references = self.references
        return other

    def append(self, record: Record) -> None:
        """Store a record; it is on disk when this returns.

        Raises StoreFull without enough space, and StoreError if the directory cannot be written or
        the record could not be read back (a NaN, which JSON does not have).
        """
        self._table(self.directory, record.pair).insert(_document(record))

    def append_new(self, records: Iterable[ProbeRecord]) -> int:
        """Store those whose `session` is not yet stored for their pair; return their number.

        For imported records, whose session id is derived from their content: importing the same
        twice stores it once, even when two processes do so at the same time.
        """
        by_pair: dict[Pair, dict[str, ProbeRecord]] = {}
        for record in records:
            by_pair.setdefault(record.pair, {}).setdefault(record.session, record)
        return sum(self._append_new(pair, new) for pair, new in by_pair.items())

    def _append_new(self, pair: Pair, new: dict[str, ProbeRecord]) -> int:
        table = self._table(self.directory, pair)
        with table.journal.locked():
            there = self._known_sessions.setdefault(table.journal.path, StoredSessions())
            stored = there.look(table.journal.path)
            missing = [_document(r) for session, r in new.items() if session not in stored]
            if missing:
                table.insert_multiple(missing)
        return len(missing)

    def append_missing(self, records: Iterable[Record]) -> int:
        """Store those that are not stored yet, compared by their content; return their number.

        For the records of another history: importing the same twice stores it once.
        """
        by_pair: dict[Pair, list[Record]] = {}
        for record in records:
            by_pair.setdefault(record.pair, []).append(record)
        added = 0
        for pair, of_pair in by_pair.items():
            table = self._table(self.directory, pair)
            with table.journal.locked():
                new = missing_from(self.records(pair), of_pair)
                if new:
                    table.insert_multiple([_document(record) for record in new])
            added += len(new)
        return added

    def keep_raw(self, pair: Pair, session: str, name: str, data: bytes) -> Path:
        """Store a tool's output next to the pair's records, compressed; return the path.

        Replaces earlier output under the same session and name.
        """
        folder = self._raw_folder(pair, session)
        path = folder / f"{safe_name(name)}.gz"
        with explaining(path, "write"):
            make_directory(folder)
            # Without a timestamp, the same output always gives the same file.
            replace_file(path, gzip.compress(data, mtime=0))
        return path

    def event_log(self, pair: Pair, session: str) -> EventLog:
        """A listener that stores a session's events next to its pair's records."""
        return EventLog(self._raw_folder(pair, session))

    def events(self, pair: Pair, session: str) -> list[AnyEvent]:
        """The events of a session in order; empty for sessions without a log."""
        folder = self._raw_folder(pair, session)
        with explaining(folder, "read"):
            return list(kept_events(folder))

    def _raw_folder(self, pair: Pair, session: str) -> Path:
        return pair_directory(self.directory, pair) / "raw" / safe_name(session)

    def pairs(
        self, now_s: float | None = None, *, include_deleted: bool = False
    ) -> list[PairSummary]:
        """Every pair of the user's own history, the most recently used first.

        `now_s`: the Unix time that ages are relative to, by default the clock's. Pairs whose
        sessions are all deleted are included only with `include_deleted`.
        """
        now_s = time.time() if now_s is None else now_s
        found = (
            summary(*self._digests.look(journal), now_s, include_deleted=include_deleted)
            for journal in self._journals()
        )
        return sorted(filter(None, found), key=lambda s: s.last_recorded_s, reverse=True)

    def sessions(
        self, pair: Pair | None = None, *, include_deleted: bool = False
    ) -> list[SessionDigest]:
        """The sessions of a pair, or of all, the newest first.

        Imported probes form one session per pair, origin and day.
        """
        own = [pair_directory(self.directory, pair) / JOURNAL] if pair else self._journals()
        found: list[SessionDigest] = []
        for journal in own:
            digest, said, _ = self._digests.look(journal)
            found += session_digests(digest, said, include_deleted=include_deleted)
        return sorted(found, key=lambda s: s.began_s, reverse=True)

    def similar(
        self,
        pair: Pair,
        rtt_s: float | None,
        bandwidth_bps: float | None,
        limit: int = 5,
        now_s: float | None = None,
    ) -> list[SimilarPair]:
        """The best results of other pairs with a similar path, the most similar first.

        At most `limit`; none without an RTT. `now_s` as for `pairs`.
        """
        found = []
        for other in self.pairs(now_s):
            alike = likeness(rtt_s, bandwidth_bps, other.rtt_s, other.bandwidth_bps)
            if other.pair != pair and other.best and other.rtt_s and (alike or 0) >= _ALIKE:
                found.append(
                    SimilarPair(
                        pair=other.pair,
                        likeness=alike or 0.0,
                        rtt_s=other.rtt_s,
                        bandwidth_bps=other.bandwidth_bps,
                        best=other.best,
                    )
                )
        return sorted(found, key=lambda s: s.likeness, reverse=True)[:limit]

    def stored_pairs(self) -> list[Pair]:
        """Every pair of the user's own history that has any record."""
        looked = (self._digests.look(journal)[0].pair for journal in self._journals())
        return [pair for pair in looked if pair is not None]

    def records(self, pair: Pair) -> list[Record]:
        """All of the user's own records of a pair, in the order they were stored."""
        return _typed(self._table(self.directory, pair))[0]

    def skipped(self, pair: Pair) -> int:
        """The number of lines of a pair's journal that this version cannot read as records."""
        return _typed(self._table(self.directory, pair))[1]

    def probes(self, pair: Pair) -> list[ProbeRecord]:
        """The user's own probes of a pair, in the order they were stored."""
        return [r for r in self.records(pair) if isinstance(r, ProbeRecord)]

    def prior(self, pair: Pair, path: PathFacts | None = None) -> list[ProbeRecord]:
        """The probes to learn from: the user's own, or a reference's if there are none.

        Outliers and deleted sessions do not count, here and in `past`. With `path` only those that
        apply to it, under any name of its hosts: see matching.py.
        """
        found = self._own(pair, path).probes
        return found or of_this_connection(self._reference_probes(pair), path, {}).probes

    def _own(self, pair: Pair, path: PathFacts | None) -> Matched:
        records = self.records(pair)
        for other in self._other_names(pair, path):
            records += self.records(other)
        return of_this_connection(list(counting(records)), path, connections_of(records))

    def _other_names(self, pair: Pair, path: PathFacts | None) -> list[Pair]:
        """The pairs that are the hosts of `path` under other names."""
        # All labs have the same addresses and host name.
        if path is None or is_in_lab(pair.destination):
            return []
        present = Connection.of(path)
        found = []
        for journal in self._journals():
            other = self._digests.look(journal)[0]
            if other.pair in (None, pair) or is_in_lab(other.pair.destination):
                continue
            newest = max(other.sessions, key=lambda facts: facts.last_s, default=None)
            if newest and newest.connection and newest.connection.joins_the_hosts_of(present):
                found.append(other.pair)
        return found

    def prior_of_similar(
        self, pair: Pair, rtt_s: float, bandwidth_bps: float | None
    ) -> list[ProbeRecord]:
        """The probes of other pairs with a similar path, to learn from."""
        alike = self.similar(pair, rtt_s, bandwidth_bps)
        return [
            probe for other in alike for probe in of_this_rtt(self.prior(other.pair), other.rtt_s)
        ]

    def transfers(self) -> list[PastTransfer]:
        """All file transfers of the user's own history, between any hosts."""
        found: list[PastTransfer] = []
        for journal in self._journals():
            digest, _, _ = self._digests.look(journal)
            if digest.pair is not None and _has_transfers(journal):
                found += transfers_of(counting(self.records(digest.pair)))
        return found

    def _reference_probes(self, pair: Pair) -> list[ProbeRecord]:
        records = self.references.records.get(pair, [])
        return [r for r in records if isinstance(r, ProbeRecord)]

    def best(self, pair: Pair, now_s: float, path: PathFacts | None = None) -> list[PastResult]:
        """The results of `past`."""
        return self.past(pair, now_s, path).results

    def past(self, pair: Pair, now_s: float, path: PathFacts | None = None) -> Past:
        """The best stored setting of each subject, by name; see ranking.py for how it is chosen.

        Subjects the user never measured come from a reference profile, with a caution. `now_s` is
        the Unix time that ages are relative to. With `path` only what applies to it counts, under
        any name of its hosts: see matching.py. A subject that was only measured at more than what
        is reserved now is promised at that rate, with a caution.
        """
        own = self._own(pair, path)
        measured = best_results(own.probes, now_s)
        known = {result.subject for result in measured}
        notes = [f"Ignored: {why}." for why in own.ignored]
        if path and path.bandwidth_bps and own.faster:
            unknown = [probe for probe in own.faster if probe.subject not in known]
            measured += [capped(r, path.bandwidth_bps) for r in best_results(unknown, now_s)]
            if others := len(own.faster) - len(unknown):
                notes.append(f"Ignored: {count_words(others, faster_words(path.bandwidth_bps))}.")
        results = [with_caution(r, own.caution) for r in measured]
        known = {result.subject for result in results}
        reference = of_this_connection(self._reference_probes(pair), path, {}).probes
        borrowed = [
            with_caution(r, _REFERENCE_CAUTION)
            for r in best_results(reference, now_s)
            if r.subject not in known
        ]
        if names := {str(probe.pair) for probe in own.probes if probe.pair != pair}:
            notes.append(f"Includes the same hosts under other names: {', '.join(sorted(names))}.")
        return Past(sorted(results + borrowed, key=lambda result: result.subject), notes)

    def latest_unfinished_session(
        self, pair: Pair | None = None
    ) -> tuple[SessionRecord, list[ProbeRecord]] | None:
        """The newest unfinished session, with its probes; of any pair when None is given.

        A session has ended when it has a complete advice or a closing record. Sessions that are
        deleted or outliers are not resumed, and probes that are outliers are left out.
        """
        if pair is None:
            pair = self._newest_unfinished_pair()
        return _unfinished(self.records(pair)) if pair else None

    def session_to_extend(self, session: str) -> tuple[SessionRecord, list[ProbeRecord]] | None:
        """A session that measured, with its probes, ended or not; None if there is none.

        `session`: its identity, "" for the newest. Profiles have no request and are left out.
        """
        found: tuple[SessionRecord, list[ProbeRecord]] | None = None
        for known in self.pairs():
            records = self.records(known.pair)
            said = standing_of(records)
            left_out = said.deleted | said.outliers
            for record in records:
                if not isinstance(record, SessionRecord) or not record.request:
                    continue
                if record.session in left_out or session not in ("", record.session):
                    continue
                if found is None or record.recorded_s > found[0].recorded_s:
                    probes = [p for p in counting(records) if p.session == record.session]
                    found = (record, probes)
        return found

    def _newest_unfinished_pair(self) -> Pair | None:
        newest: tuple[float, Pair] | None = None
        for journal in self._journals():
            digest, said, _ = self._digests.look(journal)
            left_out = said.deleted | said.outliers
            for facts in digest.sessions:
                ended = facts.advised or facts.closed or facts.profile or facts.imported
                open_s = None if ended else facts.opened_s
                if open_s is None or digest.pair is None or facts.session in left_out:
                    continue
                if newest is None or open_s > newest[0]:
                    newest = (open_s, digest.pair)
        return newest[1] if newest else None

    def _table(self, directory: Path, pair: Pair) -> JournalTable:
        path = pair_directory(directory, pair) / JOURNAL
        if path not in self._tables:
            self._tables[path] = JournalTable(JournalStorage(path))
        return self._tables[path]

    def _journals(self) -> Iterator[Path]:
        with explaining(self.directory, "read"):
            if self.directory.exists():
                yield from sorted(
                    folder / JOURNAL
                    for folder in self.directory.iterdir()
                    if (folder / JOURNAL).is_file()
                )


def _has_transfers(journal: Path) -> bool:
    """Whether it may contain any: most pairs have none, and decoding all records takes long."""
    with explaining(journal, "read"), journal.open("rb") as lines:
        return any(
            b'"file_bytes":' in line and b'"file_bytes":null' not in line
            for line in bounded_lines(lines)
        )


def _document(record: Record) -> dict[str, object]:
    document: dict[str, object] = msgspec.to_builtins(record)
    # Read it back: what is acknowledged must be readable.
    try:
        msgspec.json.decode(msgspec.json.encode(document), type=type(record))
    except msgspec.ValidationError as error:
        raise StoreError(
            f"this record could not be read back: {error}", remedy="measure again, and report it"
        ) from error
    return document


def _typed(table: JournalTable) -> tuple[list[Record], int]:
    """The records this version understands, and the number of lines it does not."""
    records: list[Record] = []
    skipped = 0
    for document in table:
        try:
            records.append(msgspec.convert(document, Record, str_keys=True))
        except msgspec.ValidationError:
            skipped += 1
    return records, skipped + table.journal.bad_lines


def _unfinished(records: list[Record]) -> tuple[SessionRecord, list[ProbeRecord]] | None:
    ended = {
        r.advice.session for r in records if isinstance(r, AdviceRecord) if not r.advice.incomplete
    }
    ended |= {r.session for r in records if isinstance(r, ClosingRecord)}
    said = standing_of(records)
    ended |= said.deleted | said.outliers
    opened = [
        r for r in records if isinstance(r, SessionRecord) and r.session not in ended and r.request
    ]
    if not opened:
        return None
    newest = max(opened, key=lambda r: r.recorded_s)
    probes = [p for p in counting(records) if p.session == newest.session]
    return newest, probes
