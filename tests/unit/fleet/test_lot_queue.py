"""The queue of a transfer over several nodes, with a real database."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors as pg

from advisor.domain.endpoints import Pair
from advisor.domain.plan import NodeProgress
from advisor.fleet.nodes.queue import LotQueue, QueueAway
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address
from tests.postgres_server import SharedDatabase, shared_database, temporary_server

KEY = "a" * 64
PAIR = Pair("here", "there")


def asked(database: SharedDatabase, ask: Callable[[LotQueue], Awaitable[None]]) -> None:
    async def run() -> None:
        queue = LotQueue(Address(database.address("alice")))
        try:
            await ask(queue)
        finally:
            await queue.close()

    asyncio.run(run())


def as_user(database: SharedDatabase, user: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(database.address(user), autocommit=True) as connection:
        return connection.execute(question).fetchall()


def time_passes(database: SharedDatabase, seconds: float) -> None:
    database.execute(
        f"UPDATE advisor.transfer_lots SET until_s = until_s - {seconds}",
        f"UPDATE advisor.transfers SET seen_s = seen_s - {seconds}",
    )


def test_lots_are_drawn_once_in_order_and_about_as_much_as_is_wanted(
    shared_database: SharedDatabase,
) -> None:
    async def ask(queue: LotQueue) -> None:
        assert await queue.begin(KEY, PAIR, [10, 20, 30, 40]) == 0
        first = await queue.draw(1, 25, [])
        assert list(first) == [1, 2]
        second = await queue.draw(2, 1, list(first.values()))
        assert list(second) == [3]
        rest = await queue.draw(1, 10**12, [])
        assert list(rest) == [4]
        assert await queue.draw(2, 1, []) == {}
        leases = [*first.values(), *second.values(), *rest.values()]
        assert len(set(leases)) == 4
        assert await queue.done(first | second) == {1, 2, 3}
        assert await queue.done(rest) == {4}
        await queue.end("done")

    asked(shared_database, ask)
    [(total, left, ended_s, message)] = as_user(
        shared_database,
        "rita",
        "SELECT total_bytes, left_bytes, ended_s, message FROM advisor.transfers",
    )
    assert (total, left, message) == (100, 0, "done")
    assert ended_s


def test_what_was_done_without_an_answer_is_reported_again(
    shared_database: SharedDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when the database ends between the commit and its answer."""

    def loses_an_answer(queue: LotQueue) -> None:
        done = queue._done

        def lost(work: Callable[[Any], Any]) -> Any:
            done(work)
            monkeypatch.undo()
            raise QueueAway("it ended")

        monkeypatch.setattr(queue, "_done", lost)

    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10, 20, 30])
        first, second = await queue.draw(1, 1, []), await queue.draw(2, 1, [])
        loses_an_answer(queue)
        with pytest.raises(QueueAway):
            await queue.done(first)
        assert await queue.done(first | second) == {1, 2}
        assert await queue.done(first) == set(), "this time it had an answer"
        loses_an_answer(queue)
        with pytest.raises(QueueAway):
            await queue.add(4, 40, [1])
        await queue.add(4, 40, [1])
        assert list(await queue.draw(2, 100, [])) == [3, 4]

    asked(shared_database, ask)


def test_a_lease_that_ran_out_is_anybodys_and_then_worth_nothing(
    shared_database: SharedDatabase,
) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10, 10])
        lost = await queue.draw(1, 1, [])
        alive = await queue.draw(2, 1, [])
        time_passes(shared_database, 31)
        # The lease of the node that is alive is renewed before anything is drawn.
        again = await queue.draw(3, 100, list(alive.values()))
        assert again.keys() == lost.keys()
        assert again != lost
        assert await queue.done(lost) == set()
        assert await queue.done(again | alive) == {1, 2}
        assert await queue.done(again) == set()

    asked(shared_database, ask)


def test_a_lease_that_ran_out_holds_until_somebody_else_has_drawn(
    shared_database: SharedDatabase,
) -> None:
    """As after a minute without the database."""

    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        mine = await queue.draw(1, 1, [])
        time_passes(shared_database, 60)
        assert await queue.done(mine) == {1}

    asked(shared_database, ask)


def test_what_is_given_back_is_drawn_at_once(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        mine = await queue.draw(1, 1, [])
        await queue.give_back(list(mine.values()))
        assert await queue.done(mine) == set()
        assert list(await queue.draw(2, 1, [])) == [1]

    asked(shared_database, ask)


def test_a_node_is_not_given_what_it_could_not_move(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        await queue.add(2, 20, [1])
        assert list(await queue.draw(1, 100, [])) == [1]
        assert list(await queue.draw(2, 100, [])) == [2]
        assert await queue.done({2: 0}) == {2}

    asked(shared_database, ask)


def test_a_run_that_was_not_ended_is_waited_for_and_replaced(
    shared_database: SharedDatabase,
) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10, 20])
        mine = await queue.draw(1, 1, [])
        time_passes(shared_database, 10)
        again = LotQueue(Address(shared_database.address("alice")))
        try:
            wait_s = await again.begin(KEY, PAIR, [20])
            assert 15 < wait_s <= 20
            # The earlier run has no part in it any more.
            with pytest.raises(StoreError, match="does not run"):
                await queue.done(mine)
            with pytest.raises(StoreError, match="does not run"):
                await queue.draw(1, 1, [])
            assert list(await again.draw(1, 1, [])) == [1]
        finally:
            await again.close()

    asked(shared_database, ask)


