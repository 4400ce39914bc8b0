"""Questions to the database of a fleet."""

from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

from advisor.domain.problem import ProblemKind
from advisor.fleet.configuration.reading import BadFleet, decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.fleet import DAY_S, Fleet
from advisor.fleet.state import rows
from advisor.fleet.state.followed import FollowedPairs
from advisor.store.errors import StoreError

# Its library is there only where a fleet is used.
if TYPE_CHECKING:
    from advisor.fleet.state.connecting import DatabaseConnection
    from advisor.fleet.state.transfers import Moving

_T = TypeVar("_T")

WORKER_SILENT_S: Final = 30.0
"""After this a worker is taken for gone."""


class Applied(msgspec.Struct, frozen=True):
    """The configuration in force. `start_s`: when the first one was applied."""

    configuration: rows.Configuration
    fleet: Fleet
    start_s: float


class FleetState(msgspec.Struct, frozen=True, kw_only=True):
    """What the database knows at `now_s`, its own clock.

    `running` have not ended, `recent` ended within 24 hours. Without attempts and pairs that cannot
    be used. `hosts` and `pauses` by name, ALL for all, without hosts that the configuration no
    longer has. `moving`: transfers over several nodes.
    """

    applied: Applied
    now_s: float
    pairs: list[rows.PairState]
    running: list[rows.Attempt]
    recent: list[rows.Attempt]
    hosts: dict[str, rows.HostState]
    pauses: dict[str, rows.Pause]
    moving: "list[Moving]" = []


def applied(connection: "DatabaseConnection") -> Applied:
    """The configuration in force. Raises StoreError if there is none, or it cannot be used."""
    found = _select(
        connection,
        rows.Configuration,
        "fleet_configurations",
        "ORDER BY version DESC LIMIT 1",
    )
    first = connection.execute("SELECT min(applied_s) FROM advisor.fleet_configurations").fetchone()
    if not found or first is None:
        raise StoreError(
            "no fleet is described in this database",
            kind=ProblemKind.MISSING,
            remedy="an operator runs `advisor fleet apply`",
        )
    [newest] = found
    try:
        fleet = resolved(decoded(newest.content.encode()))
    except BadFleet as error:
        raise StoreError.about(
            f"version {newest.version} of the fleet, applied by {newest.applied_by}", error
        ) from None
    return Applied(newest, fleet, float(first[0]))


def fleet_state(
    connection: "DatabaseConnection", followed: FollowedPairs | None = None
) -> FleetState:
    """All that planning needs. Raises StoreError as `applied` does.

    `followed`: what was read of pairs before, where the same database is read again and again.
    """
    from advisor.fleet.state.transfers import moving

    found = applied(connection)
    now_s = now(connection)
    # These first: what ends while the rest is read is then known as running, or as measured, and
    # never as neither.
    open_ones = running(connection)
    ended = _select(
        connection,
        rows.Attempt,
        "fleet_attempts",
        "WHERE ended_s > %s ORDER BY ended_s",
        now_s - DAY_S,
    )
    still_open = {one.id for one in open_ones}
    hosts = _select(connection, rows.HostState, "fleet_hosts")
    named = {rows.ALL, *(host.name for host in found.fleet.hosts)}
    return FleetState(
        applied=found,
        now_s=now_s,
        # In the order in which they came, so that a pair's share of chance stays the same.
        pairs=(followed or FollowedPairs()).read(connection, now_s),
        running=open_ones,
        recent=[one for one in ended if one.id not in still_open],
        hosts={one.host: one for one in hosts if one.host in named},
        pauses={one.host: one for one in pauses(connection, now_s) if one.host in named},
        moving=moving(connection, found.fleet),
    )


def now(connection: "DatabaseConnection") -> float:
    """The time by the clock of the database, in Unix time."""
    row = connection.execute("SELECT advisor.fleet_now()").fetchone()
    return float(row[0]) if row else 0.0


def running(connection: "DatabaseConnection") -> list[rows.Attempt]:
    """The attempts that have not ended."""
    return _select(connection, rows.Attempt, "fleet_attempts", "WHERE ended_s IS NULL ORDER BY id")


def pauses(connection: "DatabaseConnection", now_s: float) -> list[rows.Pause]:
    """The pauses that are not over, those of hosts that the fleet no longer has as well."""
    found = _select(connection, rows.Pause, "fleet_pauses", "ORDER BY host")
    return [one for one in found if one.until_s is None or one.until_s > now_s]


def workers(connection: "DatabaseConnection", now_s: float) -> list[rows.Worker]:
    """The workers that were heard of a moment ago."""
    return _select(
        connection,
        rows.Worker,
        "fleet_workers",
        "WHERE ended_s IS NULL AND seen_s BETWEEN %s AND %s ORDER BY id",
        # One that was seen later than now had a clock that was set back since.
        *(now_s - WORKER_SILENT_S, now_s + WORKER_SILENT_S),
    )


def attempts_of(
    connection: "DatabaseConnection", task: str, source: str, destination: str, most: int
) -> list[rows.Attempt]:
    """The newest attempts of a pair of a task, the newest first."""
    return _select(
        connection,
        rows.Attempt,
        "fleet_attempts",
        "WHERE task = %s AND source = %s AND destination = %s ORDER BY id DESC LIMIT %s",
        *(task, source, destination, most),
    )


def outcomes(connection: "DatabaseConnection") -> dict[str, int]:
    """How many attempts ended so, of each outcome."""
    found = connection.execute("SELECT outcome, attempts FROM advisor.fleet_outcomes")
    return {str(outcome): int(number) for outcome, number in found}


def _select(
    connection: "DatabaseConnection", kind: type[_T], table: str, rest: str = "", *values: object
) -> list[_T]:
    """The rows of a table that are of this kind. `rest`: what follows, with these values."""
    columns = list(getattr(kind, "__struct_fields__", ()))
    found = connection.execute(f"SELECT {', '.join(columns)} FROM advisor.{table} {rest}", values)
    decoded_rows = (rows.row_as(kind, columns, row) for row in found)
    return [one for one in decoded_rows if one is not None]
