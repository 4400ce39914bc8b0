"""A clock that counts, for transfers that are moved in virtual time."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from advisor.transfer.engine.file_group import FileGroup

R = TypeVar("R")


class VirtualClock:
    """The waiting part of a transfer's engine. A subclass moves bytes and `now_s` in `step`."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def step(self) -> None:
        """Move everything on by a moment."""
        raise NotImplementedError

    def clock(self) -> float:
        return self.now_s

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self.step()

    async def drain(self, group: FileGroup) -> None:
        group.concurrency = 0
        await self.until(lambda: not group.clients)

    async def meanwhile(self, work: Awaitable[R]) -> R:
        return await work
