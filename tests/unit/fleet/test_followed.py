"""What is read of pairs when they are looked at again, with a real database."""

from collections.abc import Iterator

import pytest

from advisor.fleet.plan.turns import Wait
from advisor.fleet.state import followed as module
from advisor.fleet.state import reading
from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.state.rows import PairState
from advisor.fleet.work.claiming import Claim, Ending, claim
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase

from .test_claiming import Desk, done


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    one = Desk(shared_database)
    one.describe(described("a", "b", "c", "d"))
    yield one
    one.close()


def look(desk: Desk, followed: FollowedPairs | None = None) -> list[PairState]:
    with desk.as_user("rita") as connection:
        return reading.fleet_state(connection, followed).pairs


def test_every_change_is_seen(desk: Desk) -> None:
    followed = FollowedPairs()
    endings = (
        done(rate_bps=5e8),
        Ending(outcome="failed", moved_bytes=0.0, message="full"),
        Ending(outcome="given way", moved_bytes=0.0),
        Ending(outcome="failed", moved_bytes=0.0, message="gone", down="a"),
        done(rate_bps=6e8),
    )
    assert look(desk, followed) == []
    for ending in endings:
        desk.end(desk.taken(), ending)
        assert look(desk, followed) == look(desk)
    assert len(look(desk, followed)) >= 3


def test_a_pair_that_is_measured_again_keeps_its_place(desk: Desk) -> None:
    followed = FollowedPairs()
    for _ in range(4):
        desk.end(desk.taken(), done())
    before = [(one.source, one.destination) for one in look(desk, followed)]
    desk.database.execute(
        "UPDATE advisor.fleet_pairs SET rate_bps = 7e8, last_s = advisor.fleet_now() WHERE id = 2"
    )
    after = look(desk, followed)
    assert [(one.source, one.destination) for one in after] == before
    assert [one.rate_bps for one in after] == [5e8, 7e8, 5e8, 5e8]


def test_a_pair_that_becomes_visible_late_comes_in_its_place(desk: Desk) -> None:
    """Its number was given before that of one which was seen earlier."""
    followed = FollowedPairs()
    for number, destination, seen in ((11, "b", 1), (10, "c", 2)):
        desk.database.execute(
            "INSERT INTO advisor.fleet_pairs (id, task, source, destination, last_s)"
            f" OVERRIDING SYSTEM VALUE VALUES ({number}, 'mesh', 'a', '{destination}',"
            f" advisor.fleet_now() - {30 * (number == 10)})"
        )
        assert len(look(desk, followed)) == seen
    found = look(desk, followed)
    assert [one.destination for one in found] == ["c", "b"]
    assert found == look(desk)


def test_only_what_changed_is_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(3):
        desk.end(desk.taken(), done())
    desk.database.execute("UPDATE advisor.fleet_pairs SET last_s = last_s - 1000 WHERE id > 1")
    followed = FollowedPairs()
    known = look(desk, followed)
    decoded: list[object] = []
    row_as = module.rows.row_as
    monkeypatch.setattr(
        module.rows, "row_as", lambda *given: decoded.append(given) or row_as(*given)
    )
    with desk.as_user("rita") as connection:
        assert followed.read(connection, reading.now(connection)) == known
    assert len(decoded) == 1


def test_what_no_measurement_wrote_is_seen_after_a_while(desk: Desk) -> None:
    """As when a database is restored, or its clock is set back."""
    for _ in range(2):
        desk.end(desk.taken(), done())
    followed = FollowedPairs()
    look(desk, followed)
    desk.database.execute(
        "DELETE FROM advisor.fleet_pairs WHERE id = 1",
        "UPDATE advisor.fleet_pairs SET last_s = last_s - 5000",
    )
    with desk.as_user("rita") as connection:
        now_s = reading.now(connection)
        assert len(followed.read(connection, now_s)) == 2
        assert followed.read(connection, now_s + 601) == look(desk)
    other = FollowedPairs()
    with desk.as_user("rita") as connection:
        other.read(connection, now_s + 5000)
        desk.database.execute("UPDATE advisor.fleet_pairs SET last_s = last_s + 4000")
        other.read(connection, now_s + 5001)
        desk.database.execute("DELETE FROM advisor.fleet_pairs")
        assert other.read(connection, now_s - 5000) == []


def test_a_worker_that_follows_takes_what_one_takes_that_reads_all(desk: Desk) -> None:
    followed, takes = FollowedPairs(), []
    for _ in range(14):
        found = claim(desk.address, desk.worker, frozenset(), followed)
        takes.append(found)
        if isinstance(found, Wait):
            assert isinstance(desk.take(), Wait)
            break
        desk.end(found, done())
    assert [isinstance(one, Claim) for one in takes] == [True] * 12 + [False]
    assert len({one.names for one in takes if isinstance(one, Claim)}) == 12
