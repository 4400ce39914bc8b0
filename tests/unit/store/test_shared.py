"""The history in PostgreSQL: identity, copies, schema and address."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import psycopg
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.records import Record, RemarkRecord
from advisor.store.copying import copy_history
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.journal_backend import JournalBackend
from advisor.store.opening import open_backend
from advisor.store.postgres import queries, schema
from advisor.store.postgres.backend import PostgresBackend
from advisor.store.postgres.database import Unreachable
from advisor.store.postgres.own_server import OWNER, OwnServer
from tests.postgres_server import SharedDatabase
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session, make_an_advice

ELSEWHERE = Pair("x", "y")


def again(backend: PostgresBackend) -> Store:
    """The history as the next program has it, which knows of no failure."""
    return Store(PostgresBackend(backend.address, 60.0))


def records() -> list[Record]:
    return [
        make_a_session("s", 1.0),
        make_a_probe(session="s", recorded_s=2.0, rtt_s=0.05),
        make_a_probe(session="import:1", origin="iperf3", recorded_s=3.0),
        make_an_advice("s", 4.0),
        RemarkRecord(pair=PAIR, recorded_s=5.0, session="s", kind="note", text="a note"),
        make_a_probe(session="t", pair=ELSEWHERE, recorded_s=6.0),
    ]


# --- identity


def test_a_record_is_stored_once_whatever_way_it_comes(shared_database: SharedDatabase) -> None:
    store = Store(shared_database.backend("alice"))
    for _ in range(2):
        store.append(make_a_probe())
    assert store.append_missing([make_a_probe(), make_a_probe(recorded_s=2.0)]) == 1
    assert len(store.probes(PAIR)) == 2


def test_only_what_was_added_is_read(
    shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = shared_database.backend("alice")
    for number in range(5):
        backend.append(make_a_probe(recorded_s=float(number)))
    backend.read(PAIR)
    seen: list[int] = []
    real = queries.next_rows

    def spy(connection: psycopg.Connection, pair: Pair, first: int) -> list[queries.Row]:
        rows = real(connection, pair, first)
        seen.extend(row.number for row in rows)
        return rows

    monkeypatch.setattr("advisor.store.postgres.pair_rows.next_rows", spy)
    backend.append(make_a_probe(recorded_s=9.0))
    # By the same program, and by another from its local copy.
    for reading in (backend, shared_database.backend("alice")):
        assert len(reading.read(PAIR)[0]) == 6
    assert seen == [5, 6, 6]


def test_many_rows_come_in_parts(
    shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "_ROWS_AT_ONCE", 3)
    monkeypatch.setattr(queries, "_OCTETS_AT_ONCE", 1000)
    store = Store(shared_database.backend("alice"))
    probes = [make_a_probe(recorded_s=float(number)) for number in range(10)]
    store.append_missing(probes)
    assert Store(shared_database.backend("rita")).probes(PAIR) == probes
    assert [s.probes for s in Store(shared_database.backend("rita")).sessions()] == [10]


def test_another_history_at_the_same_address_is_read_again(
    shared_database: SharedDatabase,
) -> None:
    backend = shared_database.backend("alice")
    for number in range(3):
        backend.append(make_a_probe(recorded_s=float(number)))
    assert len(Store(backend).probes(PAIR)) == len(Store(backend).pairs()) * 3 == 3
    # Restored from a backup: the same history, with other rows after the first.
    shared_database.execute(
        "DELETE FROM advisor.records WHERE number > 1", "UPDATE advisor.pairs SET newest=1"
    )
    for store in (Store(backend), again(backend)):
        assert [p.recorded_s for p in store.probes(PAIR)] == [0.0]
        assert [s.probes for s in store.sessions()] == [1]
    shared_database.backend("bob").append(make_a_probe(recorded_s=7.0, session="b"))
    assert [p.recorded_s for p in again(backend).probes(PAIR)] == [0.0, 7.0]


# --- copies


def test_a_history_is_copied_in_both_directions_once(
    shared_database: SharedDatabase, tmp_path: Path
) -> None:
    journal, back = (JournalBackend(tmp_path / name) for name in ("journal", "back"))
    for record in records():
        journal.append(record)
    shared = shared_database.backend("alice")
    assert copy_history(journal, shared) == (6, 6)
    assert copy_history(journal, shared) == (6, 0)
    assert copy_history(shared, back) == (6, 6)
    # Who made a remark is no part of what it says.
    assert copy_history(back, shared) == copy_history(shared, journal) == (6, 0)
    for pair in (PAIR, ELSEWHERE):
        others = [r for r in back.read(pair)[0] if not isinstance(r, RemarkRecord)]
        assert others == [r for r in journal.read(pair)[0] if not isinstance(r, RemarkRecord)]
    [remark] = [r for r in back.read(PAIR)[0] if isinstance(r, RemarkRecord)]
    assert (remark.text, remark.by) == ("a note", "alice")


def test_two_histories_are_merged(shared_database: SharedDatabase, tmp_path: Path) -> None:
    journal, shared = JournalBackend(tmp_path), shared_database.backend("olga")
    for record in records()[:3]:
        journal.append(record)
    for record in records()[2:]:
        shared_database.backend("alice").append(record)
    assert copy_history(journal, shared) == (3, 2)
    key = {(type(r), r.recorded_s) for pair in shared.pairs() for r in shared.read(pair)[0]}
    assert key == {(type(r), r.recorded_s) for r in records()}


# --- schema and address


def test_a_schema_is_set_up_once_by_any_number_at_once(postgres: OwnServer) -> None:
    postgres.execute("postgres", "CREATE DATABASE several")
    done: list[list[int]] = []

    def set_up() -> None:
        with psycopg.connect(postgres.address(OWNER, "several")) as connection:
            done.append(schema.set_up(connection))

    threads = [threading.Thread(target=set_up) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == [[]] * 5 + [schema.versions()]


def test_an_older_program_leaves_a_newer_schema_alone(shared_database: SharedDatabase) -> None:
    shared_database.execute("INSERT INTO advisor.migrations VALUES (999)")
    with pytest.raises(StoreError, match=r"has schema 999, and .* update advisor"):
        Store(shared_database.backend("alice")).append(make_a_probe())
    with (
        psycopg.connect(shared_database.address(OWNER)) as connection,
        pytest.raises(StoreError, match="update advisor"),
    ):
        schema.set_up(connection)


def test_a_database_without_a_history_says_what_to_do(postgres: OwnServer) -> None:
    address = postgres.address(OWNER, "postgres")
    with pytest.raises(StoreError, match="no history of advisor: its owner runs `advisor store"):
        open_backend(address).read(PAIR)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://alice:secret@db/advisor",
        "postgres://alice:@db/advisor",
        "postgresql://db/advisor?user=alice&password=secret",
        "postgresql://db/advisor?sslpassword=secret",
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(StoreError, match=r"list of processes: put it into ~/.pgpass") as refused:
        open_backend(address)
    assert "secret" not in str(refused.value)


def test_a_login_that_is_refused_is_said(shared_database: SharedDatabase) -> None:
    backend = shared_database.backend("stranger")
    Store(backend).append(make_a_probe())
    assert 'role "stranger" does not exist' in backend.notices[0]
    with pytest.raises(Unreachable):
        backend.send_waiting()


def test_nobody_needs_the_client_who_has_a_folder(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "sys.modules['psycopg'] = None\n"
        "from advisor.cli.main import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"
        "    print(sorted(name for name in sys.modules if name.startswith('psycopg.')))\n"
    )
    for place, said in (
        (str(tmp_path), "Nothing is stored yet"),
        ("postgresql://db/advisor", "'data-transfer-advisor[fleet]'"),
    ):
        words = ["history", "list", "--store", place]
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, text=True, check=False
        )
        assert said in done.stderr
        assert done.stdout.splitlines()[-1] == "[]"


def test_the_records_of_a_session_are_read_without_all_others_of_its_pair(
    shared_database: SharedDatabase,
) -> None:
    # A year of daily sessions of twenty records each.
    shared_database.execute(
        "INSERT INTO advisor.pairs (source, destination, newest) VALUES ('here', 'there', 7300)",
        "INSERT INTO advisor.records (pair_id, number, identity, kind, session, moved_files,"
        " written_by, octets, record) SELECT 1, n, decode(md5(n::text), 'hex'), 'probe',"
        " 's' || ((n - 1) / 20), false, 'owner', 100, '{}' FROM generate_series(1, 7300) AS n",
        "ANALYZE advisor.records",
    )
    plans = []

    class Explaining:
        """A connection that keeps how each question is answered."""

        def execute(self, question: str, values: tuple[object, ...]) -> object:
            explained = f"EXPLAIN (ANALYZE, FORMAT JSON) {question}"
            plans.append(connection.execute(explained, values).fetchone()[0][0]["Plan"])
            return connection.execute(question, values)

    with psycopg.connect(shared_database.address("rita")) as connection:
        rows = queries.rows_of_session(
            Explaining(),  # type: ignore[arg-type] # all that is asked of it
            Pair("here", "there"),
            "s300",
            ["probe"],
        )
    assert [row.number for row in rows] == list(range(6001, 6021))
    [plan] = plans
    assert visited(plan) <= 25


def visited(plan: dict[str, Any]) -> int:
    """How many rows were looked at in tables, those that were left out too."""
    own = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
    inside = [visited(one) for one in plan.get("Plans", [])]
    return sum(inside) if inside else own
