"""Users of a shared history who want more than their role allows, and rows made to harm."""

import json
from pathlib import Path

import msgspec
import psycopg
import pytest
from psycopg import errors as pg

from advisor.domain.advice import Command
from advisor.domain.records import AdviceRecord, ProbeRecord, RemarkRecord
from advisor.store.copying import copy_history
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.journal_backend import JournalBackend
from advisor.store.opening import open_shared
from advisor.store.postgres.own_server import OWNER
from advisor.store.postgres.rows import columns_of, text_of
from advisor.store.remarks import counting, session_of
from tests.postgres_server import SharedDatabase
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session, make_an_advice

PROBE = json.loads(text_of(make_a_probe(session="alices", recorded_s=2.0)))


@pytest.fixture
def alices(shared_database: SharedDatabase) -> Store:
    """A history with a session of alice."""
    store = Store(shared_database.backend("alice"))
    store.append(make_a_session("alices", 1.0))
    store.append(make_a_probe(session="alices", recorded_s=2.0))
    return store


def remark(kind: str, session: str = "alices", *, on: bool = True) -> RemarkRecord:
    return RemarkRecord(pair=PAIR, recorded_s=9.0, session=session, kind=kind, text="", on=on)  # type: ignore[arg-type] # one of the kinds


STATEMENTS = [
    "DELETE FROM advisor.records",
    "UPDATE advisor.records SET record = '{}'",
    "UPDATE advisor.records SET written_by = 'bob'",
    "INSERT INTO advisor.records SELECT * FROM advisor.records",
    "TRUNCATE advisor.records",
    "UPDATE advisor.sessions SET written_by = 'bob'",
    "DELETE FROM advisor.sessions",
    "UPDATE advisor.pairs SET newest = 0",
    "DELETE FROM advisor.files",
    "DELETE FROM advisor.migrations",
    "INSERT INTO advisor.migrations VALUES (999)",
    "UPDATE advisor.history SET id = gen_random_uuid()",
    "DROP SCHEMA advisor CASCADE",
    "CREATE TABLE advisor.more ()",
    "SELECT advisor.locked_pair('a', 'b')",
    "GRANT advisor_operator TO bob",
    "SET ROLE advisor_operator",
]


