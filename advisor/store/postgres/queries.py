"""What is asked of a shared history. Each function is one piece of work for Database.ask."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import psycopg

from advisor.domain.endpoints import Pair
from advisor.store.postgres.rows import Row

_Connection = psycopg.Connection[Any]

_ROWS_AT_ONCE: Final = 2000
_OCTETS_AT_ONCE: Final = 16 * 2**20
_MOST_FILE_BYTES: Final = 64 * 2**20

# Whose remark is about a session of somebody else, and was taken, was an operator then.
_OPERATES: Final = """
kind IN ('outlier', 'deleted') AND (
    EXISTS (SELECT FROM pg_roles o
        WHERE o.rolname = written_by AND pg_has_role(o.oid, 'advisor_operator', 'USAGE'))
    OR NOT EXISTS (SELECT FROM advisor.sessions s
        WHERE (s.pair_id, s.session, s.written_by)
            = (counted.pair_id, counted.session, counted.written_by))
)"""

# At least one row, then as many as fit.
_NEXT_ROWS: Final = f"""
SELECT number, kind, session, written_by, record::text, {_OPERATES} FROM (
    SELECT *, sum(octets) OVER (ORDER BY number) - octets AS before FROM (
        SELECT r.* FROM advisor.records r JOIN advisor.pairs p ON p.id = r.pair_id
        WHERE p.source = %s AND p.destination = %s AND r.number >= %s
        ORDER BY r.number LIMIT %s
    ) AS next_ones
) AS counted WHERE before < %s ORDER BY number
"""


class StoredPair(NamedTuple):
    """A pair, and the number of its newest row."""

    pair: Pair
    newest: int


def next_rows(connection: _Connection, pair: Pair, first: int) -> list[Row]:
    """Some rows of a pair, in order, beginning with the one numbered `first`."""
    found = connection.execute(
        _NEXT_ROWS, (pair.source, pair.destination, first, _ROWS_AT_ONCE, _OCTETS_AT_ONCE)
    )
    return [Row(*row) for row in found]


def one_row(connection: _Connection, pair: Pair, number: int) -> Row | None:
    """The row of a pair with this number."""
    row = connection.execute(
        "SELECT r.number, r.kind, r.session, r.written_by, r.record::text FROM advisor.records r"
        " JOIN advisor.pairs p ON p.id = r.pair_id"
        " WHERE p.source = %s AND p.destination = %s AND r.number = %s",
        (pair.source, pair.destination, number),
    ).fetchone()
    return Row(*row) if row else None


_MOST_OF_SESSION: Final = 1000
_MOST_OCTETS: Final = 2**20


def rows_of_session(
    connection: _Connection, pair: Pair, session: str, kinds: Sequence[str]
) -> list[Row]:
    """The rows of a session that are of these kinds, in order; the first thousand of usual size."""
    found = connection.execute(
        "SELECT r.number, r.kind, r.session, r.written_by, r.record::text FROM advisor.records r"
        " JOIN advisor.pairs p ON p.id = r.pair_id"
        " WHERE p.source = %s AND p.destination = %s AND r.session = %s AND r.kind = ANY(%s)"
        " AND r.octets <= %s ORDER BY r.number LIMIT %s",
        (pair.source, pair.destination, session, list(kinds), _MOST_OCTETS, _MOST_OF_SESSION),
    )
    return [Row(*row) for row in found]


def stored_pairs(connection: _Connection) -> list[StoredPair]:
    """Every pair that has records; without those whose names cannot be shown."""
    return _pairs(
        connection.execute(
            "SELECT source, destination, newest FROM advisor.pairs WHERE newest > 0"
            " ORDER BY source, destination"
        ).fetchall()
    )


def pairs_between(connection: _Connection, hosts: str) -> list[StoredPair]:
    """The pairs that ever had these hosts."""
    return _pairs(
        connection.execute(
            "SELECT p.source, p.destination, p.newest FROM advisor.pairs p"
            " JOIN advisor.hosts h ON h.pair_id = p.id WHERE h.hosts = %s",
            (hosts,),
        ).fetchall()
    )


def pairs_with_transfers(connection: _Connection) -> list[StoredPair]:
    """The pairs with probes that moved files."""
    return _pairs(
        connection.execute(
            "SELECT p.source, p.destination, p.newest FROM advisor.pairs p WHERE EXISTS"
            " (SELECT FROM advisor.records r WHERE r.pair_id = p.id AND r.moved_files)"
            " ORDER BY p.source, p.destination"
        ).fetchall()
    )


_SIMILAR: Final = """
SELECT source, destination, newest, power(2, -sqrt(octaves)) AS most FROM (
    SELECT p.source, p.destination, p.newest, min(
        power(greatest(ln(shortest_rtt_s / %(rtt_s)s), ln(%(rtt_s)s / longest_rtt_s), 0), 2)
        + CASE WHEN %(bandwidth_bps)s > 0 AND bandwidth_bps > 0
            THEN power(ln(bandwidth_bps / %(bandwidth_bps)s), 2) ELSE 0 END
    ) / power(ln(2::float8), 2) AS octaves
    FROM advisor.paths JOIN advisor.pairs p ON p.id = pair_id
    WHERE shortest_rtt_s > 0 GROUP BY p.id
) AS nearest WHERE octaves <= power(ln(%(least)s) / ln(2::float8), 2) + 1e-9 ORDER BY octaves
"""


def similar_pairs(
    connection: _Connection, rtt_s: float, bandwidth_bps: float | None, least: float
) -> list[tuple[float, StoredPair]]:
    """Pairs by the most that the likeness of their paths can be, those most alike first."""
    # Typed by hand: a parameter's type would be guessed from where it first stands.
    asked = {"rtt_s": float(rtt_s), "bandwidth_bps": float(bandwidth_bps or 0), "least": least}
    rows = connection.execute(_SIMILAR, asked).fetchall()
    return [(float(row[3]), one) for row in rows for one in _pairs([row[:3]])]


def pairs_unfinished(connection: _Connection) -> list[tuple[float, StoredPair]]:
    """Pairs with an open session, by when the newest of each was opened, the latest first."""
    return _by_time(
        connection.execute(
            "SELECT p.source, p.destination, p.newest, max(s.opened_s) AS latest_s"
            " FROM advisor.sessions s JOIN advisor.pairs p ON p.id = s.pair_id"
            " WHERE s.opened_s IS NOT NULL AND NOT s.ended GROUP BY p.id ORDER BY latest_s DESC"
        ).fetchall()
    )


def pairs_of_session(connection: _Connection, session: str) -> list[tuple[float, StoredPair]]:
    """Pairs with this session, or any if it is "", in the same order."""
    return _by_time(
        connection.execute(
            "SELECT p.source, p.destination, p.newest, max(s.opened_s) AS latest_s"
            " FROM advisor.sessions s JOIN advisor.pairs p ON p.id = s.pair_id"
            " WHERE s.opened_s IS NOT NULL AND (%(session)s = '' OR s.session = %(session)s)"
            " GROUP BY p.id ORDER BY latest_s DESC",
            {"session": session},
        ).fetchall()
    )


def append(connection: _Connection, pair: Pair, columns: Sequence[Sequence[Any]]) -> list[int]:
    """Add records of a pair; of each 1 for added, 0 for there before, -1 for refused."""
    row = connection.execute(
        "SELECT advisor.append(%s, %s, %s::text[], %s::text[], %s::text[], %s::text[],"
        " %s::boolean[], %s::float8[], %s::boolean[], %s::float8[], %s::float8[], %s::text[])",
        (pair.source, pair.destination, *columns),
    ).fetchone()
    return list(row[0]) if row else []


def may_append(connection: _Connection) -> bool:
    """Whether this account may add records."""
    row = connection.execute(
        "SELECT bool_or(has_function_privilege(p.oid, 'EXECUTE')) FROM pg_proc p"
        " JOIN pg_namespace n ON n.oid = p.pronamespace"
        " WHERE n.nspname = 'advisor' AND p.proname = 'append'"
    ).fetchone()
    return bool(row and row[0])


def keep(connection: _Connection, pair: Pair, session: str, name: str, data: bytes) -> bool:
    """Keep a file of a session; False if the session is somebody else's."""
    row = connection.execute(
        "SELECT advisor.keep(%s, %s, %s, %s, %s)",
        (pair.source, pair.destination, session, name, data),
    ).fetchone()
    return bool(row and row[0])


def event_files(connection: _Connection, pair: Pair, session: str) -> list[bytes]:
    """The event logs of a session, in order; not more than fit into memory."""
    found = connection.execute(
        "SELECT data FROM (SELECT f.name, f.data, sum(octet_length(f.data))"
        " OVER (ORDER BY f.name) AS total"
        " FROM advisor.files f JOIN advisor.pairs p ON p.id = f.pair_id"
        " WHERE p.source = %s AND p.destination = %s AND f.session = %s"
        " AND starts_with(f.name, 'events.')) AS logs WHERE total <= %s ORDER BY name",
        (pair.source, pair.destination, session, _MOST_FILE_BYTES),
    )
    return [bytes(data) for (data,) in found]


def _pairs(rows: Sequence[tuple[Any, ...]]) -> list[StoredPair]:
    found = ((Pair.named(source, destination), newest) for source, destination, newest in rows)
    return [StoredPair(pair, newest) for pair, newest in found if pair]


def _by_time(rows: Sequence[tuple[Any, ...]]) -> list[tuple[float, StoredPair]]:
    return [(float(row[3]), one) for row in rows for one in _pairs([row[:3]])]
