"""The user's orders to a running session."""

import asyncio
import contextlib
from collections import deque
from collections.abc import Coroutine
from typing import Any

from advisor.domain import orders as o
from advisor.runtime.stop import Stopped, unless_stopped


class Control:
    """Collects orders. A session reads them between two probes or epochs, and `stop` at all times.

    `tries`: settings the user wants measured. `asks`: shares the user asks for from now on.
    """

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
            case o.Resume():
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
        """Wait for the end of the pause, or for `stop`."""
        await self.until_stopped(self._running.wait())

    async def until_stopped(self, work: Coroutine[Any, Any, Any]) -> bool:
        """Run `work` until it ends or `stop` is set; then it is cancelled. Raises what it raises.

        Returns whether it ended by itself.
        """
        try:
            await unless_stopped(work, self.stop)
        except Stopped:
            return False
        return True

    async def stopped_within(self, seconds: float) -> bool:
        """Wait this long, or until `stop` is set; returns whether it is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.stop.wait()
        return self.stop.is_set()

    def is_skipped(self, stage: str) -> bool:
        """Whether the user wants no more probes of this stage."""
        return stage in self._skipped

    def take_extension_s(self) -> float:
        """The time granted since the last call, in seconds."""
        granted_s, self._extension_s = self._extension_s, 0.0
        return granted_s
