"""Workers and coordinators that stall, or are cut off, with locks of a fleet's database."""

import select

import psycopg
import pytest

from advisor.fleet.nodes.queue import LotQueue, QueueAway
from advisor.fleet.state import connecting
from advisor.fleet.state.changing import apply
from advisor.fleet.state.connecting import DatabaseConnection, connect
from advisor.fleet.work.claiming import Claim, claim
from advisor.store.postgres.address import Address
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase, shared_database, temporary_server
from tests.unit.fleet.test_lot_queue import KEY, PAIR, asked


def planning(database: SharedDatabase, user: str) -> DatabaseConnection:
    """A connection that has stopped amid deciding what to measure."""
    connection = connect(Address(database.address(user)))
    connection.execute("BEGIN")
    connection.execute("SELECT advisor.fleet_plan()")
    return connection


def test_a_worker_that_stalls_while_it_decides_keeps_nobody_else_from_it(
    shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(shared_database.address("olga"), autocommit=True) as connection:
        apply(connection, described("a", "b"))
    address = Address(shared_database.address("bob"))
    with connect(address) as connection:
        row = connection.execute("SELECT advisor.fleet_worker_starts('w')").fetchone()
    assert row
    with monkeypatch.context() as patched:
        patched.setattr(connecting, "_IDLE_LIMIT_S", 0.5, raising=False)
        stalled = planning(shared_database, "alice")
    found = claim(address, int(row[0]), frozenset())
    assert isinstance(found, Claim)
    found.close()
    with pytest.raises(psycopg.Error):
        stalled.execute("SELECT advisor.fleet_take_back(20)")
    stalled.close()


def test_the_server_gives_up_who_is_cut_off_within_a_minute() -> None:
    host = "127.37.41.43"  # Nobody else listens there.
    with temporary_server(("fsync=off", f"listen_addresses={host}")) as server:
        access = server.folder / "data" / "pg_hba.conf"
        access.write_text(f"{access.read_text()}host all all 127.0.0.0/8 trust\n")
        database = shared_database(server)
        server.execute(database.name, "SELECT pg_reload_conf()")
        address = Address(f"postgresql://alice@{host}:5432/{database.name}")
        with connect(address) as connection:
            question = "SELECT name, setting::integer FROM pg_settings WHERE name LIKE 'tcp%'"
            found = dict(connection.execute(question).fetchall())
    probed_s = found["tcp_keepalives_interval"] * found["tcp_keepalives_count"]
    assert 0 < found["tcp_keepalives_idle"] + probed_s <= 60
    assert 0 < found["tcp_user_timeout"] <= 60_000


def test_a_coordinator_that_was_suspended_asks_again(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        with pytest.raises(QueueAway):
            await queue._do(_stalls_amid_a_transaction)
        assert list(await queue.draw(1, 1, [])) == [1]

    asked(shared_database, ask)


def _stalls_amid_a_transaction(connection: DatabaseConnection) -> None:
    with connection.transaction():
        connection.execute("SET LOCAL idle_in_transaction_session_timeout = 100")
        # The server has the last word.
        select.select([connection.fileno()], [], [], 30)
        connection.execute("SELECT 1")
