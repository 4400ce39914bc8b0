"""A clock that was ahead and is set back, as of a database after its host was repaired."""

import asyncio
import time
from collections.abc import Iterator

import pytest

from advisor.domain.plan import NodeProgress
from advisor.fleet.nodes.queue import LotQueue
from advisor.fleet.plan.turns import Wait
from advisor.fleet.state import reading
from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.state.transfers import transfers_of
from advisor.fleet.work import queue as queues
from advisor.fleet.work.claiming import Claim, Ending
from advisor.fleet.work.queue import Queue
from advisor.store.postgres.address import Address
from tests.fleet_at_work import described, transfer_over
from tests.postgres_server import SharedDatabase

from .test_claiming import Desk, done
from .test_lot_queue import KEY, PAIR, asked, time_passes

YEAR_S = 365 * 86400
TIMES = {
    "fleet_configurations": ["applied_s"],
    "fleet_workers": ["started_s", "seen_s"],
    "fleet_pairs": ["last_s", "failed_s", "gave_way_s"],
    "fleet_hosts": ["failed_s", "busy_until_s"],
    "fleet_attempts": ["began_s", "seen_s", "ended_s"],
    "transfers": ["began_s", "seen_s", "ended_s", "lost_until_s"],
    "transfer_lots": ["until_s"],
}
GIVEN_WAY = Ending(outcome="given way", moved_bytes=0.0, busy="a")
FAILED = Ending(outcome="failed", moved_bytes=0.0, message="full")
DOWN = Ending(outcome="failed", moved_bytes=0.0, message="gone", down="a")


def set_back(database: SharedDatabase, by_s: float = YEAR_S) -> None:
    """As if all that is there had been written while the clock was so far ahead."""
    for table, columns in TIMES.items():
        changes = ", ".join(f"{one} = {one} + {by_s}" for one in columns)
        database.execute(f"UPDATE advisor.{table} SET {changes}")


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    one = Desk(shared_database)
    one.describe(described("a", "b"))
    yield one
    one.close()


@pytest.mark.parametrize("ending", [GIVEN_WAY, FAILED, DOWN, done()], ids=lambda one: one.outcome)
def test_what_has_ended_is_tried_again(desk: Desk, ending: Ending) -> None:
    first = []
    while isinstance(found := desk.take(), Claim):
        first.append(found.names)
        desk.end(found, ending)
    set_back(desk.database)
    again = []
    for _ in first:
        again.append(desk.taken())
        desk.end(again[-1], done(moved_bytes=0.0))
    assert {one.names for one in again} >= {*first}


def test_what_was_moved_within_a_day_still_counts(desk: Desk) -> None:
    desk.describe(described("a", "b").replace("100%", "0.06%"))
    one = desk.taken()
    desk.end(one, done(moved_bytes=one.turn.most_bytes))
    set_back(desk.database, 7200)
    assert isinstance(desk.take(), Wait)


def test_pairs_that_were_never_measured_do_not_wait_for_the_day_of_their_configuration(
    desk: Desk,
) -> None:
    set_back(desk.database)
    assert isinstance(desk.take(), Claim)


def test_what_a_dead_worker_measured_is_given_back(desk: Desk) -> None:
    desk.taken().close()
    set_back(desk.database)
    assert isinstance(desk.take(), Claim)
    with desk.as_user("rita") as connection:
        rows = connection.execute("SELECT outcome FROM advisor.fleet_attempts ORDER BY id")
        assert rows.fetchall() == [("given back",), (None,)]


def test_what_runs_is_not_given_back(desk: Desk) -> None:
    one = desk.taken()
    set_back(desk.database)
    assert isinstance(desk.take(), Wait)
    assert one.runs()
    # From now on it counts as seen.
    with desk.as_user("rita") as connection:
        row = connection.execute(
            "SELECT seen_s <= advisor.fleet_now() FROM advisor.fleet_attempts"
        ).fetchone()
    assert row == (True,)


def test_a_lock_that_somebody_took_keeps_a_dead_attempt_no_longer_than_otherwise(
    desk: Desk,
) -> None:
    one = desk.taken()
    set_back(desk.database)
    assert isinstance(desk.take(), Wait)
    desk.database.execute("UPDATE advisor.fleet_attempts SET seen_s = seen_s - 601")
    with desk.as_user("bob") as connection:
        row = connection.execute("SELECT advisor.fleet_take_back(20)").fetchone()
    assert row == (1,)
    assert not one.runs()


def test_workers_and_transfers_that_are_gone_are_not_taken_for_alive(desk: Desk) -> None:
    with transfer_over(desk.database, ("a", "b")):
        assert isinstance(desk.take(), Wait)
        set_back(desk.database)
        with desk.as_user("rita") as connection:
            assert reading.workers(connection, reading.now(connection)) == []
            [one] = transfers_of(connection, with_ended=False)
            assert one.state == "interrupted"
        assert isinstance(desk.take(), Claim)


def test_pairs_are_followed_as_before(desk: Desk) -> None:
    desk.end(desk.taken(), done())
    set_back(desk.database)
    followed = FollowedPairs()
    with desk.as_user("rita") as connection:
        assert len(reading.fleet_state(connection, followed).pairs) == 1
        desk.end(desk.taken(), done(rate_bps=7e8))
        found = reading.fleet_state(connection, followed).pairs
    assert found
    assert any(one.rate_bps == 7e8 for one in found)


def test_lots_of_a_lost_node_are_drawn_when_their_lease_is_over(
    shared_database: SharedDatabase,
) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10, 10])
        lost, alive = await queue.draw(1, 1, []), await queue.draw(2, 1, [])
        await queue.show([NodeProgress(number=1, pair=PAIR, state="moving")])
        set_back(shared_database)
        await queue.renew(list(alive.values()))
        assert await queue.draw(3, 100, list(alive.values())) == {}
        time_passes(shared_database, 31)
        assert (await queue.draw(3, 100, list(alive.values()))).keys() == lost.keys()

    asked(shared_database, ask)


def test_a_lost_node_is_waited_for_once(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        await queue.draw(1, 1, [])
        await queue.end("not complete")
        set_back(shared_database)
        assert 0 < await queue.begin(KEY, PAIR, [10]) <= 30
        await queue.end("not complete")
        shared_database.execute("UPDATE advisor.transfers SET lost_until_s = lost_until_s - 31")
        assert await queue.begin(KEY, PAIR, [10]) == 0

    asked(shared_database, ask)


def test_workers_look_also_while_the_clock_of_their_host_stands_still(
    shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "_EVERY_S", 0.2, raising=False)
    at_s = time.time()
    monkeypatch.setattr(time, "time", lambda: at_s)

    async def run() -> None:
        stopping, looks = asyncio.Event(), 0

        async def turn(_: object) -> bool:
            nonlocal looks
            looks += 1
            if looks == 5:
                stopping.set()
            return False

        async with asyncio.timeout(60):
            await Queue(Address(shared_database.address("alice")), turn, 1, stopping).work()
        assert looks == 5

    asyncio.run(run())


def test_one_worker_looks_for_all_and_another_in_its_place(desk: Desk) -> None:
    def tick(seen: int) -> tuple[object, ...]:
        with desk.as_user("alice") as connection:
            row = connection.execute(
                "SELECT newest, is_first FROM advisor.fleet_tick(%s)", (seen,)
            ).fetchone()
        assert row
        return row

    assert tick(-1) == tick(-1) == (0, False)
    assert tick(0) == (1, True)
    assert tick(0) == (1, False)
    # The first one has gone: nobody was there since.
    assert tick(1) == (2, True)
