"""A worker: registers, measures what is due until it is stopped, and settles what it has begun."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Final

import psycopg

from advisor.domain.printable import printable
from advisor.domain.quantities import format_rate
from advisor.fleet.plan.turns import Wait
from advisor.fleet.state.connecting import connect, connected
from advisor.fleet.state.followed import FollowedPairs
from advisor.fleet.work.claiming import Claim, Ending, claim, end
from advisor.fleet.work.measuring import Measuring, given_way
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.postgres.address import Address
from advisor.store.postgres.answers import server_words

Tell = Callable[[str], None]

_SEEN_EVERY_S: Final = 5.0
_LOOK_EVERY_S: Final = 2.0
_SETTLING_TRIES: Final = 3


class Worker:
    """One worker process. `tell`: called with a line for each thing that happens.

    `stopping`: set when it is to end: measurements end at once, and are settled.
    """

    def __init__(
        self, address: Address, open_store: Callable[[], Store], tell: Tell, trusted: frozenset[str]
    ) -> None:
        self.address = address
        self.stopping = asyncio.Event()
        self._open_store = open_store
        self._tell = tell
        self._trusted = trusted
        self._worker = 0
        self._followed = FollowedPairs()
        self._last_line = ""

    def register(self) -> None:
        """Make it known. Raises StoreError, also for an account that may not work."""
        name = printable(f"{socket.gethostname()}:{os.getpid()}")[:255]
        with connected(self.address, "advisor_writer") as connection:
            row = connection.execute(
                "SELECT advisor.fleet_worker_starts(%s), session_user::text", (name,)
            ).fetchone()
        assert row is not None
        self._worker = int(row[0])
        self._trusted |= {str(row[1])}

    async def stay_known(self) -> None:
        """Report every few seconds that it is alive, until it is to end."""
        while not self.stopping.is_set():
            await asyncio.to_thread(self._lives, ends=False)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_SEEN_EVERY_S):
                    await self.stopping.wait()
        await asyncio.to_thread(self._lives, ends=True)

    def _lives(self, *, ends: bool) -> None:
        with (
            contextlib.suppress(StoreError, psycopg.Error),
            contextlib.closing(connect(self.address)) as connection,
        ):
            connection.execute("SELECT advisor.fleet_worker_lives(%s, %s)", (self._worker, ends))

    async def turn(self, began: Callable[[], Awaitable[None]]) -> bool:
        """Measure the pair that is due now; whether there was one.

        `began` is called when it is known which: another worker may look for the next. Raises
        psycopg.Error when the database does not answer.
        """
        if self.stopping.is_set():
            return False
        try:
            found = await asyncio.to_thread(
                claim, self.address, self._worker, self._trusted, self._followed
            )
        except StoreError as error:
            self._tell_once(str(error))
            return False
        self._last_line = ""
        if isinstance(found, Wait):
            return False
        try:
            await began()
            ending = await self._measured(found)
        except BaseException:
            # Whatever happened, the booking is not left open.
            await asyncio.shield(self._settle(found, _given_back(found, "its worker failed")))
            raise
        await asyncio.shield(self._settle(found, ending))
        return True

    def _tell_once(self, words: str) -> None:
        if words != self._last_line:
            self._tell(words)
        self._last_line = words

    async def _measured(self, found: Claim) -> Ending:
        task, source, destination = found.names
        self._tell(f"{source}->{destination} {task}: begins, {found.turn.reason}")
        measuring = Measuring(found, self._open_store())
        guards = [
            asyncio.create_task(self._keep_locks(found, measuring)),
            asyncio.create_task(self._until_stopped(measuring)),
        ]
        try:
            return await measuring.run()
        finally:
            for guard in guards:
                guard.cancel()
            await asyncio.gather(*guards, return_exceptions=True)

    async def _until_stopped(self, measuring: Measuring) -> None:
        await self.stopping.wait()
        measuring.interrupt(
            Ending(outcome="given back", moved_bytes=0.0, message="its worker was stopped")
        )

    async def _keep_locks(self, found: Claim, measuring: Measuring) -> None:
        """Without its locks others may measure at the same hosts, and users come first: it ends."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            try:
                why = "" if await asyncio.to_thread(found.runs) else "it was taken back"
                host = await asyncio.to_thread(found.moves_at)
            except psycopg.Error as error:
                why, host = f"the database was lost: {server_words(error)}", None
            if why:
                measuring.interrupt(Ending(outcome="given back", moved_bytes=0.0, message=why))
                return
            if host:
                measuring.interrupt(given_way(host, "a transfer moves files"))
                return

    async def _settle(self, found: Claim, ending: Ending) -> None:
        """Replace its booking, then give up its locks.

        If the database does not answer for long, the booking stays until it is taken back.
        """
        task, source, destination = found.names
        self._tell(f"{source}->{destination} {task}: {_words(ending)}")
        try:
            for number in range(_SETTLING_TRIES):
                await asyncio.sleep(number)
                with contextlib.suppress(StoreError, psycopg.Error):
                    await asyncio.to_thread(end, self.address, found, ending)
                    return
        finally:
            await asyncio.to_thread(found.close)


def _given_back(found: Claim, why: str) -> Ending:
    return Ending(outcome="given back", moved_bytes=found.turn.most_bytes, message=why)


def _words(ending: Ending) -> str:
    if ending.outcome != "done":
        return f"{ending.outcome}: {ending.message}"
    if ending.rate_bps is not None:
        return format_rate(ending.rate_bps)
    return f"round-trip time {1000 * (ending.rtt_s or 0):.3g} ms"
