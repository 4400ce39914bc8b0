"""What each pair of a fleet reached over time, what changed, and what limits it."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from advisor.domain.advice import Limit
from advisor.domain.endpoints import Pair
from advisor.domain.path import PathFacts
from advisor.domain.records import ProfileRecord, Record, SessionRecord
from advisor.fleet.changes import Change, Point, changes_in
from advisor.fleet.limiting import limits_of
from advisor.fleet.state.rows import row_as
from advisor.fleet.state.standing import PairStanding
from advisor.store.postgres.queries import rows_of_session
from advisor.store.postgres.rows import Reader, record_of

if TYPE_CHECKING:
    from advisor.fleet.state.connecting import DatabaseConnection

MOST_POINTS: Final = 60
"""Of a curve."""
_MOST_RESULTS: Final = 2000
_ROWS_AT_ONCE: Final = 5000
_REQUESTS: Final = ("session", "profile")
_OTHERS: Final = Reader("")
"""All records are taken as those of others: nothing here needs more of them."""

_Positive = Annotated[float, msgspec.Meta(gt=0, le=1e15)]
_Key = tuple[str, str, str]


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """A measurement that succeeded. `rate_bps`, `rtt_s`: None where it was not measured."""

    task: str
    source: str
    destination: str
    ended_s: Annotated[float, msgspec.Meta(ge=0, le=2.0**33)]
    rate_bps: _Positive | None = None
    rtt_s: _Positive | None = None
    session: str = ""

    @property
    def key(self) -> _Key:
        """Of which pair of which task."""
        return self.task, self.source, self.destination


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """One pair of one task over time.

    `points`: (Unix time, bit/s) of its results, the oldest first, or round-trip times in s where no
    rate is measured; of many those that are lowest and highest among their neighbours. `results`:
    how many there were. `limits`: what limits it, None where nothing is recorded of it.
    """

    pair: PairStanding
    points: Sequence[tuple[float, float]] = ()
    results: int = 0
    changes: Sequence[Change] = ()
    limits: Sequence[Limit] | None = None


def courses_of(
    connection: "DatabaseConnection",
    pairs: Sequence[PairStanding],
    since_s: float,
    seen: Callable[[int], object] = lambda _: None,
) -> list[Course]:
    """The course of each pair since a time; `seen` is called with the number of pairs read so far.

    Memory holds the results of one pair at a time.
    """
    by_key = {(one.task, one.source, one.destination): one for one in pairs}
    found: dict[_Key, Course] = {}
    for key, results in _results(connection, since_s):
        if one := by_key.get(key):
            found[key] = _course(connection, one, results)
            seen(len(found))
    return [found.get(key) or Course(pair=one) for key, one in by_key.items()]


def _results(
    connection: "DatabaseConnection", since_s: float
) -> Iterator[tuple[_Key, Sequence[Result]]]:
    """The results of each pair, in the order of time; of many the last."""
    columns = list(Result.__struct_fields__)
    with connection.transaction(), connection.cursor(name="results") as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        # In the order of an index, so that the server does not sort all of them.
        cursor.execute(
            f"SELECT {', '.join(columns)} FROM advisor.fleet_attempts"
            " WHERE outcome = 'done' AND ended_s > %s ORDER BY task, source, destination, id",
            (since_s,),
        )
        rows: Iterator[Result | None] = (row_as(Result, columns, row) for row in cursor)
        for key, own in groupby(filter(None, rows), lambda one: one.key):
            yield key, deque(own, _MOST_RESULTS)


def _course(
    connection: "DatabaseConnection", one: PairStanding, results: Sequence[Result]
) -> Course:
    rates = [Point(r.ended_s, r.rate_bps, r.session) for r in results if r.rate_bps]
    rtts = [(r.ended_s, r.rtt_s) for r in results if r.rtt_s]
    stored = Pair.named(one.stored_source or "", one.stored_destination or "")

    def path_of(session: str) -> PathFacts | None:
        records = _records(connection, stored, session, _REQUESTS)
        return next((path for record in records if (path := _path_of(record))), None)

    session = next((r.session for r in reversed(results) if r.session), "")
    last = _records(connection, stored, session, (*_REQUESTS, "probe"))
    return Course(
        pair=one,
        points=thinned([(p.at_s, p.rate_bps) for p in rates] or rtts),
        results=len(rates) or len(rtts),
        changes=list(changes_in(Pair(one.source, one.destination), one.task, rates, path_of)),
        limits=limits_of(last) if last else None,
    )


def _records(
    connection: "DatabaseConnection", pair: Pair | None, session: str, kinds: Sequence[str]
) -> list[Record]:
    if pair is None or not session:
        return []
    rows = rows_of_session(connection, pair, session, kinds)
    return [one for row in rows if (one := record_of(row, pair, _OTHERS))]


def _path_of(record: Record) -> PathFacts | None:
    return record.path if isinstance(record, SessionRecord | ProfileRecord) else None


def thinned(
    points: Sequence[tuple[float, float]], most: int = MOST_POINTS
) -> Sequence[tuple[float, float]]:
    """At most this many of the points: the lowest and the highest of each stretch, in order."""
    if len(points) <= most:
        return points
    stretches = most // 2
    bounds = [len(points) * number // stretches for number in range(stretches + 1)]
    kept = []
    for first, end in pairwise(bounds):
        stretch = points[first:end]
        ends = {min(stretch, key=lambda p: p[1]), max(stretch, key=lambda p: p[1])}
        kept += sorted(ends)
    return kept
