"""The user's hand on a session that runs."""

import asyncio
from collections import deque

from advisor.domain import orders as o


class Control:
    """Orders as they stand. The session looks at it between two probes, and at `stop` always."""

    def __init__(self) -> None:
        self.stop = asyncio.Event()
        self.tries: deque[o.Try] = deque()
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()
        self._skipped: set[str] = set()
        self._extension_s = 0.0

    def obey(self, order: o.AnyOrder) -> None:
        """Take an order."""
        match order:
            case o.Pause():
                self._may_go_on.clear()
            case o.GoOn():
                self._may_go_on.set()
            case o.Skip(stage=stage):
                self._skipped.add(stage)
            case o.Extend(by_s=by_s):
                self._extension_s += by_s
            case o.Try():
                self.tries.append(order)
            case o.Stop():
                self.stop.set()

    @property
    def paused(self) -> bool:
        """Whether no further probe may start for now."""
        return not self._may_go_on.is_set()

    async def until_it_may_go_on(self) -> None:
        """Wait for the end of a pause, or for `stop`."""
        waiting = [asyncio.create_task(e.wait()) for e in (self._may_go_on, self.stop)]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting)

    def is_skipped(self, stage: str) -> bool:
        """Whether the user wants no more of this run of probes."""
        return stage in self._skipped

    def take_extension_s(self) -> float:
        """The time that was granted since this was asked last, in seconds."""
        granted_s, self._extension_s = self._extension_s, 0.0
        return granted_s
