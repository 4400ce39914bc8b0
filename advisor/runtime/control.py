"""The user's hand on a session that runs."""

import asyncio
from collections import deque
from collections.abc import Coroutine
from typing import Any

from advisor.domain import orders as o


class Control:
    """Orders as they stand. The session looks at it between two probes, and at `stop` always."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.tries: deque[o.Try] = deque()
        self.asks: deque[o.Ask] = deque()
        self._running = asyncio.Event()
        self._running.set()
        self._skipped: set[str] = set()
        self._extension_s = 0.0

    def obey(self, order: o.AnyOrder) -> None:
        """Take an order."""
        match order:
            case o.Pause():
                self._running.clear()
            case o.GoOn():
                self._running.set()
            case o.Skip(stage=stage):
                self._skipped.add(stage)
            case o.Extend(by_s=by_s):
                self._extension_s += by_s
            case o.Try():
                self.tries.append(order)
            case o.Ask():
                self.asks.append(order)
            case o.Stop():
                self.stop.set()

    @property
    def paused(self) -> bool:
        """Whether no further probe may start for now."""
        return not self._running.is_set()

    async def wait_while_paused(self) -> None:
        """Wait for the end of a pause, or for `stop`."""
        waiting = [asyncio.create_task(e.wait()) for e in (self._running, self.stop)]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting)

    async def until_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether it came to its end before `stop`; then it is cancelled. Raises as it does."""
        doing, stopping = asyncio.ensure_future(work), asyncio.create_task(self.stop.wait())
        try:
            await asyncio.wait((doing, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not doing.done():
                return False
            doing.result()
            return True
        finally:
            for task in (doing, stopping):
                task.cancel()
            await asyncio.wait((doing, stopping))

    def is_skipped(self, stage: str) -> bool:
        """Whether the user wants no more of this run of probes."""
        return stage in self._skipped

    def take_extension_s(self) -> float:
        """The time that was granted since this was asked last, in seconds."""
        granted_s, self._extension_s = self._extension_s, 0.0
        return granted_s
