"""Workers of a fleet as processes, with a real database."""

import os
import signal
from collections.abc import Iterator
from itertools import combinations, permutations
from pathlib import Path

import pytest

from advisor.domain import events as ev
from advisor.domain.advice import Side
from advisor.domain.endpoints import Pair
from advisor.domain.problem import Problem, ProblemKind
from tests.fleet_at_work import AtWork, described, fleet_at_work, transfer_over
from tests.postgres_server import SharedDatabase, shared_database, temporary_server
from tests.stages.ordinary import PACE

from .conftest import Namespaces
from .program import Start, wait_until

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def fleet(shared_database: SharedDatabase, tmp_path: Path) -> Iterator[AtWork]:
    with fleet_at_work(shared_database, tmp_path / "fleet") as one:
        yield one


def prepared(fleet: AtWork, *hosts: str) -> None:
    for pair in permutations(hosts, 2):
        fleet.prepared.pair(*pair)
    fleet.describe(described(*hosts))


def covered(fleet: AtWork) -> int:
    return len(fleet.rows("pairs", "id", "WHERE last_s IS NOT NULL"))


def until(condition: object, fleet: AtWork) -> None:
    assert callable(condition)
    assert wait_until(condition, 300), fleet.log_text()


def require_apart(spans: list[tuple[str, str, float, float]]) -> None:
    """No two of them at one host at the same time."""
    for one, other in combinations(spans, 2):
        if {one[0], one[1]} & {other[0], other[1]}:
            assert one[3] <= other[2] or other[3] <= one[2], (one, other)


def test_two_workers_measure_every_pair_and_never_two_at_one_host(fleet: AtWork) -> None:
    prepared(fleet, "a", "b", "c", "d")
    workers = [fleet.start(), fleet.start()]
    until(lambda: covered(fleet) == 12, fleet)
    spans = fleet.prepared.spans()
    assert {span[:2] for span in spans} == set(permutations("abcd", 2))
    require_apart(spans)
    attempts = fleet.rows("attempts", "source, destination, began_s, ended_s, worker_id")
    assert len(attempts) == 12, (
        fleet.rows("attempts", "*"),
        fleet.rows("pairs", "*"),
        fleet.log_text(),
    )
    require_apart([(str(a), str(b), float(str(s)), float(str(e))) for a, b, s, e, _ in attempts])
    assert len({row[4] for row in attempts}) == len(workers)
    backend = fleet.database.backend("rita")
    assert len(backend.read(Pair("a", "b"))[0]) == 2


def test_the_pair_of_a_killed_worker_is_measured_by_another(fleet: AtWork) -> None:
    prepared(fleet, "a", "b")
    fleet.prepared.lasting(300)
    killed = fleet.start()
    until(lambda: fleet.rows("attempts", "id"), fleet)
    until(lambda: fleet.database.backend("rita").pairs(), fleet)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    fleet.prepared.lasting(0.2)
    # It is silent for long enough; nobody waits for that here.
    fleet.database.execute("UPDATE advisor.fleet_attempts SET seen_s = seen_s - 30")
    fleet.start()
    until(lambda: covered(fleet) == 2, fleet)
    rows = fleet.rows("attempts", "outcome, moved_bytes = most_bytes", "ORDER BY id")
    assert rows[0] == ("given back", True)
    assert [outcome for outcome, _ in rows[1:]] == ["done", "done"]
    require_apart(fleet.prepared.spans())


def test_a_worker_that_is_stopped_settles_what_it_has_begun(fleet: AtWork) -> None:
    prepared(fleet, "a", "b")
    fleet.prepared.lasting(300)
    worker = fleet.start()
    until(lambda: fleet.database.backend("rita").pairs(), fleet)
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(timeout=120) == 0, fleet.log_text()
    [(outcome, less, message)] = fleet.rows(
        "attempts", "outcome, moved_bytes < most_bytes, message"
    )
    assert (outcome, less, message) == ("given back", True, "its worker was stopped")
    assert fleet.rows("workers", "ended_s IS NULL") == [(False,)]
    assert fleet.rows("pairs", "id") == []


def test_a_database_that_is_killed_loses_no_record(tmp_path: Path) -> None:
    with temporary_server(()) as server:
        database = shared_database(server)
        with fleet_at_work(database, tmp_path / "fleet") as fleet:
            prepared(fleet, "a", "b")
            fleet.prepared.lasting(300)
            fleet.start()
            until(database.backend("rita").pairs, fleet)
            server.kill()
            fleet.prepared.lasting(0.2)
            server.start()
            until(lambda: covered(fleet) == 2, fleet)
            rows = fleet.rows("attempts", "outcome", "ORDER BY id")
            assert rows == [("given back",), ("done",), ("done",)]
            pairs = (Pair("a", "b"), Pair("b", "a"))
            found = [len(database.backend("rita").read(pair)[0]) for pair in pairs]
            # One of the session that was interrupted, and two of each that was not.
            assert sorted(found) == [2, 3]


def test_a_host_that_is_down_holds_up_no_others(fleet: AtWork) -> None:
    prepared(fleet, "a", "b", "down")
    gone = Problem(kind=ProblemKind.UNREACHABLE, reason="down does not answer")
    gave_up = ev.GaveUp(at_s=0, message=str(gone), exit_code=3, problem=gone)
    for host in ("a", "b"):
        fleet.prepared.says(host, "down", gave_up, code=3)
        fleet.prepared.says("down", host, code=255)
    fleet.start()
    until(lambda: covered(fleet) == 2, fleet)
    until(lambda: fleet.rows("hosts", "host", "WHERE failures > 0"), fleet)
    [(host, message)] = fleet.rows("hosts", "host, message", "WHERE failures > 0")
    assert (host, message) == ("down", "down does not answer")
    # It is left alone for a while, with all its pairs.
    assert len(fleet.rows("attempts", "id", "WHERE outcome = 'failed'")) == 1


