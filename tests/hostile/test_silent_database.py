"""A database that hangs with its connections open: nobody waits for it forever."""

import asyncio
import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

import psycopg
import pytest

from advisor.fleet.nodes.queue import LotQueue, QueueAway
from advisor.fleet.state import connecting, limited
from advisor.fleet.state.connecting import connect
from advisor.fleet.work.claiming import end
from advisor.fleet.work.queue import Queue
from advisor.fleet.work.worker import Worker
from advisor.store.postgres.address import Address
from tests.fleet_at_work import described
from tests.postgres_server import SharedDatabase, shared_database, temporary_server
from tests.unit.fleet.test_claiming import Desk, done
from tests.unit.fleet.test_lot_queue import KEY, PAIR

FOREVER_S = 60.0
"""Of each limit here at least twice as long."""


@pytest.fixture
def desk(shared_database: SharedDatabase) -> Iterator[Desk]:
    one = Desk(shared_database)
    one.describe(described("a", "b"))
    yield one
    one.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limited, "UNHEARD_S", 0.5)


@contextlib.contextmanager
def hanging(connection: psycopg.Connection[object] | None) -> Iterator[None]:
    """The server's process of this connection is stopped for a block."""
    assert connection is not None
    pid = connection.info.backend_pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def ended(work: Callable[[], object]) -> bool:
    """Whether this comes to an end, whatever it raises."""

    def run() -> None:
        with contextlib.suppress(psycopg.Error):
            work()

    running = threading.Thread(target=run, daemon=True)
    running.start()
    running.join(FOREVER_S)
    return not running.is_alive()


def test_what_is_asked_fails_and_can_be_asked_again(
    shared_database: SharedDatabase, impatient: None
) -> None:
    async def run() -> None:
        queue = LotQueue(Address(shared_database.address("alice")))
        await queue.begin(KEY, PAIR, [10])
        with hanging(queue._connection):
            with pytest.raises(QueueAway, match=r"no answer within 0\.5 s"):
                await queue.renew([])
            assert list(await queue.draw(1, 1, [])) == [1]
        await queue.close()

    assert ended(lambda: asyncio.run(run()))


def test_who_does_not_want_the_answer_any_more_does_not_wait(
    shared_database: SharedDatabase,
) -> None:
    async def run() -> None:
        queue = LotQueue(Address(shared_database.address("alice")))
        await queue.begin(KEY, PAIR, [10])
        with hanging(queue._connection):
            renewing = asyncio.create_task(queue.renew([]))
            while not queue._connection.is_asked:
                await asyncio.sleep(0.01)
            renewing.cancel()
            await asyncio.wait([renewing])
            assert renewing.cancelled()
            # Ctrl-C: the coordinator says that it has ended, and leaves.
            await queue.end("not complete")
            await queue.close()
            # No thread is left that a program would wait for.
            await asyncio.get_running_loop().shutdown_default_executor()

    assert ended(lambda: asyncio.run(run()))


def test_locks_are_given_up_while_it_is_asked_whether_they_hold(desk: Desk) -> None:
    one = desk.taken()
    with hanging(one._connection):
        asking = threading.Thread(target=lambda: ended(one.runs), daemon=True)
        asking.start()
        while not one._connection.is_asked:
            pass
        assert ended(one.close)
        asking.join(FOREVER_S)
        assert not asking.is_alive()
        assert one._connection.closed


def test_a_measurement_without_an_answer_is_lost_and_settled(desk: Desk, impatient: None) -> None:
    one = desk.taken()
    with hanging(one._connection):
        with pytest.raises(psycopg.OperationalError, match="no answer"):
            one.runs()
        assert end(desk.address, one, done())
        assert ended(one.close)


def test_a_server_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither to connect, nor by a worker that is stopped."""
    monkeypatch.setattr(limited, "UNHEARD_S", 2.0)
    monkeypatch.setattr(connecting, "ANSWER_LIMIT_S", 2.0)
    monkeypatch.setattr("advisor.fleet.work.queue.ANSWER_LIMIT_S", 2.0)
    with temporary_server() as server:
        database = shared_database(server)
        desk = Desk(database)
        worker = Worker(desk.address, lambda: None, lambda _: None, frozenset())
        worker.register()
        looked = asyncio.Event()

        async def turn(began: Callable[[], object]) -> bool:
            looked.set()
            return await worker.turn(began)

        async def run() -> None:
            queue = Queue(desk.address, turn, 2, worker.stopping)
            at_work = asyncio.gather(queue.work(), worker.stay_known())
            await looked.wait()
            server.suspend(on=True)
            worker.stopping.set()
            await at_work

        try:
            assert ended(lambda: asyncio.run(run()))
            with pytest.raises(psycopg.OperationalError):
                connect(desk.address)
        finally:
            server.suspend(on=False)
