"""Takes the pair that is due, if any: decided by the planner from what the database knows.

One worker at a time decides. It takes the locks of both hosts and of what they share, on a
connection of the measurement's own, and books the most that may be moved. Whoever dies loses the
connection, and with it the locks.
"""

import contextlib
import math
from collections.abc import Iterator
from typing import Final

import msgspec
import psycopg

from advisor.domain.endpoints import Pair
from advisor.domain.printable import escape_fields
from advisor.domain.problem import ProblemKind
from advisor.fleet.plan.fleet import Fleet, Host, Task
from advisor.fleet.plan.turns import News, Turn, Wait
from advisor.fleet.plan.worth import BUSY_S, RECHECKS
from advisor.fleet.state import locks
from advisor.fleet.state.connecting import DatabaseConnection, connect
from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.state.knowing import changes_s, planner_of
from advisor.fleet.state.limited import LimitedConnection
from advisor.fleet.state.reading import Applied, FleetState, fleet_state
from advisor.fleet.state.rows import Outcome
from advisor.fleet.state.transfers import moving
from advisor.fleet.work.admitting import require_own
from advisor.fleet.work.ordering import programs_of
from advisor.models.change_point import ChangeTest, Verdict
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address

SILENT_S: Final = 20.0
"""A measurement that nothing was heard of for this long is given back once its locks are free."""

_MOST_TRIES: Final = 100
_MOST_RATES: Final = 2000
_NEWS: Final[dict[Verdict, News]] = {
    Verdict.NONE: "none",
    Verdict.SUSPECTED: "suspected",
    Verdict.CHANGED: "changed",
}


class Ending(msgspec.Struct, frozen=True, kw_only=True):
    """How a measurement ended. `pair`: that the history has its records under.

    `message`: made printable, since a source may have said it, and PostgreSQL takes no NUL. `down`:
    the host that could not be reached; `busy`: the host at which a user measures.
    """

    outcome: Outcome
    moved_bytes: float
    message: str = ""
    rate_bps: float | None = None
    rtt_s: float | None = None
    session: str = ""
    pair: Pair | None = None
    down: str | None = None
    busy: str | None = None

    def __post_init__(self) -> None:
        escape_fields(self, ("message",))


class Claim:
    """A pair that is being measured, with its locks. `close` it on every way out."""

    def __init__(
        self, connection: LimitedConnection, attempt: int, applied: Applied, turn: Turn
    ) -> None:
        self._connection = connection
        self.attempt = attempt
        self.fleet: Fleet = applied.fleet
        self.turn = turn
        self.task: Task = self.fleet.tasks[turn.task]
        self.source: Host = self.fleet.hosts[turn.source]
        self.destination: Host = self.fleet.hosts[turn.destination]

    @property
    def names(self) -> tuple[str, str, str]:
        """Of the task and the two hosts."""
        return self.task.name, self.source.name, self.destination.name

    def runs(self) -> bool:
        """Say that it still runs; False if it was taken back. Raises psycopg.Error if the locks
        are lost."""
        row = self._connection.execute("SELECT advisor.fleet_runs(%s)", (self.attempt,)).fetchone()
        return bool(row and row[0])

    def moves_at(self) -> str | None:
        """The host at which a user's transfer moves files by now. Raises psycopg.Error."""
        used = {host for one in moving(self._connection, self.fleet) for host in one.hosts}
        return next((name for name in self.names[1:] if name in used), None)

    def require_own(self, pair: Pair, session: str) -> None:
        """See that a session that begins is the source's own. Raises NotItsOwn, psycopg.Error."""
        require_own(self._connection, self.fleet, self.source, pair, session)

    def close(self) -> None:
        """Give up the locks. The server may notice only later that a connection was closed.

        One that is asked something just now does not answer: it is not asked for more.
        """
        with contextlib.suppress(psycopg.Error):
            if not self._connection.is_asked:
                locks.free_all(self._connection)
        with contextlib.suppress(psycopg.Error):
            self._connection.close()


def claim(
    address: Address,
    worker: int,
    trusted: frozenset[str],
    followed: FollowedPairs | None = None,
) -> Claim | Wait:
    """The pair to measure now, or until when nothing is due, by the clock of the database.

    `trusted`: accounts whose configurations may name programs and files. `followed`: what earlier
    calls have read of pairs. Raises StoreError, psycopg.Error.
    """
    connection = connect(address)
    try:
        found = _claimed(connection, worker, trusted, followed)
    except BaseException:
        connection.close()
        raise
    if isinstance(found, Wait):
        connection.close()
    return found