def test_a_run_that_ended_without_a_node_is_waited_for(shared_database: SharedDatabase) -> None:
    """However many runs are stopped while they wait."""

    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10, 20])
        ended, lost = await queue.draw(1, 1, []), await queue.draw(2, 1, [])
        time_passes(shared_database, 10)
        await queue.give_back(list(ended.values()))
        await queue.end("not complete")
        assert lost
        for _ in range(2):
            assert 15 < await queue.begin(KEY, PAIR, [30]) <= 20
            await queue.end("not complete")
        assert await queue.begin("b" * 64, PAIR, [30]) == 0

    asked(shared_database, ask)


def test_a_run_whose_nodes_have_ended_is_not_waited_for(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10, 20, 30])
        ended, done = await queue.draw(1, 1, []), await queue.draw(2, 1, [])
        late = await queue.draw(3, 1, [])
        time_passes(shared_database, 31)
        await queue.give_back(list(ended.values()))
        assert await queue.done(done) == {2}
        assert late
        await queue.end("not complete")
        assert await queue.begin(KEY, PAIR, [40]) == 0

    asked(shared_database, ask)


def test_a_run_that_was_replaced_while_it_was_waited_for_is_waited_for_again(
    shared_database: SharedDatabase,
) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        await queue.draw(1, 1, [])
        # Its coordinator was killed, and the next one is stopped at once.
        assert await queue.begin(KEY, PAIR, [10]) > 20
        await queue.end("not complete")
        assert await queue.begin(KEY, PAIR, [10]) > 20

    asked(shared_database, ask)


@pytest.mark.parametrize(
    "call",
    [
        "transfer_draw({id}, 1, 100, 10, 600)",
        "transfer_done({id}, '{{1}}', '{{0}}')",
        "transfer_renew({id}, '{{1}}', 600)",
        "transfer_give_back({id}, '{{1}}')",
        "transfer_add({id}, 2, '{{1}}', '{{}}')",
        "transfer_node({id}, 1, 'a', 'b', 'lost', 0, 0, 0, 0, 'x')",
        "transfer_end({id}, 'over')",
    ],
)
def test_nobody_else_has_a_part_in_a_transfer(shared_database: SharedDatabase, call: str) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        await queue.draw(1, 1, [])

    asked(shared_database, ask)
    [(number,)] = as_user(shared_database, "rita", "SELECT id FROM advisor.transfers")
    for user in ("bob", "olga", "rita"):
        with pytest.raises(pg.InsufficientPrivilege):
            as_user(shared_database, user, f"SELECT advisor.{call.format(id=number)}")
    lots = "advisor.transfer_lots"
    for change in (
        f"DELETE FROM {lots}",
        f"UPDATE {lots} SET bytes = 0",
        f"INSERT INTO {lots} (number) VALUES (1)",
    ):
        with pytest.raises(pg.InsufficientPrivilege):
            as_user(shared_database, "alice", change)


def test_the_same_key_of_another_account_ends_nothing(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        other = LotQueue(Address(shared_database.address("bob")))
        try:
            # It waits for a while, and no more.
            assert await other.begin(KEY, PAIR, [10]) > 0
        finally:
            await other.close()
        assert list(await queue.draw(1, 1, [])) == [1]

    asked(shared_database, ask)


def test_how_nodes_do_is_there_for_readers(shared_database: SharedDatabase) -> None:
    async def ask(queue: LotQueue) -> None:
        await queue.begin(KEY, PAIR, [10])
        for moved_bytes in (0, 7):
            one = NodeProgress(number=1, pair=PAIR, state="moving", moved_bytes=moved_bytes)
            await queue.show([one])

    asked(shared_database, ask)
    rows = as_user(
        shared_database, "rita", "SELECT number, state, moved_bytes FROM advisor.transfer_nodes"
    )
    assert rows == [(1, "moving", 7)]


def test_a_database_that_went_away_is_asked_again() -> None:
    with temporary_server(()) as server:
        database = shared_database(server)

        async def ask(queue: LotQueue) -> None:
            await queue.begin(KEY, PAIR, [10, 20])
            mine = await queue.draw(1, 1, [])
            server.kill()
            with pytest.raises(QueueAway):
                await queue.done(mine)
            server.start()
            assert await queue.done(mine) == {1}
            assert list(await queue.draw(1, 1, [])) == [2]

        asked(database, ask)
