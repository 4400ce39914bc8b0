"""`advisor fleet apply`, `pause` and `resume` with a real database."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from advisor.cli.main import main
from advisor.fleet.configuration.reading import BadFleet
from advisor.fleet.state import changing, reading
from tests.postgres_server import SharedDatabase

FLEET = """
[hosts.a]
bandwidth = "1Gbit"
[hosts.b]
bandwidth = "1Gbit"
[measure.paths]
what = "path"
between = "mesh"
every = "1d"
budget = "10s"
"""

Fleet = Callable[..., tuple[int, str]]


@pytest.fixture
def fleet(
    shared_database: SharedDatabase, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Fleet:
    (tmp_path / "fleet.toml").write_text(FLEET)

    def run(*words: str, user: str = "olga") -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["fleet", *words, "--store", shared_database.address(user)])
        output = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return ended.value.code, output.out + output.err

    return run


def test_a_configuration_has_a_version_as_long_as_it_says_the_same(
    fleet: Fleet, tmp_path: Path
) -> None:
    file = tmp_path / "fleet.toml"
    assert fleet("apply", str(file)) == (0, "Version 1 is in force.\n")
    assert fleet("apply", str(file)) == (0, "Version 1 is in force.\n")
    file.write_text(FLEET.replace('"1d"', '"2d"'))
    assert fleet("apply", str(file)) == (0, "Version 2 is in force.\n")


def test_what_cannot_be_used_is_not_applied(fleet: Fleet, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(FLEET.replace('"1d"', '"never"'))
    code, output = fleet("apply", str(file))
    assert code == 2
    assert "measure.paths.every" in output


def test_hosts_without_a_time_in_common_are_refused_and_a_fleet_in_force_with_them_is_not(
    fleet: Fleet, tmp_path: Path, shared_database: SharedDatabase
) -> None:
    content = FLEET
    for host, hours in (("a", "08:00-20:00"), ("b", "20:00-08:00")):
        content = content.replace(f"[hosts.{host}]", f'[hosts.{host}]\nquiet-hours = ["{hours}"]')
    file = tmp_path / "fleet.toml"
    file.write_text(content)
    code, output = fleet("apply", str(file))
    assert (code, "hosts.a (quiet 08:00-20:00 UTC) and hosts.b" in output) == (2, True)
    with psycopg.connect(shared_database.address("olga"), autocommit=True) as connection:
        with pytest.raises(BadFleet, match="never both free"):
            changing.apply(connection, content)
        # As a version has applied it that did not look at this.
        connection.execute("SELECT advisor.fleet_apply(%s)", (content,))
        assert len(reading.fleet_state(connection).applied.fleet.hosts) == 2


def test_only_operators_apply_and_pause(fleet: Fleet, tmp_path: Path) -> None:
    file = str(tmp_path / "fleet.toml")
    assert fleet("apply", file)[0] == 0
    for user in ("rita", "alice"):
        for words in (("apply", file), ("pause", "a"), ("resume", "all")):
            code, output = fleet(*words, user=user)
            assert (code, "advisor_operator" in output) == (1, True)


def test_a_host_is_paused_and_resumed(
    fleet: Fleet, tmp_path: Path, shared_database: SharedDatabase
) -> None:
    fleet("apply", str(tmp_path / "fleet.toml"))
    assert fleet("pause", "a", "--for", "2h") == (0, "a is left alone for 2 h.\n")
    with psycopg.connect(shared_database.address("rita")) as connection:
        [one] = reading.pauses(connection, reading.now(connection))
        assert (one.host, one.paused_by) == ("a", "olga")
        assert one.until_s == pytest.approx(one.paused_s + 7200, abs=60)
        assert reading.pauses(connection, reading.now(connection) + 8000) == []
    assert fleet("resume", "a") == (0, "a is measured again.\n")
    assert fleet("resume", "a") == (0, "a was not paused.\n")


def test_resuming_all_ends_every_pause(fleet: Fleet, tmp_path: Path) -> None:
    fleet("apply", str(tmp_path / "fleet.toml"))
    fleet("pause", "a")
    fleet("pause", "all")
    assert fleet("resume", "all")[0] == 0
    assert fleet("resume", "a") == (0, "a was not paused.\n")


def test_the_pause_of_a_host_that_was_removed_can_be_ended(fleet: Fleet, tmp_path: Path) -> None:
    file = tmp_path / "fleet.toml"
    file.write_text(FLEET.replace("[hosts.b]", '[hosts.c]\nbandwidth = "1Gbit"\n[hosts.b]'))
    fleet("apply", str(file))
    fleet("pause", "c")
    file.write_text(FLEET)
    fleet("apply", str(file))
    assert fleet("pause", "c")[0] == 2
    code, output = fleet("resume", "c")
    assert (code, output.startswith("c is no longer paused.")) == (0, True)
    assert fleet("resume", "c")[0] == 2


@pytest.mark.parametrize(
    "words",
    [("pause", "c"), ("pause", "a", "--until", "2020-01-01"), ("pause", "a", "--until", "x")],
)
def test_what_makes_no_sense_is_refused(fleet: Fleet, tmp_path: Path, words: list[str]) -> None:
    fleet("apply", str(tmp_path / "fleet.toml"))
    assert fleet(*words)[0] == 2


def test_a_folder_is_no_place_for_a_fleet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["fleet", "resume", "all", "--store", str(tmp_path)])
    assert "postgresql://" in capsys.readouterr().err


def test_nothing_is_paused_before_a_fleet_is_described(fleet: Fleet) -> None:
    code, output = fleet("pause", "a")
    assert (code, "advisor fleet apply" in output) == (1, True)
