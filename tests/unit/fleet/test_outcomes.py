"""How many attempts of a fleet ended so, which is asked at each look of a monitor."""

from collections.abc import Iterator

import psycopg
import pytest

from advisor.fleet.state import reading
from advisor.fleet.work.claiming import Ending
from advisor.store.postgres import schema
from advisor.store.postgres.own_server import OWNER, OwnServer
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase

from .test_claiming import Desk, done


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    one = Desk(shared_database)
    one.describe(described("a", "b", "c", "d"))
    yield one
    one.close()


def test_every_end_is_counted_once_and_attempts_are_not_read_for_that(desk: Desk) -> None:
    endings = [
        done(),
        done(),
        Ending(outcome="failed", moved_bytes=0.0),
        Ending(outcome="given way", moved_bytes=0.0),
        Ending(outcome="given back", moved_bytes=0.0),
    ]
    for ending in endings:
        one = desk.taken()
        assert desk.end(one, ending)
        assert not desk.end(one, ending)
    for _ in range(2):
        desk.taken().close()
    desk.database.execute("UPDATE advisor.fleet_attempts SET seen_s = seen_s - 30")
    desk.taken()
    expected = {"done": 2, "failed": 1, "given way": 1, "given back": 3}
    with desk.as_user("rita") as connection:
        assert reading.outcomes(connection) == expected
        rows = connection.execute(
            "SELECT outcome, count(*) FROM advisor.fleet_attempts WHERE outcome IS NOT NULL"
            " GROUP BY outcome"
        ).fetchall()
        assert dict(rows) == expected
        # The owner may remove what is too old to matter.
        desk.database.execute("DELETE FROM advisor.fleet_attempts")
        assert reading.outcomes(connection) == expected


def test_what_ended_before_it_was_counted_is_counted(
    postgres: OwnServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    postgres.execute("postgres", "CREATE DATABASE older")
    with psycopg.connect(postgres.address(OWNER, "older"), autocommit=True) as connection:
        with monkeypatch.context() as patched:
            patched.setattr(schema, "versions", lambda: [1, 2, 3])
            schema.set_up(connection)
        connection.execute(
            "INSERT INTO advisor.fleet_workers (name, account, started_s, seen_s)"
            " VALUES ('w', 'alice', 0, 0)"
        )
        connection.execute(
            "INSERT INTO advisor.fleet_attempts (worker_id, account, task, source, destination,"
            " why, began_s, seen_s, ended_s, most_bytes, moved_bytes, outcome)"
            " SELECT 1, 'alice', 'mesh', 'a', 'b', 'age', n, n, n, 1, 1,"
            " CASE WHEN n <= 3 THEN 'done' ELSE 'failed' END FROM generate_series(1, 5) AS n"
        )
        assert schema.set_up(connection) == schema.versions()[3:]
        assert reading.outcomes(connection) == {"done": 3, "failed": 2}
