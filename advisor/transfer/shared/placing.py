"""A destination that gets its files, and one that is only looked at."""

import asyncio
from collections.abc import Callable

import msgspec

from advisor.domain import events as ev
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.transfer.engine.ending import EXIT_DONE, Ending, Moving
from advisor.transfer.engine.file_group import Portion
from advisor.transfer.engine.retry import moved_patiently
from advisor.transfer.engine.route import Way, way_of
from advisor.transfer.engine.session import Kept
from advisor.transfer.shared.serving import Serving


class Placing(msgspec.Struct, frozen=True, kw_only=True):
    """How files are moved to one destination: see `ShareOptions`."""

    parallelism: int
    epoch_s: float
    ceiling_bps: float | None
    patience_s: float
    kept: Kept


class Looked(Serving):
    """Whether it is there, and its path; nothing is moved."""

    async def _run(self) -> int:
        await self.reach()
        return EXIT_DONE


class Placed(Serving):
    """Gets its files once `go` is set; what has arrived is kept in a journal of its own."""

    def __init__(
        self,
        request: AdviceRequest,
        placing: Placing,
        go: asyncio.Event,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        super().__init__(request, placing.kept, store, hear, control)
        self._placing = placing
        self._go = go
        self.total_bytes = 0

    async def _run(self) -> int:
        files = await self.files()
        way = way_of(self.request, await self.reach())
        with self.journal(way) as journal:
            done = await self.done(journal, way, files)
            portion = Portion(self.destination, files, done=done)
            moving = Moving([portion], journal, self.unreadable)
            self.total_bytes = portion.total_bytes
            self.is_looked_at.set()
            await self._go.wait()
            ending = await moved_patiently(
                self,
                way,
                moving,
                self._placing.patience_s,
                lambda moving, began_s: self._move(way, moving, began_s),
            )
            if ending.complete:
                self.forget(journal)
                self.keep_transfer(ending, "advisor share plan --run")
        return self._end(ending)

    async def _move(self, way: Way, moving: Moving, began_s: float) -> Ending:
        [portion] = moving.portions
        self.take_up(portion, self._placing.parallelism)
        handling = self.handling(way, self._placing.epoch_s, self._placing.ceiling_bps)
        try:
            return await self.move(
                way, moving, handling, lambda mover: mover.finished(), began_s=began_s
            )
        finally:
            self.lay_down()

    def _end(self, ending: Ending) -> int:
        if not ending.complete:
            self.failure = ending.message
        return self.end(
            ev.DestinationEnded(
                at_s=0,
                destination=self.destination,
                complete=ending.complete,
                message=ending.message,
                files=ending.files,
                moved_bytes=ending.moved_bytes,
                earlier_bytes=ending.earlier_bytes,
                elapsed_s=ending.elapsed_s,
            )
        )