@pytest.mark.parametrize("user", ["rita", "bob", "olga"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_nobody_changes_what_is_stored(
    alices: Store, shared_database: SharedDatabase, user: str, statement: str
) -> None:
    if user == "olga" and statement == "SET ROLE advisor_operator":
        return  # It is hers.
    with (
        psycopg.connect(shared_database.address(user)) as connection,
        pytest.raises(pg.InsufficientPrivilege),
    ):
        connection.execute(statement)


@pytest.mark.parametrize("call", ["append", "keep"])
def test_a_reader_writes_nothing(alices: Store, shared_database: SharedDatabase, call: str) -> None:
    store = Store(shared_database.backend("rita"))
    assert store.probes(PAIR) == alices.probes(PAIR)
    with pytest.raises(StoreError, match=r"refuses this account.* advisor_writer"):
        store.append(make_a_probe(session="new"))
    arguments = {
        "append": "('a','b','{x}','{x}','{x}','{x}','{f}','{1}','{f}','{1}','{1}','{x}')",
        "keep": "('a', 'b', 's', 'n', '')",
    }
    with (
        psycopg.connect(shared_database.address("rita")) as connection,
        pytest.raises(pg.InsufficientPrivilege),
    ):
        connection.execute(f"SELECT advisor.{call}{arguments[call]}")


def test_whether_an_account_may_write_is_known_before_anything_is_measured(
    shared_database: SharedDatabase,
) -> None:
    for user in ("alice", "olga"):
        Store(shared_database.backend(user)).check_access(PAIR)
    with pytest.raises(StoreError, match=r"refuses this account.* advisor_writer"):
        Store(shared_database.backend("rita")).check_access(PAIR)
    assert Store(shared_database.backend("rita")).stored_pairs() == []


def test_who_has_no_role_sees_nothing(alices: Store, shared_database: SharedDatabase) -> None:
    with psycopg.connect(shared_database.address(OWNER), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS mallory")
        connection.execute("CREATE ROLE mallory LOGIN")
    with pytest.raises(StoreError, match="refuses this account"):
        Store(shared_database.backend("mallory")).records(PAIR)


@pytest.mark.parametrize(
    "record",
    [
        make_a_probe(session="alices", recorded_s=5.0),
        make_an_advice("alices", 5.0),
        make_a_session("alices", 5.0),
        remark("outlier"),
        remark("deleted"),
        remark("deleted", on=False),
        remark("deleted", "import:20200228-1f2e3d"),
    ],
    ids=lambda one: f"{type(one).__name__} {getattr(one, 'kind', '')}",
)
def test_a_writer_has_no_part_in_the_sessions_of_others(
    alices: Store, shared_database: SharedDatabase, record: RemarkRecord
) -> None:
    before = alices.records(PAIR)
    with pytest.raises(StoreError, match="the session is somebody else's"):
        Store(shared_database.backend("bob")).append(record)
    assert alices.records(PAIR) == before
    # The operator may.
    Store(shared_database.backend("olga")).append(record)
    assert len(alices.records(PAIR)) == len(before) + 1


def test_remarks_carry_who_made_them_as_the_database_knows(
    alices: Store, shared_database: SharedDatabase
) -> None:
    note = RemarkRecord(
        pair=PAIR, recorded_s=9.0, session="alices", kind="note", text="hm", by="alice"
    )
    Store(shared_database.backend("bob")).append(note)
    Store(shared_database.backend("olga")).append(remark("deleted"))
    [session] = alices.sessions(include_deleted=True)
    assert [(one.text, one.by) for one in session.notes] == [("hm", "bob")]
    assert (session.deleted, session.deleted_by) == (True, "olga")
    with psycopg.connect(shared_database.address("bob")) as connection:
        connection.execute("SET ROLE advisor_writer")
        row = connection.execute("SELECT session_user").fetchone()
        columns = columns_of([(remark("note"), False)])
        connection.execute(
            "SELECT advisor.append(%s, %s, %s::text[], %s::text[], %s::text[], %s::text[],"
            " %s::boolean[], %s::float8[], %s::boolean[], %s::float8[], %s::float8[], %s::text[])",
            (PAIR.source, PAIR.destination, *columns),
        )
    assert row == ("bob",)
    [session] = alices.sessions(include_deleted=True)
    assert {one.by for one in session.notes} == {"bob"}


def imported(number: int, recorded_s: float, rate_bps: float) -> ProbeRecord:
    return make_a_probe(
        rate_bps, session=f"import:{number}", recorded_s=recorded_s, origin="iperf3"
    )


@pytest.mark.parametrize("kind", ["deleted", "outlier"])
def test_who_imports_first_has_no_part_in_what_others_import(
    shared_database: SharedDatabase, kind: str
) -> None:
    """The session of a day's imports has a name that everybody knows, and an owner."""
    alice, bob, olga, rita = (
        Store(shared_database.backend(user)) for user in ("alice", "bob", "olga", "rita")
    )
    first = imported(1, 86400.0 * 20000 + 5, 1.0)
    name = session_of(first)
    bob.append_new([first])
    bob.append(remark(kind, name))
    assert alice.append_new([imported(2, 86400.0 * 20000 + 500, 9e9)]) == 1
    again = Store(shared_database.backend("alice"))
    for store in (alice, again, bob, rita):
        assert [one.throughput_bps for one in store.best(PAIR, 10.0)] == [9e9]
        [session] = store.sessions()
        assert session.best is not None
        assert (session.session, session.best.throughput_bps) == (name, 9e9)
        assert (session.deleted, session.outlier) == (False, False)
        [probe] = counting(store.records(PAIR))
        assert probe.by == (msgspec.UNSET if store is alice or store is again else "alice")
    # Bob's own mark is bob's to withdraw.
    bob.append(msgspec.structs.replace(remark(kind, name, on=False), recorded_s=10.0))
    assert len(counting(rita.records(PAIR))) == 2
    # The operator's is about all of it.
    olga.append(msgspec.structs.replace(remark(kind, name), recorded_s=11.0))
    for store in (alice, bob, rita):
        assert store.best(PAIR, 10.0) == []
        [session] = store.sessions(include_deleted=True)
        assert (session.deleted, session.outlier) == (kind == "deleted", kind == "outlier")
    olga.append(msgspec.structs.replace(remark(kind, name, on=False), recorded_s=12.0))
    assert len(counting(rita.records(PAIR))) == 2


@pytest.mark.parametrize("kind", ["deleted", "outlier"])
def test_what_an_account_has_imported_alone_it_hides_and_discredits(
    shared_database: SharedDatabase, kind: str
) -> None:
    bob, rita = (Store(shared_database.backend(user)) for user in ("bob", "rita"))
    first = imported(1, 86400.0 * 20000 + 5, 1e9)
    bob.append_new([first])
    bob.append(remark(kind, session_of(first)))
    for store in (bob, rita):
        assert store.best(PAIR, 10.0) == []
        [session] = store.sessions(include_deleted=True)
        assert (session.deleted, session.outlier) == (kind == "deleted", kind == "outlier")
        assert len(store.sessions()) == (kind == "outlier")


def test_a_mark_on_one_probe_is_about_ones_own(shared_database: SharedDatabase) -> None:
    alice, bob = (Store(shared_database.backend(user)) for user in ("alice", "bob"))
    recorded_s = 86400.0 * 20000
    bob.append_new([imported(1, recorded_s, 1e9)])
    alice.append_new([imported(2, recorded_s, 2e9)])
    mark = remark("outlier", session_of(imported(1, recorded_s, 1e9)))
    bob.append(msgspec.structs.replace(mark, probe_s=recorded_s))
    assert [one.throughput_bps for one in alice.best(PAIR, 10.0)] == [2e9]
    [session] = alice.sessions()
    assert session.outlier_probes == [recorded_s]


def test_an_operator_who_imports_too_still_marks_everything(
    shared_database: SharedDatabase,
) -> None:
    bob, olga = (Store(shared_database.backend(user)) for user in ("bob", "olga"))
    first = imported(1, 86400.0 * 20000, 1e9)
    olga.append_new([first])
    bob.append_new([imported(2, 86400.0 * 20000 + 5, 2e9)])
    olga.append(remark("deleted", session_of(first)))
    for store in (bob, olga):
        assert store.sessions() == []


def lying(
    database: SharedDatabase, user: str, text: str, kind: str = "probe", session: str = "bobs"
) -> None:
    """Add a row by the database's own function, with columns that say something else."""
    with psycopg.connect(database.address(user), autocommit=True) as connection:
        connection.execute(
            "SELECT advisor.append(%s, %s, ARRAY[%s], ARRAY[%s], ARRAY[%s], ARRAY[NULL]::text[],"
            " '{f}', '{NULL}', '{f}', '{NULL}', '{NULL}', '{NULL}')",
            (PAIR.source, PAIR.destination, text, kind, session),
        )


@pytest.mark.parametrize(
    ("text", "kind", "session"),
    [
        # What would be refused, said to be something else.
        (text_of(remark("deleted")), "note", "alices"),
        (text_of(remark("outlier")), "transfer", "alices"),
        (text_of(remark("deleted")), "probe", "bobs"),
        (text_of(make_a_probe(session="alices", recorded_s=7.0)), "import", "alices"),
        (text_of(make_a_probe(session="alices", recorded_s=7.0)), "probe", "bobs"),
        # Keys given twice, of which one reader takes the first and another the last.
        (text_of(remark("note"))[:-1] + ',"kind":"deleted"}', "note", "alices"),
        # Of another pair.
        (text_of(make_a_probe(pair=type(PAIR)("a", "b"), session="bobs")), "probe", "bobs"),
        # No records, or such that do harm.
        ("{}", "probe", "bobs"),
        ("[" * 1000 + "]" * 1000, "probe", "bobs"),
        ('{"record":' + '{"a":' * 500 + "1" + "}" * 501, "probe", "bobs"),
        (json.dumps(PROBE | {"session": "bobs", "subject": "tcp\x1b[2J"}), "probe", "bobs"),
        (json.dumps(PROBE | {"session": "bobs", "label": "a\u202eb"}), "probe", "bobs"),
        (json.dumps(PROBE | {"session": "bobs", "recorded_s": 1e300}), "probe", "bobs"),
        (json.dumps(PROBE | {"session": "bobs", "label": "\x00"}), "probe", "bobs"),
        ('"\\ud800"', "probe", "bobs"),
        (json.dumps(PROBE | {"session": "bobs", "setting": {"streams": 2**64}}), "probe", "bobs"),
        (json.dumps(PROBE | {"session": "bobs", "method_state": {"a": 2**64}}), "probe", "bobs"),
        (
            '{"record":"transfer","pair":' + json.dumps(PROBE["pair"]) + ',"recorded_s":1.0,'
            f'"session":"bobs","total_bytes":{2**64},"elapsed_s":1.0}}',
            "transfer",
            "bobs",
        ),
        ("9" * 5000, "probe", "bobs"),
    ],
    ids=range(19),
)
def test_a_hostile_row_is_skipped_and_counted(
    alices: Store, shared_database: SharedDatabase, text: str, kind: str, session: str
) -> None:
    before, summaries = alices.records(PAIR), alices.pairs(10.0)
    lying(shared_database, "bob", text, kind, session)
    assert alices.records(PAIR) == before
    assert alices.latest_unfinished_session() is not None
    for store in (alices, Store(shared_database.backend("rita"))):
        assert len(store.records(PAIR)) == len(before)
        assert store.skipped(PAIR) == 1
        [summary] = store.pairs(10.0)
        assert (summary.best, summary.skipped) == (summaries[0].best, 1)
        assert [s.session for s in store.sessions()] == ["alices"]


@pytest.mark.parametrize(
    ("rtt", "bandwidth"),
    [("1e-300", "1e300"), ("NaN", "NaN"), ("Infinity", "-Infinity"), ("-1", "-1"), ("0", "0")],
)
def test_a_path_that_is_none_harms_no_later_question(
    alices: Store, shared_database: SharedDatabase, rtt: str, bandwidth: str
) -> None:
    alices.append(make_a_probe(session="alices", recorded_s=3.0, rtt_s=0.05, bandwidth_bps=1e9))
    with psycopg.connect(shared_database.address("bob"), autocommit=True) as connection:
        connection.execute(
            "SELECT advisor.append('a', 'b', '{{}}', '{probe}', '{s}', '{NULL}', '{t}',"
            " %s, '{t}', %s, %s, '{h}')".replace("'{{}}'", "ARRAY['{}']"),
            (f"{{{rtt}}}", f"{{{rtt}}}", f"{{{bandwidth}}}"),
        )
    [similar] = alices.similar(type(PAIR)("x", "y"), 0.05, 1e9)
    assert similar.pair == PAIR
    assert alices.transfers() == []
    assert alices.latest_unfinished_session() is not None
    assert alices.session_to_extend("") is not None


def test_a_pair_with_a_name_that_cannot_be_shown_is_left_out(
    alices: Store, shared_database: SharedDatabase
) -> None:
    with psycopg.connect(shared_database.address("bob"), autocommit=True) as connection:
        connection.execute(
            "SELECT advisor.append(%s, 'b', ARRAY['{}'], '{probe}', '{s}', ARRAY[NULL]::text[],"
            " '{f}', '{NULL}', '{f}', '{NULL}', '{NULL}', '{NULL}')",
            ("a\x1b]0;",),
        )
    assert alices.stored_pairs() == [PAIR]


def test_a_bomb_in_place_of_events_is_read_in_bounds(
    alices: Store, shared_database: SharedDatabase
) -> None:
    backend = shared_database.backend("bob")
    backend.append(make_a_session("bobs", 1.0))
    for number, data in enumerate((b"no gzip", b"\x1f\x8b" + b"\0" * 100)):
        with psycopg.connect(shared_database.address("bob"), autocommit=True) as connection:
            connection.execute(
                "SELECT advisor.keep(%s, %s, 'bobs', %s, %s)",
                (PAIR.source, PAIR.destination, f"events.{number}", data),
            )
    assert alices.events(PAIR, "bobs") == []


def test_files_of_others_are_not_replaced(alices: Store, shared_database: SharedDatabase) -> None:
    with psycopg.connect(shared_database.address("bob"), autocommit=True) as connection:
        row = connection.execute(
            "SELECT advisor.keep(%s, %s, 'alices', 'events.0', 'x')",
            (PAIR.source, PAIR.destination),
        ).fetchone()
        files = connection.execute("SELECT count(*) FROM advisor.files").fetchone()
    assert (row, files) == ((False,), (0,))


def test_nobody_runs_what_somebody_else_wrote(
    alices: Store, shared_database: SharedDatabase
) -> None:
    """A request can start programs when it is resumed; advice has lines to copy."""
    plain = make_an_advice("alices", 3.0, incomplete=True)
    line = Command(tool="globus-url-copy", side="source", argv=["evil"], shell="evil")
    advice = msgspec.structs.replace(plain.advice, commands=[line])
    alices.append(msgspec.structs.replace(plain, advice=advice))
    assert alices.latest_unfinished_session() is not None
    assert alices.session_to_extend("alices") is not None
    for user in ("bob", "rita", "olga"):
        store = Store(shared_database.backend(user))
        assert store.latest_unfinished_session() is None
        assert store.latest_unfinished_session(PAIR) is None
        assert store.session_to_extend("") is store.session_to_extend("alices") is None
        [advised] = [r for r in store.records(PAIR) if isinstance(r, AdviceRecord)]
        [summary] = store.pairs(10.0)
        assert summary.last_advice == advised
        assert (advised.advice.commands, advised.advice.limits) == ([], [])
        assert advised.advice.expected_bps > 0
    [own] = [r for r in alices.records(PAIR) if isinstance(r, AdviceRecord)]
    assert own.advice.commands


def test_a_copy_has_no_orders_of_others(
    alices: Store, shared_database: SharedDatabase, tmp_path: Path
) -> None:
    alices.append(make_an_advice("alices", 3.0))
    for takes, expected in (("without requests", 1), ("everything", 3)):
        journal = JournalBackend(tmp_path / takes)
        copied = open_shared(shared_database.address("olga"), 60.0, takes)  # type: ignore[arg-type] # one of them
        assert copy_history(copied, journal) == (expected, expected)
        # What was copied is there already, and belongs to whom it did.
        assert copy_history(journal, shared_database.backend("olga")) == (expected, 0)


def test_a_search_path_leads_nowhere(alices: Store, shared_database: SharedDatabase) -> None:
    """What a user puts in front of the server's own functions is not called."""
    shared_database.execute(
        "CREATE SCHEMA trap",
        "GRANT ALL ON SCHEMA trap TO PUBLIC",
        "CREATE FUNCTION trap.sha256(bytea) RETURNS bytea LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'caught'; END $$",
        "CREATE FUNCTION trap.max(integer) RETURNS integer LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE EXCEPTION 'caught'; END $$",
        "ALTER ROLE bob SET search_path = trap, pg_catalog",
    )
    try:
        store = Store(shared_database.backend("bob"))
        store.append(make_a_probe(session="bobs", recorded_s=8.0))
        assert len(store.records(PAIR)) == 3
    finally:
        shared_database.execute("ALTER ROLE bob RESET search_path")
