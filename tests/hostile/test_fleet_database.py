"""Users of a fleet's database who want more than their role allows, and rows made to harm."""

import psycopg
import pytest
from psycopg import errors as pg

from advisor.fleet.state import reading
from advisor.store.errors import StoreError
from advisor.store.postgres.own_server import OWNER
from tests.postgres_server import SharedDatabase
from tests.unit.cli.test_fleet_apply import FLEET

TABLES = ["configurations", "pauses", "workers", "pairs", "hosts", "attempts", "ticks", "outcomes"]


@pytest.mark.parametrize("user", ["rita", "alice", "olga"])
@pytest.mark.parametrize("table", TABLES)
def test_nobody_changes_a_table(shared_database: SharedDatabase, user: str, table: str) -> None:
    name = f"advisor.fleet_{table}"
    with psycopg.connect(shared_database.address(user), autocommit=True) as connection:
        for statement in (f"DELETE FROM {name}", f"INSERT INTO {name} DEFAULT VALUES"):
            with pytest.raises(pg.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.parametrize(
    ("user", "statement"),
    [
        ("alice", "SELECT advisor.fleet_apply('')"),
        ("alice", "SELECT advisor.fleet_pause('', NULL)"),
        ("alice", "SELECT advisor.fleet_resume('')"),
        ("rita", "SELECT advisor.fleet_plan()"),
        ("rita", "SELECT advisor.fleet_worker_starts('w')"),
        ("rita", "SELECT advisor.fleet_take_back(20)"),
        ("rita", "SELECT advisor.fleet_runs(1)"),
        ("rita", "SELECT advisor.fleet_tick(0)"),
        ("alice", "SELECT advisor.fleet_count('done', 1)"),
    ],
)
def test_a_role_does_no_more_than_it_may(
    shared_database: SharedDatabase, user: str, statement: str
) -> None:
    with (
        psycopg.connect(shared_database.address(user)) as connection,
        pytest.raises(pg.InsufficientPrivilege),
    ):
        connection.execute(statement)


@pytest.mark.parametrize(
    "content",
    [
        "\x1b[2J",
        FLEET.replace("[hosts.a]", '[hosts."../../etc"]'),
        FLEET.replace("[hosts.a]", '[hosts.a]\nreach = "-oProxyCommand=id"'),
        FLEET.replace('what = "path"', 'what = "path"\nshell = "id"'),
    ],
)
def test_a_configuration_that_was_not_checked_is_not_used(
    shared_database: SharedDatabase, content: str
) -> None:
    """An operator with a client of their own gets past `advisor fleet apply`."""
    with psycopg.connect(shared_database.address("olga"), autocommit=True) as connection:
        connection.execute("SELECT advisor.fleet_apply(%s)", (content,))
        with pytest.raises(StoreError, match="applied by olga") as refused:
            reading.applied(connection)
    assert "\x1b" not in str(refused.value)


def test_rows_that_are_none_are_left_out_and_words_are_printable(
    shared_database: SharedDatabase,
) -> None:
    with psycopg.connect(shared_database.address(OWNER), autocommit=True) as connection:
        connection.execute("SELECT advisor.fleet_apply(%s)", (FLEET,))
        connection.execute(
            "INSERT INTO advisor.fleet_pairs (task, source, destination, rate_bps, message) VALUES"
            " ('paths', 'a', 'b', 1e9, E'\\x1b[2J'), ('paths', 'b', 'a', 'NaN', ''),"
            " ('paths', '-o', 'a', 1e9, ''), ('paths', E'a\\nb', 'a', 1e9, '')"
        )
        connection.execute(
            "INSERT INTO advisor.fleet_hosts (host, failures, failed_s) VALUES ('a', -1, 0),"
            " ('b', 1, 'Infinity')"
        )
        state = reading.fleet_state(connection)
    [one] = state.pairs
    assert (one.source, one.message) == ("a", "\\x1b[2J")
    assert state.hosts == {}
