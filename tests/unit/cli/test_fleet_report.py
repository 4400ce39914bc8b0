"""`advisor fleet report` with a real database."""

import time
from pathlib import Path

import pytest

from tests.fleet_history import Filling
from tests.postgres_server import SharedDatabase
from tests.unit.fleet.test_claiming import Desk
from tests.unit.report.test_fleet_page import Page

from .conftest import Typed

HOSTS = ["ant", "bee", "cat", "dtn3", "dtn4", "elk"]


@pytest.fixture
def filled(shared_database: SharedDatabase) -> SharedDatabase:
    """Five hosts measured with each other 24 times, and one that is down."""
    Filling(HOSTS, 24, time.time()).write(shared_database)
    return shared_database


def report(typed: Typed, database: SharedDatabase, file: Path, *words: str) -> Page:
    done = typed("fleet", "report", file, "--store", database.address("rita"), *words)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{file}: 35 pairs, ")
    return Page(file.read_text())


def test_a_reader_writes_a_report_with_curves_changes_limits_and_gaps(
    typed: Typed, filled: SharedDatabase, tmp_path: Path
) -> None:
    page = report(typed, filled, tmp_path / "f.html")
    assert "20 of 35 pairs measured" in page.text
    assert len(page.all("svg", **{"class": "spark"})) == 20
    # Each pair of the host whose kernel changed, in both directions.
    assert len(page.all("svg", **{"class": "chart"})) == 8
    assert "8bee" in page.text.replace(" ", "").replace("\n", "")
    assert "kernel was 6.1.0, then 6.12.4" in page.text
    assert "8 MiB receive buffer at most" in page.text
    assert "sysctl -w net.core.rmem_max=67108864" in page.text
    assert "ip link set dev eth0 mtu 9000" in page.text
    assert "elk is down: ssh: connect to host port 22: No route to host" in page.text
    assert "the agent refused: its version is 0.0.9" in page.text


def test_what_is_older_than_wanted_is_left_out(
    typed: Typed, filled: SharedDatabase, tmp_path: Path
) -> None:
    page = report(typed, filled, tmp_path / "f.html", "--since", "14d")
    assert len(page.all("svg", **{"class": "spark"})) == 20
    assert "2 results" in page.text
    assert "No pair has changed." in page.text


def test_a_file_is_replaced_only_where_that_is_said(
    typed: Typed, filled: SharedDatabase, tmp_path: Path
) -> None:
    file = tmp_path / "fleet.html"
    file.write_text("mine")
    store = ["--store", filled.address("rita")]
    refused = typed("fleet", "report", file, *store)
    assert refused.returncode == 2
    assert "is there already: give --overwrite" in refused.stderr
    assert file.read_text() == "mine"
    assert report(typed, filled, file, "--overwrite").all("html")


def test_a_file_that_appears_meanwhile_stays(
    typed: Typed, filled: SharedDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fleet.html"
    monkeypatch.setattr(type(file), "exists", lambda _: False)
    file.write_text("mine")
    refused = typed("fleet", "report", file, "--store", filled.address("rita"))
    assert refused.returncode == 2
    assert file.read_text() == "mine"


def test_a_folder_that_is_not_there_is_said(
    typed: Typed, filled: SharedDatabase, tmp_path: Path
) -> None:
    file = tmp_path / "nowhere" / "fleet.html"
    failed = typed("fleet", "report", file, "--store", filled.address("rita"))
    assert failed.returncode == 1
    assert "no such file or directory: name another file" in failed.stderr


def test_a_fleet_that_was_never_at_work_has_a_report(
    typed: Typed, shared_database: SharedDatabase, tmp_path: Path
) -> None:
    from tests.fleet_history import mesh_of

    desk = Desk(shared_database)
    desk.describe(mesh_of(HOSTS))
    desk.close()
    page = report(typed, shared_database, tmp_path / "f.html")
    assert "0 of 35 pairs measured" in page.text
    assert "it waits for its turn" in page.text
