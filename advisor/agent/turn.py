"""One probe at a time on a host: a second one would disturb the measurement of the path.

Within one agent the advisors queue in order. Between processes (every ssh login has its own agent,
and every advisor that measures on localhost too) a lock file of the user holds the turn; the lock
is released when its holder dies. Agents of other users are not considered: they share no folder in
which both may lock.
"""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

_POLL_S: Final = 0.02


def _lock_path() -> Path:
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    return Path(folder) / f"advisor-probe-{os.getuid()}.lock"


class Turn:
    """The right to measure, granted to one at a time."""

    def __init__(self) -> None:
        self._queue: list[object] = []
        self._lock = FileLock(_lock_path(), blocking=False, thread_local=False)

    def _is_mine(self, ticket: object) -> bool:
        if self._queue[0] is not ticket:
            return False
        try:
            self._lock.acquire()
        except Timeout:
            return False
        return True

    @contextlib.asynccontextmanager
    async def taken(self, tell: Callable[[int], Awaitable[None]]) -> AsyncIterator[None]:
        """Hold the turn during the block; calls `tell` with the number ahead, as it changes."""
        ticket = object()
        self._queue.append(ticket)
        told = -1
        try:
            while not self._is_mine(ticket):
                ahead = max(1, self._queue.index(ticket))
                if ahead != told:
                    await tell(ahead)
                    told = ahead
                await asyncio.sleep(_POLL_S)
            yield
        finally:
            if self._queue[0] is ticket:
                self._lock.release()
            self._queue.remove(ticket)
