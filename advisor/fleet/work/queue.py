"""The queue of the workers, in the database: the one module that knows Procrastinate.

A job says no more than "look whether anything is due". Which pair that is, is decided by the worker
that takes the job, at that moment, from what the database then knows. So a job has no arguments, is
worth nothing when it is lost, and nobody gains by adding or removing some.

- One job waits at most (a queueing lock). A worker that takes it and finds a pair that is due puts
  the next one in before it measures, which wakes the next free worker, and so on until one finds
  nothing; and again when it has measured, since two hosts are free then.
- Every few seconds one of the workers has somebody look. Each counts the time by a clock that
  nobody sets, and a number in the database says whether another one was first: a clock that is set
  back, of a worker's host or of the database, keeps nobody from looking. So nothing has to know
  when a pair will be due.
- Jobs whose workers are gone are removed, by a periodic job. What these measured is given back by
  claiming.py.

Retries with their back-off are no job's: they are the planner's, which knows hosts from pairs.
Procrastinate has its tables in a schema of their own, which is recreated for another version of it.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

import procrastinate
import psycopg
import psycopg_pool
from procrastinate import exceptions, jobs
from procrastinate.schema import SchemaManager

from advisor.domain.problem import ProblemKind
from advisor.fleet.state.connecting import ANSWER_LIMIT_S
from advisor.fleet.state.limited import LimitedAsyncConnection
from advisor.store.errors import StoreError
from advisor.store.postgres.address import Address

SCHEMA: Final = "advisor_jobs"
_QUEUE: Final = "fleet"
_LOOK: Final = "advisor.fleet.look"
_TIDY: Final = "advisor.fleet.tidy"
_EVERY_S: Final = 5.0
_TIDY_AT: Final = "* * * * *"
_POLL_S: Final = 30.0
_AGAIN_S: Final = 2.0
_LONGEST_AGAIN_S: Final = 30.0

_NOT_NOW: Final = (
    exceptions.ConnectorException,
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg_pool.PoolTimeout,
)

_NEVER: Final = (
    psycopg.errors.UndefinedFunction,
    psycopg.errors.UndefinedObject,
    psycopg.errors.UndefinedTable,
    psycopg.errors.InsufficientPrivilege,
)

Began = Callable[[], Awaitable[None]]
Turn = Callable[[Began], Awaitable[bool]]
"""Measures what is due now; whether there was anything. Calls its argument once it has begun."""


def set_up(connection: psycopg.Connection[Any]) -> None:
    """Make the tables of the queue, in the transaction of the caller, as the owner.

    Of another version they are recreated: nothing in them is needed for longer than a moment.
    """
    there = connection.execute("SELECT to_regclass(%s)", (f"{SCHEMA}.version",)).fetchone()
    if there and there[0]:
        row = connection.execute(f"SELECT program FROM {SCHEMA}.version").fetchone()
        if row and row[0] == procrastinate.__version__:
            return
    connection.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    connection.execute(f"CREATE SCHEMA {SCHEMA}")
    connection.execute("SELECT pg_catalog.set_config('search_path', %s, true)", (SCHEMA,))
    connection.execute(SchemaManager.get_schema())
    connection.execute("CREATE TABLE version (program text NOT NULL)")
    connection.execute("INSERT INTO version VALUES (%s)", (procrastinate.__version__,))
    connection.execute(
        f"REVOKE ALL ON ALL FUNCTIONS IN SCHEMA {SCHEMA} FROM PUBLIC;"
        f"GRANT USAGE ON SCHEMA {SCHEMA} TO advisor_writer;"
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {SCHEMA} TO advisor_writer;"
        f"REVOKE INSERT, UPDATE, DELETE ON {SCHEMA}.version FROM advisor_writer;"
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA {SCHEMA} TO advisor_writer;"
        f"GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {SCHEMA} TO advisor_writer;"
        "SELECT pg_catalog.set_config('search_path', 'pg_catalog', true)"
    )


class Queue:
    """Calls `turn` when something may be due, `at_once` at a time, until `stopping` is set."""

    def __init__(self, address: Address, turn: Turn, at_once: int, stopping: asyncio.Event) -> None:
        self._address = address
        self._turn = turn
        self._at_once = at_once
        self._stopping = stopping

    async def work(self) -> None:
        """Until `stopping` is set and all turns have ended. Raises StoreError without tables.

        While the database cannot be reached, it keeps retrying.
        """
        _be_quiet()
        again_s = _AGAIN_S
        while not self._stopping.is_set():
            try:
                await self._work()
                again_s = _AGAIN_S
            except _NOT_NOW as error:
                if isinstance(error.__cause__, _NEVER):
                    raise _no_tables() from None
                again_s = min(_LONGEST_AGAIN_S, 2 * again_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(again_s):
                    await self._stopping.wait()

    async def _work(self) -> None:
        app = self._app()
        async with app.open_async():
            working = asyncio.create_task(
                app.run_worker_async(
                    queues=[_QUEUE],
                    concurrency=self._at_once,
                    fetch_job_polling_interval=_POLL_S,
                    delete_jobs="always",
                    install_signal_handlers=False,
                )
            )
            ticking = asyncio.create_task(_tick(app))
            stopping = asyncio.create_task(self._stopping.wait())
            try:
                await _look(app)
                await asyncio.wait(
                    [working, ticking, stopping], return_when=asyncio.FIRST_COMPLETED
                )
            finally:
                stopping.cancel()
                ticking.cancel()
                # It lets its jobs end; they do so at once where `stopping` is set.
                working.cancel()
                await asyncio.wait([working, ticking])
        for one in (working, ticking):
            if not one.cancelled() and (error := one.exception()):
                raise error

    def _app(self) -> procrastinate.App:
        app = procrastinate.App(
            connector=procrastinate.PsycopgConnector(
                conninfo=self._address.uri,
                # One for each job, and for the queue itself.
                min_size=1,
                max_size=self._at_once + 4,
                timeout=ANSWER_LIMIT_S,
                connection_class=LimitedAsyncConnection,
                kwargs={
                    "options": f"-c search_path={SCHEMA}",
                    "application_name": "advisor fleet",
                    "connect_timeout": round(ANSWER_LIMIT_S),
                },
            )
        )

        @app.task(name=_LOOK, queue=_QUEUE)
        async def look(**_: object) -> None:
            if await self._turn(lambda: _look(app)):
                await _look(app)

        # Without anything periodic, Procrastinate would not notice when what listens for jobs ends.
        @app.periodic(cron=_TIDY_AT)
        @app.task(name=_TIDY, queue=_QUEUE)
        async def tidy(timestamp: int, **_: object) -> None:
            await _remove_stalled(app)

        return app


async def _look(app: procrastinate.App) -> None:
    """Have somebody look, unless that is so already."""
    with contextlib.suppress(exceptions.AlreadyEnqueued):
        await app.configure_task(_LOOK, queue=_QUEUE, queueing_lock=_LOOK).defer_async()


async def _tick(app: procrastinate.App) -> None:
    """Forever: see to it that somebody looks every few seconds, as one of all workers."""
    seen = -1
    while True:
        row = await app.connector.execute_query_one_async(
            "SELECT newest, is_first FROM advisor.fleet_tick(%(seen)s)", seen=seen
        )
        seen = row["newest"]
        if row["is_first"]:
            await _look(app)
        await asyncio.sleep(_EVERY_S)


async def _remove_stalled(app: procrastinate.App) -> None:
    for job in await app.job_manager.get_stalled_jobs(queue=_QUEUE):
        await app.job_manager.finish_job(job, jobs.Status.FAILED, delete_job=True)


def _no_tables() -> StoreError:
    return StoreError(
        "this database has no queue for workers, or this account may not use it",
        kind=ProblemKind.MISSING,
        remedy="its owner runs `advisor store init`, and grants the role advisor_writer",
    )


def _be_quiet() -> None:
    """What it logs is about jobs; the worker reports what is worth knowing."""
    for name in ("procrastinate", "psycopg", "psycopg.pool", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
