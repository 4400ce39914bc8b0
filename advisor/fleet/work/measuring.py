"""Has one pair measured by its source, and keeps what comes out in the shared history."""

import asyncio
import time
from typing import Final

import msgspec
import psycopg

from advisor.agent.connect import ssh_failure
from advisor.domain.events import AnyEvent
from advisor.domain.orders import Stop
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.records import Record
from advisor.fleet.state.rows import Outcome
from advisor.fleet.work.claiming import Claim, Ending
from advisor.fleet.work.ordering import order_of
from advisor.fleet.work.watching import LINE_BYTES, Watched
from advisor.runtime.advisor_child import AdvisorChild
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED, EXIT_PEER
from advisor.store.backend import SessionLog
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.importers.entries import RefusedError
from advisor.store.postgres.answers import server_words

_SSH_FAILED: Final = (126, 127, 255)
_TICK_S: Final = 0.5
_STOP_SHARE: Final = 0.9
"""Of its budget a measurement may send; then it is asked to stop, and at the end interrupted."""
_END_S: Final = 10.0
_AWAY: Final = (ProblemKind.UNREACHABLE, ProblemKind.LOST, ProblemKind.MISSING, ProblemKind.REFUSED)


class Measuring:
    """One measurement. `interrupt` ends it from outside."""

    def __init__(self, claim: Claim, store: Store) -> None:
        self._claim = claim
        self._store = store
        task, ends = claim.task, (claim.turn.source, claim.turn.destination)
        self._order = order_of(claim.fleet, task, *ends)
        self._watched = Watched(claim.destination.destination_name, claim.fleet.rate_bps(*ends))
        self._log: SessionLog | None = None
        self._is_admitted = False
        self._why: Ending | None = None
        self._was_asked_to_stop = False
        self._over = asyncio.Event()

    def interrupt(self, ending: Ending) -> None:
        """End it now. The first reason counts."""
        self._why = self._why or ending
        self._over.set()

    async def run(self) -> Ending:
        """Measure, and say how it ended. Never raises, unless it is cancelled."""
        here, there = self._claim.source, self._claim.destination
        ends = self._order.source, self._order.destination
        if ends[1].is_local and not there.agent and not ends[0].is_local:
            # It would measure itself.
            message = f"hosts.{there.name}.reach is localhost, which at {here.name} is itself"
            return _early("failed", message)
        try:
            child = await AdvisorChild.started_by(self._order.argv)
        except OSError as error:
            return Ending(outcome="failed", moved_bytes=0.0, message=str(error))
        following = asyncio.create_task(self._follow(child))
        status, words = 0, ""
        try:
            await self._until_over(following, child)
            if self._why is None:
                status, words = await asyncio.wait_for(child.last_words(), _END_S)
        except TimeoutError:
            self.interrupt(_early("failed", "the session does not end"))
        finally:
            # Its input is closed: that orders the session to stop, here and behind ssh.
            await asyncio.shield(child.close())
            await asyncio.wait([following], timeout=_END_S)
            following.cancel()
            if self._log:
                await asyncio.to_thread(self._log.close)
        if self._why is _TOO_LONG:
            # The end of its input has asked it as well. Did it obey, or was it killed?
            self._was_asked_to_stop = True
            status, words = await child.last_words()
        return self._ending(status, words)

    async def _until_over(self, following: "asyncio.Task[None]", child: AdvisorChild) -> None:
        """Wait for its end, and see to it that there is one, within what was booked."""
        began_s = time.monotonic()
        while not following.done() and not self._over.is_set():
            over = asyncio.create_task(self._over.wait())
            await asyncio.wait(
                [following, over], timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED
            )
            over.cancel()
            now_s = time.monotonic()
            first_s = self._watched.first_probe_s
            sending_s = 0.0 if first_s is None else now_s - first_s
            task = self._claim.task
            used_up = sending_s > _STOP_SHARE * task.budget_s
            if self._order.obeys and used_up and not self._was_asked_to_stop:
                self._was_asked_to_stop = True
                child.order(Stop())
            if sending_s > task.budget_s or now_s - began_s > task.longest_s:
                self.interrupt(_TOO_LONG)

    async def _follow(self, child: AdvisorChild) -> None:
        try:
            async for line in child.lines(LINE_BYTES):
                received = self._watched.tell(line)
                if received is not None:
                    await asyncio.to_thread(self._keep, received)
                if side := self._watched.waits_at:
                    # A user has priority. What was measured so far is kept.
                    claim = self._claim
                    host = claim.source if side == "source" else claim.destination
                    self.interrupt(given_way(host.name, "a user measures"))
        except psycopg.Error as error:
            self.interrupt(_early("given back", f"the database was lost: {server_words(error)}"))
        except StoreError as error:
            self.interrupt(_early("failed", f"its records cannot be stored: {error}"))
        except (ProblemError, RefusedError) as error:
            self.interrupt(_early("failed", f"what the source sent is refused: {error}"))

    def _keep(self, received: Record | AnyEvent) -> None:
        """Raises StoreError if it can neither be stored nor spooled, NotItsOwn, psycopg.Error."""
        watched = self._watched
        if not self._is_admitted and watched.pair is not None:
            self._claim.require_own(watched.pair, watched.session)
            self._is_admitted = True
        if isinstance(received, Record):
            self._store.append(received)
            return
        if self._log is None and watched.pair is not None:
            self._log = self._store.event_log(watched.pair, watched.session)
        if self._log is not None:
            self._log(received)

    def _ending(self, status: int, words: str) -> Ending:
        watched = self._watched
        return msgspec.structs.replace(
            self._outcome(status, words),
            moved_bytes=min(watched.moved_bytes, self._claim.turn.most_bytes),
            session=watched.session if self._is_admitted else "",
            pair=watched.pair if self._is_admitted else None,
        )

    def _outcome(self, status: int, words: str) -> Ending:
        """How it ended, but for what it moved and what is stored of it."""
        watched = self._watched
        if self._why is not None and self._why is not _TOO_LONG:
            return self._why
        measured = watched.rtt_s if self._claim.task.what == "path" else watched.rate_bps
        if measured is not None and self._has_ended_in_order(status):
            done = _early("done", "")
            return msgspec.structs.replace(done, rate_bps=watched.rate_bps, rtt_s=watched.rtt_s)
        if self._why is not None:
            return self._why
        reason, down = self._failure(status, words)
        return msgspec.structs.replace(_early("failed", reason), down=down)

    def _has_ended_in_order(self, status: int) -> bool:
        """Whether it came to its end, or was asked to stop and did so."""
        return status == EXIT_DONE or (status == EXIT_INTERRUPTED and self._was_asked_to_stop)

    def _failure(self, status: int, words: str) -> tuple[str, str | None]:
        """Why there is no result, and which host could not be reached."""
        gave_up, order = self._watched.gave_up, self._order
        if gave_up is not None:
            problem = gave_up.problem
            away = gave_up.exit_code == EXIT_PEER and (problem is None or problem.kind in _AWAY)
            return gave_up.message, self._claim.destination.name if away else None
        if order.command and status in _SSH_FAILED:
            failed = ssh_failure(order.source, order.command, status, words)
            return str(failed), self._claim.source.name
        said = [line for line in words.strip().splitlines() if line]
        return said[-1] if said else f"the session ended with status {status}", None


def given_way(host: str, to: str) -> Ending:
    """What a session amounts to that ends for what a user does at a host, but for what it moved."""
    return msgspec.structs.replace(_early("given way", f"{to} at {host}"), busy=host)


def _early(outcome: Outcome, message: str) -> Ending:
    """What a session that is ended from outside amounts to, but for what it moved."""
    return Ending(outcome=outcome, moved_bytes=0.0, message=message)


_TOO_LONG: Final = _early("failed", "it took longer than it may")
