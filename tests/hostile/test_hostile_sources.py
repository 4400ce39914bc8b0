"""Sources of a fleet that write as another host, or keep others from being measured."""

import asyncio
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.fleet.configuration.reading import decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.fleet import Fleet
from advisor.fleet.plan.turns import Wait
from advisor.fleet.work import measuring
from advisor.fleet.work.admitting import owner_of
from advisor.fleet.work.claiming import Ending
from advisor.fleet.work.measuring import Measuring, given_way
from advisor.runtime import advisor_child
from advisor.store.history import Store
from tests.fleet_at_work import Prepared, described, prepared_order
from tests.postgres_server import SharedDatabase
from tests.unit.fleet.test_claiming import Desk, done
from tests.unit.store.conftest import make_a_probe

ONE_WAY = 'between = "pairs"\nsources = ["a"]\ndestinations = ["b"]'
FLEET = described("a", "b", "c").replace('between = "mesh"', ONE_WAY)


class Source(Desk):
    """A worker that measures from a to b, where a sends what a test wants."""

    def __init__(self, database: SharedDatabase, folder: Path) -> None:
        super().__init__(database)
        self.store = Store(database.backend("alice"))
        self.prepared = Prepared(folder)
        self.prepared.lasting(0)
        self.prepared.pair("a", "b")
        self.describe(FLEET)

    def sends(self, source: str, session: str) -> Ending:
        """What becomes of a measurement whose records are of this source and session."""
        for name in ("before.a.b", "after.a.b"):
            place = self.prepared.folder / name
            honest = place.read_text()
            sent = honest.replace('"source":"a"', f'"source":"{source}"')
            place.write_text(sent.replace("OWN_SESSION", session))
        return self.measured(30.0)

    def measured(self, budget_s: float) -> Ending:
        """What becomes of a measurement that may send for so long."""
        one = self.taken()
        one.task = msgspec.structs.replace(one.task, budget_s=budget_s)
        ending = asyncio.run(Measuring(one, self.store).run())
        self.end(one, ending)
        return ending


@pytest.fixture
def source(
    shared_database: SharedDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Source]:
    monkeypatch.setattr(measuring, "order_of", prepared_order(tmp_path))
    one = Source(shared_database, tmp_path)
    yield one
    one.close()


def victim(name: str, session: str) -> ProbeRecord:
    return make_a_probe(9e9, session=session, pair=Pair(name, "b"))


def test_a_source_writes_nothing_into_a_session_of_another_host(source: Source) -> None:
    honest = victim("elsewhere.org", "honest")
    source.store.append(honest)
    ending = source.sends("elsewhere.org", "honest")
    assert (ending.outcome, ending.session, ending.pair) == ("failed", "", None)
    assert "is there already" in ending.message
    assert source.store.records(honest.pair) == [honest]
    assert source.store.events(honest.pair, "honest") == []


@pytest.mark.parametrize("name", ["c", "C.example.org"])
def test_a_source_is_not_taken_for_another_host_of_the_fleet(source: Source, name: str) -> None:
    ending = source.sends(name, "new")
    assert (ending.outcome, ending.session, ending.pair) == ("failed", "", None)
    assert "which is c of this fleet" in ending.message
    assert source.store.pairs() == []


def test_a_name_under_which_another_host_is_stored_is_refused(source: Source) -> None:
    source.database.execute(
        "INSERT INTO advisor.fleet_pairs (task, source, destination, stored_source)"
        " VALUES ('mesh', 'c', 'b', 'dtn-7.example.org')"
    )
    ending = source.sends("dtn-7.example.org", "new")
    assert (ending.outcome, "which is c of this fleet" in ending.message) == ("failed", True)


def test_a_source_may_have_a_name_that_nobody_else_has(source: Source) -> None:
    ending = source.sends("dtn-8.example.org", "new")
    assert (ending.outcome, ending.session) == ("done", "new")
    assert ending.pair == Pair("dtn-8.example.org", "b")


@pytest.mark.parametrize(
    ("destination", "outcome"), [("10.0.0.7", "done"), ("b", "failed"), ("c", "failed")]
)
def test_a_listening_agent_names_the_destination_of_what_is_taken(
    source: Source, destination: str, outcome: str
) -> None:
    source.describe(FLEET.replace("[hosts.b]", '[hosts.b]\nagent = "10.0.0.7:5199"'))
    for name in ("before.a.b", "after.a.b"):
        place = source.prepared.folder / name
        sent = place.read_text().replace('"destination":"b"', f'"destination":"{destination}"')
        place.write_text(sent)
    ending = source.sends("a", "new")
    assert ending.outcome == outcome, ending.message
    stored = [Pair("a", destination)] if outcome == "done" else []
    assert [one.pair for one in source.store.pairs()] == stored


def test_this_host_is_a_destination_by_its_agent(source: Source) -> None:
    here = '[hosts.b]\nreach = "localhost"\nagent = "b:5199"'
    source.describe(FLEET.replace("[hosts.b]", here))
    ending = source.sends("a", "new")
    assert ending.outcome == "done", ending.message


