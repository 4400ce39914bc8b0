"""`advisor store`, and a shared history behind --store of the other commands."""

import itertools
from pathlib import Path
from typing import Any

import psycopg
import pytest
from typer.testing import Result

from advisor.cli.history.command import history
from advisor.cli.main import cli
from advisor.cli.options import configured_store
from advisor.cli.store.command import store as store_commands
from advisor.domain.records import RemarkRecord
from advisor.store.history import Store
from advisor.store.postgres import database
from advisor.store.postgres.database import Database
from advisor.store.postgres.own_server import OWNER, OwnServer
from advisor.store.postgres.spool import Waiting
from tests.commands import invoke
from tests.postgres_server import SharedDatabase
from tests.unit.cli.conftest import Typed
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session, make_an_advice


@pytest.fixture(autouse=True)
def _own_folders(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for kind in ("CACHE", "STATE", "CONFIG", "DATA"):
        monkeypatch.setenv(f"XDG_{kind}_HOME", str(tmp_path / kind))


def call(*words: str) -> Result:
    return invoke(store_commands, list(words))


def fill(store: Store) -> None:
    store.append(make_a_session("one", 1.7e9))
    store.append(make_a_probe(session="one", recorded_s=1.7e9 + 1, rtt_s=0.05))
    store.append(make_an_advice("one", 1.7e9 + 2))
    store.append(make_a_probe(session="two", recorded_s=1.7e9 + 9, rtt_s=0.05))


def test_a_database_is_set_up_once(postgres: OwnServer) -> None:
    postgres.execute("postgres", "CREATE DATABASE to_set_up")
    address = postgres.address(OWNER, "to_set_up")
    assert call("init", address).stdout == "Set up: schema 6.\n"
    assert call("init", address).stdout == "Nothing to do: the schema is up to date.\n"


@pytest.mark.parametrize(
    ("user", "database", "said"),
    [(OWNER, "missing", 'database "missing" does not exist'), ("alice", "postgres", "permission")],
)
def test_what_cannot_be_set_up_says_why(
    shared_database: SharedDatabase, user: str, database: str, said: str
) -> None:
    done = invoke(store_commands, ["init", shared_database.server.address(user, database)])
    assert done.exit_code == 1
    assert said in done.stderr
    assert "cannot be set up" in done.stderr


def test_an_account_without_a_role_sees_nothing_of_what_was_set_up(
    shared_database: SharedDatabase,
) -> None:
    with psycopg.connect(shared_database.address(OWNER)) as connection:
        rows = connection.execute(
            "SELECT has_schema_privilege(r, 'advisor', 'USAGE') FROM"
            " unnest(ARRAY['public', 'advisor_reader']) AS r"
        ).fetchall()
    assert rows == [(False,), (True,)]


WORDS = [
    ["list"],
    ["list", "--json"],
    ["sessions"],
    ["sessions", "--json"],
    ["show", str(PAIR)],
    ["show", str(PAIR), "--json"],
    ["export"],
    ["export", "--format", "csv"],
    ["export", "--session", "one"],
]


@pytest.mark.parametrize("words", WORDS, ids=" ".join)
def test_commands_say_the_same_of_both(
    shared_database: SharedDatabase, tmp_path: Path, words: list[str]
) -> None:
    places = [str(tmp_path / "history"), shared_database.address("alice")]
    said = []
    for place in places:
        fill(Store(Path(place)) if place == places[0] else Store(shared_database.backend("alice")))
        done = invoke(history, [*words, "--store", place])
        assert (done.exit_code, done.stderr) == (0, "")
        said.append(done.stdout.replace(f"--store {place}", "--store X"))
    one, other = map(_what_counts, said)
    assert one == other != []


def _what_counts(text: str) -> list[str]:
    """Without ages, which are relative to the clock, and places in a file, or numbers of rows."""
    left_out = ('"age_s"', '"offset"', '"length"')
    return [word for word in text.replace(",", " ").split() if not word.startswith(left_out)]


def test_remarks_say_whose_they_are(shared_database: SharedDatabase) -> None:
    fill(Store(shared_database.backend("alice")))
    place = ["--store", shared_database.address("olga")]
    for words in (["note", "one", "the link was busy"], ["delete", "two"]):
        assert invoke(history, [*words, *place]).exit_code == 0
    shown = invoke(history, ["sessions", "--deleted", *place]).stdout
    assert "the link was busy (olga)" in " ".join(shown.split())
    assert "deleted by olga" in " ".join(shown.split())
    refused = invoke(history, ["delete", "one", "--store", shared_database.address("bob")])
    assert refused.exit_code == 1
    assert "the session is somebody else's" in refused.stderr


def test_without_the_database_commands_say_once_what_they_show(
    shared_database: SharedDatabase,
) -> None:
    address = shared_database.address("alice").replace(shared_database.name, "gone")
    done = invoke(history, ["list", "--store", address])
    assert done.exit_code == 0
    lines = [line for line in done.stderr.splitlines() if "cannot be reached" in line]
    assert len(lines) == 1
    assert "results are those known on this host" in lines[0]


def test_a_history_is_copied(shared_database: SharedDatabase, tmp_path: Path) -> None:
    fill(Store(tmp_path / "history"))
    words = ["copy", str(tmp_path / "history"), shared_database.address("alice")]
    assert call(*words).stdout == "Copied 4 of 4 records; the others were there.\n"
    assert call(*words).stdout == "Copied 0 of 4 records; the others were there.\n"
    for user, words, expected in (
        ("alice", [], 4),
        ("rita", [], 2),
        ("rita", ["--restore"], 4),
    ):
        place = tmp_path / f"{user}{len(words)}"
        done = call("copy", shared_database.address(user), str(place), *words)
        assert done.stdout.startswith(f"Copied {expected} of {expected} records")
        assert len(Store(place).records(PAIR)) == expected


@pytest.mark.parametrize("pause_s", [0.0, 30.0], ids=["reached again", "not tried again"])
@pytest.mark.parametrize(
    "words", [["history", "export", "--store"], ["store", "copy"]], ids=" ".join
)
def test_a_part_of_what_was_not_always_reached_is_no_success(
    shared_database: SharedDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    pause_s: float,
) -> None:
    fill(Store(shared_database.backend("alice")))
    address = shared_database.address("rita")
    target = [str(tmp_path / "copy")] if "copy" in words else []
    really, asked = Database._within_limit, itertools.count(1)

    def away_for_a_moment(self: Database, work: Any) -> Any:
        if next(asked) == 2:
            raise psycopg.OperationalError("it went away")
        return really(self, work)

    monkeypatch.setattr(Database, "_within_limit", away_for_a_moment)
    monkeypatch.setattr(database, "_PAUSE_S", pause_s)
    done = invoke(cli, [*words, address, *target])
    assert (done.exit_code, next(asked) > 2) == (1, True)
    assert "may be incomplete" in done.stderr
    again = invoke(cli, [*words, address, *target])
    assert (again.exit_code, again.stderr) == (0, "")


def test_what_waits_is_sent(shared_database: SharedDatabase) -> None:
    assert call("send").stdout == "Nothing waits.\n"
    fill(Store(shared_database.backend("alice")))
    note = RemarkRecord(pair=PAIR, recorded_s=5.0, session="one", kind="outlier")
    bobs = shared_database.backend("bob")
    bobs.spool.add([Waiting(make_a_probe(session="bobs", recorded_s=7.0)), Waiting(note)])
    done = call("send")
    assert done.exit_code == 0
    assert "sent 1, 0 wait" in done.stdout
    assert "did not take 1 record, kept in" in done.stderr
    assert len(Store(bobs).probes(PAIR)) == 3


def test_what_cannot_be_sent_still_waits(shared_database: SharedDatabase) -> None:
    nobodys = shared_database.backend("nobody_here")
    nobodys.spool.add([Waiting(make_a_probe())])
    done = call("send")
    assert done.exit_code == 1
    assert 'role "nobody_here" does not exist' in done.stderr
    assert len(nobodys.spool) == 1


def test_the_configuration_names_it(shared_database: SharedDatabase, tmp_path: Path) -> None:
    file = tmp_path / "CONFIG" / "advisor" / "config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'store = "{shared_database.address("alice")}"\n')
    assert configured_store().argument == shared_database.address("alice")
    assert invoke(cli, ["config", "validate"]).exit_code == 0
    file.write_text('store = "postgresql://alice:secret@db/advisor"\n')
    for words in (["config", "validate"], ["history", "list"]):
        done = invoke(cli, words)
        assert done.exit_code == 2
        assert "config.toml: store: a password in the address" in done.stderr
        assert "secret" not in done.stderr


def test_a_password_on_the_command_line_is_refused() -> None:
    done = invoke(history, ["list", "--store", "postgresql://alice:secret@db/advisor"])
    assert done.exit_code == 2
    assert "--store: a password in the address of the history" in done.stderr
    assert "secret" not in done.stderr


def test_only_a_database_is_set_up() -> None:
    done = call("init", "/data/history")
    assert done.exit_code == 2
    assert "write postgresql://HOST/DATABASE" in done.stderr


NOWHERE = "there is no history at"


def test_a_history_that_does_not_exist_is_not_copied(typed: Typed, tmp_path: Path) -> None:
    done = typed("store", "copy", tmp_path / "histroy", tmp_path / "other")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"advisor: FROM: {NOWHERE} {tmp_path}/histroy: ")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["history"],
        ["history", "list"],
        ["history", "show", "dtn02"],
        ["history", "advice"],
        ["history", "replay", "dtn02"],
        ["history", "sessions"],
        ["history", "note", "one", "text"],
        ["history", "export"],
        ["profile", "list"],
        ["profile", "show", "one"],
        ["profile", "compare", "one", "two"],
        ["profile", "rtt"],
        ["profile", "export", "one"],
    ],
    ids=" ".join,
)
def test_what_only_reads_says_that_there_is_none(
    words: list[str], typed: Typed, tmp_path: Path
) -> None:
    done = typed(*words, "--store", tmp_path / "histroy")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"advisor: {NOWHERE} {tmp_path}/histroy: ")
    assert not (tmp_path / "histroy").exists()


def test_so_it_does_where_the_group_was_told(typed: Typed, tmp_path: Path) -> None:
    assert typed("history", "--store", tmp_path / "histroy", "export").returncode == 1
    # Without --store the first use of the program is no mistake.
    done = typed("history", "export")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("address", ["mysql://x/y", "sqlite:///x", "POSTGRESQL://x/y"])
def test_an_address_of_something_else_is_no_folder(
    address: str, typed: Typed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (
        ["history", "--store", address],
        ["advise", "localhost", "--store", address],
        ["store", "copy", address, "there"],
    ):
        done = typed(*words)
        assert done.returncode == 2
        assert f"'{address}' is neither a folder nor a database" in done.stderr
    assert typed("store", "copy", tmp_path, address).returncode == 1
    assert [one.name for one in tmp_path.iterdir() if ":" in one.name] == []
