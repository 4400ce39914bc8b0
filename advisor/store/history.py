"""The history: all measurements and advice, by pair."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from platformdirs import user_data_path

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
from advisor.store.backend import Backend, SessionLog
from advisor.store.journal_backend import JournalBackend
from advisor.store.matching import (
    Matched,
    connections_of,
    count_words,
    faster_words,
    of_this_connection,
    of_this_rtt,
)
from advisor.store.ranking import best_results, capped, with_caution
from advisor.store.references import References
from advisor.store.remarks import counting, standing_of
from advisor.store.session_digests import SessionDigest, session_digests
from advisor.store.summaries import PairSummary, SimilarPair, summary

__all__ = ["PairSummary", "Past", "SessionDigest", "SimilarPair", "Store"]

_REFERENCE_CAUTION: Final = "From a reference profile shipped with the program, not measured here."
# Paths that differ by more than a factor of four in total say little about each other.
_ALIKE: Final = 0.25


class Past(NamedTuple):
    """The best result of each subject, and sentences on what was left out or included, and why."""

    results: list[PastResult]
    notes: list[str]


def _no_reason(_: ProbeRecord) -> str:
    return ""


class Store:
    """A history, and the `references` as a fallback.

    `place`: where it is kept; a path is the folder of a journal. `reference`: folders of sealed
    profiles. Methods raise StoreError with a sentence when it cannot be read or written. Within a
    process, one thread at a time; see `another`.
    """

    def __init__(
        self, place: Path | Backend, reference: Sequence[Path] = (), cache: Path | None = None
    ) -> None:
        """`cache`: where what can be computed again is kept of a journal."""
        self.kept: Backend = JournalBackend(place, cache) if isinstance(place, Path) else place
        self.references = References(tuple(reference))

    @classmethod
    def default(cls, reference: Sequence[Path] = ()) -> "Store":
        """The history in the user's data folder ($XDG_DATA_HOME, else ~/.local/share)."""
        return cls(user_data_path("advisor") / "history", reference)

    @property
    def argument(self) -> str:
        """The value of --store that names it."""
        return self.kept.argument

    @property
    def notices(self) -> list[str]:
        """Sentences on what is not known or not sent at present; none where all is well."""
        return self.kept.notices

    def another(self) -> "Store":
        """One more of the same history, references and cache: for another thread."""
        other = Store(self.kept.another())
        other.references = self.references
        return other

    def append(self, record: Record) -> None:
        """Store a record; it survives a crash when this returns.

        Raises StoreFull without enough space, and StoreError if it cannot be written or could not
        be read back (a NaN, which JSON does not have).
        """
        self.kept.append(record)

    def check_access(self, pair: Pair) -> None:
        """Raises StoreError if records of this pair could not be stored now."""
        self.kept.check_access(pair)

    def append_new(self, records: Iterable[ProbeRecord]) -> int:
        """Store those whose `session` is not yet stored for their pair; return their number.

        For imported records, whose session id is derived from their content: importing the same
        twice stores it once, even when two processes do so at the same time.
        """
        by_pair: dict[Pair, dict[str, ProbeRecord]] = {}
        for record in records:
            by_pair.setdefault(record.pair, {}).setdefault(record.session, record)
        return sum(self.kept.append_new(pair, new) for pair, new in by_pair.items())

    def append_missing(self, records: Iterable[Record]) -> int:
        """Store those that are not stored yet, compared by their content; return their number.

        For the records of another history: importing the same twice stores it once.
        """
        by_pair: dict[Pair, list[Record]] = {}
        for record in records:
            by_pair.setdefault(record.pair, []).append(record)
        return sum(self.kept.append_missing(pair, new) for pair, new in by_pair.items())

    def keep_raw(self, pair: Pair, session: str, name: str, data: bytes) -> None:
        """Store a tool's output next to the pair's records, compressed.

        Replaces earlier output under the same session and name.
        """
        self.kept.keep_raw(pair, session, name, data)

    def event_log(self, pair: Pair, session: str) -> SessionLog:
        """A listener that stores a session's events next to its pair's records."""
        return self.kept.event_log(pair, session)

    def events(self, pair: Pair, session: str) -> list[AnyEvent]:
        """The events of a session in order; empty for sessions without a log."""
        return self.kept.events(pair, session)

    def pairs(
        self, now_s: float | None = None, *, include_deleted: bool = False
    ) -> list[PairSummary]:
        """Every pair of the user's own history, the most recently used first.

        `now_s`: the Unix time that ages are relative to, by default the clock's. Pairs whose
        sessions are all deleted are included only with `include_deleted`.
        """
        now_s = time.time() if now_s is None else now_s
        found = (
            summary(*digested, now_s, include_deleted=include_deleted)
            for digested in self.kept.digests()
        )
        return sorted(filter(None, found), key=lambda s: s.last_recorded_s, reverse=True)

    def sessions(
        self, pair: Pair | None = None, *, include_deleted: bool = False
    ) -> list[SessionDigest]:
        """The sessions of a pair, or of all, the newest first.

        Imported probes form one session per pair, origin and day.
        """
        own = [self.kept.digest(pair)] if pair else self.kept.digests()
        found: list[SessionDigest] = []
        for digest, said, _ in own:
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
        if not rtt_s:
            return []
        now_s = time.time() if now_s is None else now_s
        found: list[SimilarPair] = []
        for most, digested in self.kept.maybe_similar(rtt_s, bandwidth_bps, _ALIKE):
            if len(found) == limit and most <= found[-1].likeness:
                break
            other = summary(*digested, now_s)
            if other is None or other.pair == pair or not other.best or not other.rtt_s:
                continue
            alike = likeness(rtt_s, bandwidth_bps, other.rtt_s, other.bandwidth_bps)
            if (alike or 0) >= _ALIKE:
                found.append(
                    SimilarPair(
                        pair=other.pair,
                        likeness=alike or 0.0,
                        rtt_s=other.rtt_s,
                        bandwidth_bps=other.bandwidth_bps,
                        best=other.best,
                    )
                )
                found = sorted(found, key=lambda s: s.likeness, reverse=True)[:limit]
        return found

    def stored_pairs(self) -> list[Pair]:
        """Every pair of the user's own history that has any record."""
        return self.kept.pairs()

    def records(self, pair: Pair) -> list[Record]:
        """All of the user's own records of a pair, in the order they were stored."""
        return self.kept.read(pair)[0]

    def skipped(self, pair: Pair) -> int:
        """The number of a pair's records that this version cannot read."""
        return self.kept.read(pair)[1]

    def probes(self, pair: Pair) -> list[ProbeRecord]:
        """The user's own probes of a pair, in the order they were stored."""
        return [r for r in self.records(pair) if isinstance(r, ProbeRecord)]

    def prior(self, pair: Pair, path: PathFacts | None = None) -> list[ProbeRecord]:
        """The probes to learn from: the user's own, or a reference's if there are none.

        Outliers and deleted sessions do not count, here and in `past`. With `path` only those that
        apply to it, under any name of its hosts: see matching.py.
        """
        found = self._own(pair, path, _no_reason).probes
        return found or of_this_connection(self._reference_probes(pair), path, {}).probes

    def _own(
        self, pair: Pair, path: PathFacts | None, why_not: Callable[[ProbeRecord], str]
    ) -> Matched:
        records = self.records(pair)
        for other in self._other_names(pair, path):
            records += self.records(other)
        probes = [(probe, why_not(probe)) for probe in counting(records)]
        reasons = Counter(reason for _, reason in probes if reason)
        found = of_this_connection(
            [probe for probe, reason in probes if not reason], path, connections_of(records)
        )
        none = [count_words(number, reason) for reason, number in reasons.items()]
        return found._replace(ignored=none + found.ignored)

    def _other_names(self, pair: Pair, path: PathFacts | None) -> list[Pair]:
        """The pairs that are the hosts of `path` under other names."""
        # All labs have the same addresses and host name.
        if path is None or is_in_lab(pair.destination):
            return []
        present = Connection.of(path)
        found = []
        for other, _, _ in self.kept.maybe_between(present):
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
        for pair in self.kept.maybe_with_transfers():
            found += transfers_of(counting(self.records(pair)))
        return found

    def _reference_probes(self, pair: Pair) -> list[ProbeRecord]:
        records = self.references.records.get(pair, [])
        return [r for r in records if isinstance(r, ProbeRecord)]

    def best(self, pair: Pair, now_s: float, path: PathFacts | None = None) -> list[PastResult]:
        """The results of `past`."""
        return self.past(pair, now_s, path).results

    def past(
        self,
        pair: Pair,
        now_s: float,
        path: PathFacts | None = None,
        why_not: Callable[[ProbeRecord], str] = _no_reason,
    ) -> Past:
        """The best stored setting of each subject, by name; see ranking.py for how it is chosen.

        `why_not`: why a probe's setting is none, "" where it is one: those do not compete.

        Subjects the user never measured come from a reference profile, with a caution. `now_s` is
        the Unix time that ages are relative to. With `path` only what applies to it counts, under
        any name of its hosts: see matching.py. A subject that was only measured at more than what
        is reserved now is promised at that rate, with a caution.
        """
        own = self._own(pair, path, why_not)
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
            for r in best_results((p for p in reference if not why_not(p)), now_s)
            if r.subject not in known
        ]
        if names := {str(probe.pair) for probe in own.probes if probe.pair != pair}:
            notes.append(f"Includes the same hosts under other names: {', '.join(sorted(names))}.")
        notes += self.notices
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

    def unfinished_session(self, session: str) -> tuple[SessionRecord, list[ProbeRecord]] | None:
        """The session of this identity, with its probes; None if it has ended or is not there.

        The rules are those of `latest_unfinished_session`.
        """
        found = self.session_to_extend(session)
        return _unfinished(self.records(found[0].pair), session) if found else None

    def session_to_extend(self, session: str) -> tuple[SessionRecord, list[ProbeRecord]] | None:
        """A session that measured, with its probes, ended or not; None if there is none.

        `session`: its identity, "" for the newest. Profiles have no request and are left out.
        """
        found: tuple[SessionRecord, list[ProbeRecord]] | None = None
        for latest_s, (digest, said, _) in self.kept.maybe_of_session(session):
            if found and latest_s <= found[0].recorded_s:
                break
            if digest.pair is None:
                continue
            left_out = said.deleted | said.outliers
            open_s = [
                facts.opened_s
                for facts in digest.sessions
                if facts.opened_s is not None
                and facts.session not in left_out
                and session in ("", facts.session)
            ]
            if not open_s or (found and max(open_s) <= found[0].recorded_s):
                continue
            newer = _to_extend(self.records(digest.pair), session)
            if newer and (found is None or newer[0].recorded_s > found[0].recorded_s):
                found = newer
        return found

    def _newest_unfinished_pair(self) -> Pair | None:
        newest: tuple[float, Pair] | None = None
        for latest_s, (digest, said, _) in self.kept.maybe_unfinished():
            if newest and latest_s <= newest[0]:
                break
            left_out = said.deleted | said.outliers
            for facts in digest.sessions:
                ended = facts.advised or facts.closed or facts.profile or facts.imported
                open_s = None if ended else facts.opened_s
                if open_s is None or digest.pair is None or facts.session in left_out:
                    continue
                if newest is None or open_s > newest[0]:
                    newest = (open_s, digest.pair)
        return newest[1] if newest else None


