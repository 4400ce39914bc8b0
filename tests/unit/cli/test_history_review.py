"""The commands that say something of a session, as a user types them."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from advisor.cli.history.command import history
from advisor.domain.endpoints import Pair
from advisor.store.history import Store
from tests.commands import invoke
from tests.unit.store.conftest import PAIR, make_a_probe, make_a_session, make_an_advice

Run = Callable[..., Result]


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    store = Store(tmp_path / "store")
    for record in (
        make_a_session("20261121T07-aa", 990.0),
        make_a_probe(2e9, session="20261121T07-aa"),
        make_an_advice("20261121T07-aa", 1001.0),
        make_a_session("20261122T08-bb", 1999.0, Pair("x", "y")),
        make_a_probe(session="20261122T08-bb", pair=Pair("x", "y"), recorded_s=2000.0),
    ):
        store.append(record)
    return store


@pytest.fixture
def run(store: Store) -> Run:
    def call(*arguments: str) -> Result:
        return invoke(history, [*arguments, "--store", store.argument])

    return call


def test_sessions_are_listed_newest_first(run: Run) -> None:
    head, newest, oldest = run("sessions").stdout.splitlines()
    assert head.split() == [
        "session",
        "began",
        "pair",
        "state",
        "probes",
        "best",
        "advice",
        "remarks",
    ]
    assert newest.split()[::3][:2] == ["20261122T08-bb", "interrupted"]
    assert "advised" in oldest
    assert "tcp 2 Gbit/s" in oldest
    (only,) = json.loads(run("sessions", "y", "--json").stdout)
    assert (only["session"], only["state"]) == ("20261122T08-bb", "interrupted")


def test_a_note_is_shown_and_taken_back(run: Run) -> None:
    assert run("note", "20261121", "at night").exit_code == 0
    assert run("sessions").stdout.splitlines()[2].endswith("at night")
    assert run("note", "20261121", "another", "--undo").exit_code == 1
    assert run("note", "20261121", "at night", "--undo").exit_code == 0
    assert "at night" not in run("sessions").stdout


def test_an_outlier_counts_no_more(run: Run, store: Store) -> None:
    assert "no longer counts" in run("outlier", "20261121").stdout
    assert store.best(PAIR, 2000.0) == []
    table = run("export", "dtn2.example.org", "--format", "csv").stdout
    assert [row["outlier"] for row in csv.DictReader(table.splitlines())] == ["yes"]
    run("outlier", "20261121", "--undo")
    assert len(store.best(PAIR, 2000.0)) == 1


def test_a_deleted_session_is_hidden_and_brought_back(run: Run) -> None:
    run("delete", "20261122")
    assert "20261122" not in run("sessions").stdout
    assert "x->y" not in run().stdout
    assert "20261122" not in run("export", "--format", "csv").stdout
    assert len(run("export").stdout.splitlines()) == 6
    assert "are deleted" in run("sessions", "y").stderr
    assert "deleted" in run("sessions", "--deleted").stdout
    assert "is back" in run("delete", "20261122", "--undo").stdout
    assert "20261122" in run("sessions").stdout


@pytest.mark.parametrize(
    ("took", "verdict"),
    [("1000s", "as advised"), ("2000s", "less than advised"), ("500s", "more than advised")],
)
def test_a_transfer_is_compared_with_the_advice(run: Run, took: str, verdict: str) -> None:
    answer = run("transferred", "20261121", "--size", "125GB", "--took", took)
    assert f": {verdict} (90 %: 900 Mbit/s to 1.10 Gbit/s)." in answer.stdout
    assert verdict in run("sessions").stdout


def test_a_transfer_without_advice(run: Run) -> None:
    answer = run("transferred", "20261122", "--size", "1GB", "--took", "8s")
    assert answer.stdout == "1 Gbit/s; session 20261122T08-bb has no advice to compare it with.\n"


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["note", "1999", "x"], 1, "no session begins with '1999'"),
        (["outlier", ""], 1, "no session begins with ''"),
        (["delete", "2026"], 2, "2 begin with '2026': write more of one of 20261122T08-bb, 2026"),
        (["note", "20261121", " "], 2, "TEXT is empty"),
        (["transferred", "20261121", "--size", "1GB"], 2, "--took"),
        (["transferred", "20261121", "--size", "0", "--took", "1s"], 2, "at least one byte"),
        (["export", "--format", "flent", "--output", "f"], 2, "name a PAIR or a --session"),
        (["export", "y", "--format", "flent"], 2, "--output FILE.flent.gz"),
        (["export", "y", "--session", "20261121"], 2, "not to x->y"),
    ],
)
def test_what_is_wrong_is_said(run: Run, arguments: list[str], code: int, sentence: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert sentence in " ".join(result.stderr.split())


def test_a_session_is_exported_for_flent(run: Run, tmp_path: Path) -> None:
    output = tmp_path / "one.flent.gz"
    done = run("export", "--session", "20261121", "--format", "flent", "--output", str(output))
    assert done.exit_code == 0, done.output
    data = json.loads(gzip.decompress(output.read_bytes()))
    assert (data["version"], data["metadata"]["NAME"]) == (4, "tcp_nup")
    assert data["x_values"] == [0.0]
    assert data["results"] == {"TCP upload::1": [2000.0]}
    assert data["raw_values"]["TCP upload::1"] == [{"t": 1000.0, "val": 2000.0, "dur": 0.5}]
    assert data["metadata"]["T0"] == "1970-01-01T00:16:39.500000Z"