@pytest.mark.parametrize(("side", "busy"), [("source", "a"), ("destination", "b")])
def test_a_user_who_measures_is_given_way_to(fleet: AtWork, side: Side, busy: str) -> None:
    prepared(fleet, "a", "b", "c")
    fleet.prepared.says("a", "b", ev.Waiting(at_s=0, ahead=1, side=side))
    fleet.start()
    until(lambda: fleet.rows("attempts", "id", "WHERE outcome = 'given way'"), fleet)
    until(lambda: covered(fleet) >= 1, fleet)
    assert fleet.rows("hosts", "host, failures", "WHERE busy_until_s IS NOT NULL") == [(busy, 0)]
    [(busy_s, message)] = fleet.rows("attempts", "ended_s, message", "WHERE outcome = 'given way'")
    assert message == f"a user measures at {busy}"
    later = fleet.rows(
        "attempts", "source, destination", f"WHERE began_s BETWEEN {busy_s} AND {busy_s} + 50"
    )
    assert all(busy not in pair for pair in later)
    assert fleet.rows("pairs", "id", "WHERE failures > 0") == []


def test_a_transfer_that_begins_is_given_way_to(fleet: AtWork) -> None:
    prepared(fleet, "a", "b")
    fleet.prepared.lasting(300)
    fleet.start()
    until(lambda: fleet.rows("attempts", "id"), fleet)
    with transfer_over(fleet.database, ("a", "elsewhere")):
        until(lambda: fleet.rows("attempts", "id", "WHERE outcome = 'given way'"), fleet)
        [(message,)] = fleet.rows("attempts", "message")
        assert message == "a transfer moves files at a"
        assert fleet.rows("hosts", "host, failures", "WHERE busy_until_s IS NOT NULL") == [("a", 0)]


def test_a_source_that_sends_something_else_is_a_failure(fleet: AtWork) -> None:
    prepared(fleet, "a", "b")
    other = (fleet.prepared.folder / "before.b.a").read_text()
    (fleet.prepared.folder / "before.a.b").write_text(other)
    fleet.start()
    until(lambda: covered(fleet) == 1, fleet)
    until(lambda: fleet.rows("pairs", "id", "WHERE failures = 1"), fleet)
    [(message,)] = fleet.rows("pairs", "message", "WHERE failures = 1")
    assert "another pair" in str(message)
    assert fleet.database.backend("rita").pairs() == [Pair("b", "a")]


def test_a_destination_that_would_be_the_source_itself_is_refused(fleet: AtWork) -> None:
    prepared(fleet, "a", "b")
    here = described("a", "b").replace("[hosts.b]", '[hosts.b]\nreach = "localhost"')
    fleet.describe(here)
    fleet.start()
    until(lambda: fleet.rows("pairs", "id", "WHERE failures > 0"), fleet)
    until(lambda: covered(fleet) == 1, fleet)
    [(source, message)] = fleet.rows("pairs", "source, message", "WHERE failures > 0")
    assert source == "a"
    assert "localhost" in str(message)


@pytest.mark.as_root
@pytest.mark.skipif(
    os.geteuid() != 0,
    reason="needs root: a network of its own, and a database that a user namespace cannot run",
)
def test_a_real_session_is_stored_in_the_shared_history(
    start: Start, joined: Namespaces, fleet: AtWork
) -> None:
    """`advisor fleet work` with a host as its own source and destination.

    In a network of its own: on this host, tests that measure would have to be given way to.
    """
    content = """
        [limits]
        share-per-day = "100%"
        [hosts.me]
        reach = "localhost"
        bandwidth = "100Gbit"
        [hosts.same]
        reach = "user@localhost"
        interfaces = ["lo"]
        bandwidth = "100Gbit"
        [measure.advice]
        what = "advice"
        between = "pairs"
        sources = ["me"]
        destinations = ["same"]
        every = "1d"
        budget = "60s"
        transports = ["tcp"]
    """
    fleet.describe(content)
    # All that the cores can copy would keep them from other tests.
    joined.source.run(*PACE.split())
    words = ("fleet", "work", "--store", fleet.database.address("alice"))
    run = start(*words, prefix=joined.source.host)

    def ended() -> list[tuple[object, ...]]:
        columns = "outcome, rate_bps > 0, moved_bytes > 0 AND moved_bytes <= most_bytes, message"
        return fleet.rows("attempts", columns, "WHERE ended_s IS NOT NULL")

    assert wait_until(lambda: bool(ended()), 300)
    run.process.send_signal(signal.SIGINT)
    done = run.finish()
    assert done.returncode == 0, done.stderr
    assert ended() == [("done", True, True, "")], done.stderr
    backend = fleet.database.backend("rita")
    [pair] = backend.pairs()
    records = backend.read(pair)[0]
    assert {type(record).__name__ for record in records} >= {"SessionRecord", "ProbeRecord"}
    session = next(str(r.session) for r in records if type(r).__name__ == "ProbeRecord")
    assert any(isinstance(event, ev.ProbeEnded) for event in backend.events(pair, session))


def test_a_reader_is_no_worker(start: Start, shared_database: SharedDatabase) -> None:
    done = start("fleet", "work", "--store", shared_database.address("rita")).finish()
    assert (done.returncode, "advisor_writer" in done.stderr) == (1, True)


def test_a_database_without_a_queue_is_said_so(
    start: Start, shared_database: SharedDatabase
) -> None:
    shared_database.execute("DROP SCHEMA advisor_jobs CASCADE")
    done = start("fleet", "work", "--store", shared_database.address("alice")).finish()
    assert (done.returncode, "advisor store init" in done.stderr) == (1, True)