@pytest.mark.parametrize("share", [0.0, 2.0], ids=["by an order", "by the end of its input"])
def test_a_session_that_stops_when_its_budget_is_used_up_has_measured(
    source: Source, monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    monkeypatch.setattr(measuring, "_STOP_SHARE", share)
    source.prepared.lasting(60)
    ending = source.measured(30.0 if share < 1 else 0.1)
    assert (ending.outcome, ending.message, ending.rate_bps) == ("done", "", 5e8)


def test_a_session_that_stops_although_nobody_asked_has_failed(source: Source) -> None:
    (source.prepared.folder / "code.a.b").write_text("130")
    ending = source.measured(30.0)
    assert (ending.outcome, ending.rate_bps) == ("failed", None)


def test_a_session_that_has_to_be_killed_has_failed_whatever_it_measured(
    source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advisor_child, "_GRACE_S", 0.2)
    (source.prepared.folder / "deaf").touch()
    source.prepared.lasting(60)
    ending = source.measured(0.1)
    assert (ending.outcome, ending.rate_bps) == ("failed", None)
    assert ending.message == "it took longer than it may"
    assert ending.moved_bytes > 0


@pytest.mark.parametrize("command", ["", "advisor advise b"], ids=["a session", "ssh"])
def test_a_failure_is_recorded_whatever_a_source_says_of_it(
    source: Source, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """What is not recorded counts with all that was booked."""
    ordered = prepared_order(source.prepared.folder)
    monkeypatch.setattr(
        measuring,
        "order_of",
        lambda *words: msgspec.structs.replace(ordered(*words), command=command),
    )
    source.prepared.says("a", "b", code=255)
    said = "it is \0 \x1b]0;full\x07 \u202e\udcff"
    (source.prepared.folder / "error.a.b").write_bytes(said.encode(errors="surrogateescape"))
    ending = source.measured(30.0)
    assert ending.outcome == "failed"
    with source.as_user("rita") as connection:
        [(outcome, message, is_less)] = connection.execute(
            "SELECT outcome, message, moved_bytes < most_bytes FROM advisor.fleet_attempts"
        )
        assert (outcome, is_less) == ("failed", True)
        assert r"it is \x00 \x1b]0;full\x07 \u202e" in str(message)


@pytest.mark.parametrize("side", [0, 1])
def test_a_source_that_always_gives_way_keeps_no_other_pair_from_its_turn(
    shared_database: SharedDatabase, side: int
) -> None:
    desk = Desk(shared_database)
    desk.describe(described("a", "c", "d"))
    gives_way: tuple[str, ...] = ()
    measured = set()
    for _ in range(20):
        found = desk.take()
        if isinstance(found, Wait):
            # A minute passes.
            desk.database.execute(
                "UPDATE advisor.fleet_hosts SET busy_until_s = busy_until_s - 61",
                "UPDATE advisor.fleet_pairs SET gave_way_s = gave_way_s - 61",
            )
            continue
        pair = found.names[1:]
        # The one that is due first.
        gives_way = gives_way or pair
        if pair == gives_way:
            desk.end(found, given_way(pair[side], "a user measures"))
        else:
            measured.add(pair)
            desk.end(found, done())
    assert measured == set(permutations("acd", 2)) - {gives_way}


def fleet(**reaches: str) -> Fleet:
    content = described(*reaches)
    for name, reach in reaches.items():
        content = content.replace(f"[hosts.{name}]", f"[hosts.{name}]\n{reach}")
    return resolved(decoded(content.encode()))


@pytest.mark.parametrize(
    ("name", "called_so", "owner"),
    [
        # As it is reached, in short or in full, whatever else is stored.
        ("dtn1.a.org", {"b"}, None),
        ("dtn1", {"b"}, None),
        # Two sites have a host of this name.
        ("dtn1.b.org", set(), "b"),
        # What the configuration does not have is whose it was.
        ("node", {"a"}, None),
        ("node", {"a", "b"}, None),
        ("node", {"b"}, "b"),
        ("node", {"other"}, None),
        ("localhost", set(), None),
    ],
)
def test_whose_a_name_is(name: str, called_so: set[str], owner: str | None) -> None:
    one = fleet(a='reach = "me@dtn1.a.org"', b='reach = "dtn1.b.org"', here='reach = "localhost"')
    found = owner_of(one, one.hosts[0], name, called_so)
    assert (found and found.name) == owner


def test_tables_of_one_machine_have_its_name_together() -> None:
    one = fleet(
        a='reach = "dtn"\ninterfaces = ["eth0"]',
        ib='reach = "dtn"\ninterfaces = ["ib0"]',
        b='reach = "b"',
    )
    assert owner_of(one, one.hosts[1], "node", {"a"}) is None
    assert owner_of(one, one.hosts[2], "node", {"a"}) == one.hosts[0]