def _claimed(
    connection: LimitedConnection,
    worker: int,
    trusted: frozenset[str],
    followed: FollowedPairs | None,
) -> Claim | Wait:
    with connection.transaction():
        connection.execute("SELECT advisor.fleet_plan()")
        connection.execute("SELECT advisor.fleet_take_back(%s)", (SILENT_S,))
        state = fleet_state(connection, followed)
        _require_trust(state.applied, trusted)
        for found in _planned(state):
            if isinstance(found, Wait):
                return found
            if locks.take_all(connection, state.applied.fleet, found.source, found.destination):
                continue  # Somebody else holds it: the planner leaves these hosts alone.
            attempt = _begin(connection, worker, state, found)
            locks.mark(connection, attempt)
            return Claim(connection, attempt, state.applied, found)
    return Wait(state.now_s)


def _planned(state: FleetState) -> Iterator[Turn | Wait]:
    """What is due, in order; what was handed out before is held."""
    planner = planner_of(state)
    for _ in range(_MOST_TRIES):
        found = planner.next(state.now_s)
        if isinstance(found, Wait):
            yield Wait(min(found.until_s, changes_s(state)))
            return
        yield found


def _begin(connection: DatabaseConnection, worker: int, state: FleetState, turn: Turn) -> int:
    fleet = state.applied.fleet
    row = connection.execute(
        "SELECT advisor.fleet_begin(%s, %s, %s, %s, %s, %s)",
        (
            worker,
            fleet.tasks[turn.task].name,
            fleet.hosts[turn.source].name,
            fleet.hosts[turn.destination].name,
            str(turn.reason),
            turn.most_bytes,
        ),
    ).fetchone()
    assert row is not None
    return int(row[0])


def _require_trust(applied: Applied, trusted: frozenset[str]) -> None:
    by = applied.configuration.applied_by
    key = programs_of(applied.fleet)
    if key and by not in trusted:
        raise StoreError(
            f"{by} applied this fleet, and {key} starts programs or writes files as you",
            kind=ProblemKind.REFUSED,
            remedy=f"read it with `advisor fleet status --configuration`, then give --trust {by}",
        )


def end(address: Address, one: Claim, ending: Ending) -> bool:
    """Replace the booking by what was moved, and keep what became of the attempt.

    On a connection of its own, since that of the locks may be lost. False if it was taken back.
    Raises StoreError, psycopg.Error.
    """
    with contextlib.closing(connect(address)) as connection:
        news, checks = _news(connection, one, ending)
        row = connection.execute(
            f"SELECT advisor.fleet_end({', '.join(['%s'] * 14)})",
            (
                one.attempt,
                ending.outcome,
                ending.message,
                ending.moved_bytes if math.isfinite(ending.moved_bytes) else None,
                ending.rate_bps,
                ending.rtt_s,
                news,
                checks,
                ending.session,
                ending.pair.source if ending.pair else None,
                ending.pair.destination if ending.pair else None,
                ending.down,
                ending.busy,
                BUSY_S,
            ),
        ).fetchone()
        return bool(row and row[0])


def _news(connection: DatabaseConnection, one: Claim, ending: Ending) -> tuple[News, int]:
    """What the result says beside those before, and how often in succession it was such news."""
    if ending.outcome != "done":
        return "none", 0
    names = one.names
    row = connection.execute(
        "SELECT news, checks FROM advisor.fleet_pairs"
        " WHERE task = %s AND source = %s AND destination = %s",
        names,
    ).fetchone()
    before, checks = (str(row[0]), int(row[1])) if row else ("none", 0)
    checks = min(checks + 1, RECHECKS) if before != "none" and checks < RECHECKS else 0
    if ending.rate_bps is None:
        return "none", checks
    rates = connection.execute(
        "SELECT rate_bps FROM (SELECT id, rate_bps FROM advisor.fleet_attempts"
        " WHERE task = %s AND source = %s AND destination = %s AND outcome = 'done'"
        " AND rate_bps > 0 AND rate_bps <= 1e15 ORDER BY id DESC LIMIT %s) AS newest ORDER BY id",
        (*names, _MOST_RATES),
    )
    test = ChangeTest()
    for (rate_bps,) in rates:
        test.tell(float(rate_bps))
    return _NEWS[test.tell(ending.rate_bps)], checks
