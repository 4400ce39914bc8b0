"""One probe at a time on a host: a second one would disturb the measurement of the path.

There are three queues, each inside the next:

- Within one agent the advisors come in order.
- Between the processes of a user (every ssh login has its own agent, and every advisor that
  measures on localhost too) a lock file in the user's private folder holds the turn, one for each
  network of this machine: the hosts of a lab share its files. It is released when its holder dies.
  Without a private folder, or if it cannot be locked, the next queue does it.
- Between users the turn is a socket with an abstract name (advisor.hosts.host_lock): no file that
  every user may write, which one could hold forever, replace, or plant as a link. Any user can
  bind that name, so it is waited for at most `_STRANGER_S`; then the probe runs without it, and
  that user is not waited for again by this process. So a stranger who holds it delays each agent
  once, and blocks none. It is not waited for if the holder is this user: the lock file has
  decided.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from advisor.hosts.host_lock import HostLock
from advisor.hosts.private_folders import NotPrivate, present_runtime_folder, runtime_folder

_POLL_S: Final = 0.02
_ASK_EVERY_S: Final = 1.0
# Longer than nearly every probe, and bearable once.
_STRANGER_S: Final = 60.0
_NAME: Final = "data-transfer-advisor/probe"


class GivenUp(Exception):
    """The turn is not waited for any longer."""


class Turn:
    """The right to measure, granted to one at a time.

    `makes_files`: whether the lock file may be created; else it is used only if it is there.
    """

    def __init__(self, *, makes_files: bool = True) -> None:
        self._queue: list[object] = []
        self._own = _OwnTurn(makes_files)
        self._common = _CommonTurn()

    def _is_mine(self, ticket: object) -> bool:
        return self._queue[0] is ticket and self._own.take() and self._common.take(self._own.holds)

    @contextlib.asynccontextmanager
    async def taken(
        self,
        report: Callable[[int], Awaitable[None]],
        given_up: asyncio.Event | None = None,
    ) -> AsyncIterator[None]:
        """Hold the turn during the block; calls `report` with the number ahead, as it changes.

        Raises GivenUp where `given_up` is set before the turn comes.
        """
        ticket = object()
        self._queue.append(ticket)
        reported = -1
        try:
            while not self._is_mine(ticket):
                if given_up is not None and given_up.is_set():
                    raise GivenUp
                ahead = max(1, self._queue.index(ticket))
                if ahead != reported:
                    await report(ahead)
                    reported = ahead
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            if self._queue[0] is ticket:
                self.lend()
            self._queue.remove(ticket)

    def lend(self) -> None:
        """Let others have it for some time, within a block of `taken`."""
        self._common.release()
        self._own.release()

    def take_back(self) -> bool:
        """End that, unless somebody has it; whether it is held now."""
        return self._own.take() and self._common.take(self._own.holds)


class _OwnTurn:
    """The turn among the processes of this user."""

    def __init__(self, makes_files: bool) -> None:
        self._makes_files = makes_files
        self._lock: FileLock | None = None
        self._was_looked_for = False

    @property
    def holds(self) -> bool:
        """Whether other processes of this user are kept out."""
        return self._lock is not None and self._lock.is_locked

    def take(self) -> bool:
        """Whether no other process of this user has it, as far as can be known."""
        if not self._was_looked_for:
            self._look()
        if self._lock is None or self._lock.is_locked:
            return True
        try:
            self._lock.acquire()
        except Timeout:
            return False
        except OSError:
            self._lock = None  # A file system without locks, or a full one.
        return True

    def _look(self) -> None:
        """Only now: who never measures makes no folder."""
        self._was_looked_for = True
        with contextlib.suppress(NotPrivate, OSError):
            network = Path("/proc/self/ns/net").stat().st_ino
            folder = runtime_folder() if self._makes_files else present_runtime_folder()
            path = folder / f"probe-{network}.lock"
            if not self._makes_files and not path.exists():
                return
            self._lock = FileLock(path, blocking=False, thread_local=False)

    def release(self) -> None:
        """Give it up, if it is held."""
        if self._lock is not None:
            self._lock.release()


class _CommonTurn:
    """The turn among the users of this host."""

    def __init__(self) -> None:
        self._lock = HostLock(_NAME)
        self._waits_since_s: float | None = None
        self._asked_s = 0.0
        self._passed_over: set[int | None] = set()

    def take(self, knows_own: bool) -> bool:
        """Whether no other user has it who is still to be waited for.

        `knows_own`: whether this user's own processes are kept out already.
        """
        try:
            if self._lock.acquire():
                return True
        except OSError:
            return True  # A sandbox that forbids such sockets must not keep it from measuring.
        now_s = time.monotonic()
        if self._waits_since_s is None:
            self._waits_since_s = now_s
        elif now_s < self._asked_s + _ASK_EVERY_S:
            return False
        self._asked_s = now_s
        holder = self._lock.holder()
        if knows_own and holder == os.geteuid():
            return True
        if now_s >= self._waits_since_s + _STRANGER_S:
            self._passed_over.add(holder)
        return holder in self._passed_over

    def release(self) -> None:
        """Give it up, if it is held."""
        self._waits_since_s = None
        self._lock.release()
