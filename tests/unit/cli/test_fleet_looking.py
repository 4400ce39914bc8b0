"""`advisor fleet status`, `matrix` and `show` with a real database."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.domain.endpoints import Pair
from advisor.fleet.state.changing import pause
from advisor.fleet.work.claiming import Ending
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase
from tests.unit.fleet.test_claiming import Desk

Look = Callable[..., str]


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    """A fleet of four: one pair measured, one failed, one being measured."""
    one = Desk(shared_database)
    one.describe(described("a", "b", "c", "d"))
    endings = (
        Ending(
            outcome="done",
            moved_bytes=1e6,
            rate_bps=5e8,
            rtt_s=0.01,
            session="s",
            pair=Pair("a.org", "b.org"),
        ),
        Ending(outcome="failed", moved_bytes=0.0, message="the disk is full \x1b[2J"),
    )
    for ending in endings:
        one.end(one.taken(), ending)
    one.taken()
    yield one
    one.close()


@pytest.fixture
def look(desk: Desk, capsys: pytest.CaptureFixture[str]) -> Look:
    def run(*words: str, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["fleet", *words, "--store", desk.database.address("rita")])
        printed = capsys.readouterr()
        assert ended.value.code == code, printed.err
        return printed.out if code == 0 else printed.err

    return run


def data(text: str) -> Any:
    return json.loads(text)


def test_every_pair_is_measured_or_named_with_its_reason(look: Look) -> None:
    found = data(look("status", "--json"))
    assert (found["pairs"], found["measured"]) == (12, 1)
    assert len(found["missing"]) == 11
    reasons = [one["reason"] for one in found["missing"]]
    assert all(reasons)
    assert reasons.count("it is being measured") == 1
    assert reasons.count("the disk is full \\x1b[2J") == 1
    [running] = found["running"]
    in_use = {running["source"], running["destination"]}
    for one in found["missing"]:
        if one["reason"] == "it waits for its turn":
            assert not in_use & {one["source"], one["destination"]}
    assert found["workers"][0]["account"] == "alice"


def test_the_status_is_printed(look: Look) -> None:
    text = look("status")
    assert "1 of 12 pairs measured" in text
    assert "the disk is full" in text
    assert "\x1b" not in text


def test_pauses_are_reasons(look: Look, desk: Desk) -> None:
    with desk.as_user("olga") as connection:
        pause(connection, "a", None)
    found = data(look("status", "--json"))
    assert "a is paused" in {one["reason"] for one in found["missing"]}
    assert found["pauses"][0]["paused_by"] == "olga"
    with desk.as_user("olga") as connection:
        pause(connection, "", None)
    reasons = {one["reason"] for one in data(look("status", "--json"))["missing"]}
    assert reasons == {"the fleet is paused", "it is being measured"}


def test_hosts_that_were_removed_are_not_reported(look: Look, desk: Desk) -> None:
    with desk.as_user("olga") as connection:
        for host in ("a", "b"):
            pause(connection, host, None)
    desk.database.execute(
        *(
            "INSERT INTO advisor.fleet_hosts (host, failures, failed_s, message, busy_until_s)"
            f" VALUES ('{host}', 3, advisor.fleet_now(), 'no route', advisor.fleet_now() + 60)"
            for host in ("c", "d")
        )
    )
    before = data(look("status", "--json"))
    assert {one["host"] for one in before["pauses"]} == {"a", "b"}
    assert {one["host"] for one in before["down"]} == set(before["busy"]) == {"c", "d"}
    desk.describe(described("b", "d"))
    after = data(look("status", "--json"))
    assert {one["host"] for one in after["pauses"]} == {"b"}
    assert {one["host"] for one in after["down"]} == set(after["busy"]) == {"d"}


def test_the_configuration_in_force_is_printed(look: Look) -> None:
    assert look("status", "--configuration") == described("a", "b", "c", "d")


def test_the_matrix_has_every_pair_once(look: Look) -> None:
    pairs = data(look("matrix", "--json"))["pairs"]
    assert len({(one["source"], one["destination"]) for one in pairs}) == len(pairs) == 12
    assert [one["rate_bps"] for one in pairs if one["rate_bps"]] == [5e8]
    lines = look("matrix").splitlines()
    assert lines[0].split()[-4:] == ["a", "b", "c", "d"]
    assert sum("500 Mbit/s" in line for line in lines) == 1
    assert sum("failed" in line for line in lines) == 1
    assert "500 Mbit/s" not in look("matrix", "--age")


def test_a_pair_shows_its_attempts(look: Look) -> None:
    pairs = data(look("matrix", "--json"))["pairs"]
    [failed] = [one for one in pairs if one["failures"]]
    [found] = data(look("show", failed["source"], failed["destination"], "--json"))["measures"]
    [attempt] = found["attempts"]
    assert (attempt["outcome"], attempt["moved_bytes"]) == ("failed", 0.0)
    text = look("show", failed["source"], failed["destination"])
    assert "the disk is full" in text
    [measured] = [one for one in pairs if one["rate_bps"]]
    assert "a.org->b.org" in look("show", measured["source"], measured["destination"])


@pytest.mark.parametrize(
    "words", [("show", "a", "a"), ("show", "a", "nobody"), ("matrix", "--measure", "nothing")]
)
def test_what_is_not_there_is_said(look: Look, words: list[str]) -> None:
    assert "advisor: " in look(*words, code=2)