def _to_extend(
    records: list[Record], session: str
) -> tuple[SessionRecord, list[ProbeRecord]] | None:
    """The newest session of one pair that can be extended, with its probes."""
    said = standing_of(records)
    left_out = said.deleted | said.outliers
    asked = [
        r
        for r in records
        if isinstance(r, SessionRecord) and r.request and r.session not in left_out
    ]
    newest = max(
        (r for r in asked if session in ("", r.session)),
        key=lambda r: r.recorded_s,
        default=None,
    )
    if newest is None:
        return None
    return newest, [p for p in counting(records) if p.session == newest.session]


def _unfinished(
    records: list[Record], session: str = ""
) -> tuple[SessionRecord, list[ProbeRecord]] | None:
    """The newest unfinished session of one pair with its probes, or the one of this identity."""
    ended = {
        r.advice.session for r in records if isinstance(r, AdviceRecord) if not r.advice.incomplete
    }
    ended |= {r.session for r in records if isinstance(r, ClosingRecord)}
    said = standing_of(records)
    ended |= said.deleted | said.outliers
    opened = [
        r
        for r in records
        if isinstance(r, SessionRecord)
        and r.session not in ended
        and r.request
        and session in ("", r.session)
    ]
    if not opened:
        return None
    newest = max(opened, key=lambda r: r.recorded_s)
    probes = [p for p in counting(records) if p.session == newest.session]
    return newest, probes
