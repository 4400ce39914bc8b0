"""One of several destinations that are served at once: how it is reached, and what it has got."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable
from typing import Final

import msgspec

from advisor.domain import events as ev
from advisor.domain.path import PathFacts
from advisor.domain.plan import ClassProgress
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.transfer.engine.ending import EXIT_DONE, EXIT_NOT_ALL
from advisor.transfer.engine.file_group import Portion
from advisor.transfer.engine.mover import Handling
from advisor.transfer.engine.route import Way
from advisor.transfer.engine.session import Kept, MovingSession

PIECE_S: Final = 5.0
PIECES_IN_EPOCH: Final = 4


class Serving(MovingSession):
    """A destination. `hear` gets its events, with the destination's name before them.

    `path`: to it, once it was reached. `failure`: why it is not served any more, "" while it is.
    `is_over`: it will not be served again; a path that is lost may come back.
    """

    def __init__(
        self,
        request: AdviceRequest,
        kept: Kept,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        self.destination = request.destination_host
        super().__init__(request, kept, store, self._take, control)
        self._hear = hear
        self._wanted = 0
        self._portion: Portion | None = None
        self._carried_bytes = 0
        self.path: PathFacts | None = None
        self.failure = ""
        self.is_over = False
        self.is_looked_at = asyncio.Event()
        self.progress: ClassProgress | None = None
        self.left_s: tuple[float, float, float] | None = None
        self.ended: ev.DestinationEnded | None = None

    async def serve(self) -> int:
        """See it to its end; the exit code. Whatever happens, it is known whether it is reached."""
        try:
            return await self.run()
        finally:
            self.is_looked_at.set()
            self.is_over = True

    @property
    def concurrency(self) -> int:
        """How many files at a time it is to get; 0 before it begins."""
        return self._wanted

    @concurrency.setter
    def concurrency(self, wanted: int) -> None:
        self._wanted = wanted
        if self._portion is not None:
            self._portion.concurrency = wanted

    @property
    def portion(self) -> Portion | None:
        """What is on its way to it now; None while it is not served."""
        return self._portion

    @property
    def is_served(self) -> bool:
        """Whether anything is on its way, or is to be."""
        return self._portion is not None and not self._portion.is_over

    def take_up(self, portion: Portion, parallelism: int) -> None:
        """Serve it from now on with this, at the concurrency that is wanted."""
        portion.parallelism = parallelism
        portion.concurrency = self._wanted
        self._portion = portion

    def lay_down(self) -> None:
        """It is not served any more, for now or for good."""
        if (portion := self._portion) is None:
            return
        self._carried_bytes, self._portion = portion.carried_bytes, None
        if self.progress is not None:
            self.progress = msgspec.structs.replace(
                self.progress,
                files=portion.arrived_files,
                moved_bytes=portion.moved_bytes,
                rate_bps=0.0,
                clients=0,
            )

    @property
    def carried_bytes(self) -> int:
        """What the path to it has carried, as `Portion` has it."""
        return self._portion.carried_bytes if self._portion else self._carried_bytes

    def handling(self, way: Way, epoch_s: float, ceiling_bps: float | None = None) -> Handling:
        """Pieces short enough that a change is in effect well before the half of an epoch."""
        return Handling(
            expected_bps=way.capacity_bps / max(1, self._wanted),
            piece_s=min(PIECE_S, epoch_s / PIECES_IN_EPOCH),
            ceiling_bps=ceiling_bps,
        )

    def end(self, ended: ev.DestinationEnded) -> int:
        """Tell how it ended; the exit code."""
        self.ended = ended
        self._hear(self.destination, ended)
        return EXIT_DONE if ended.complete else EXIT_NOT_ALL

    @abstractmethod
    async def _run(self) -> int: ...

    def _take(self, event: ev.AnyEvent) -> None:
        match event:
            case ev.FilesMoving():
                [self.progress] = event.classes
                self.left_s = event.left_s
            case ev.PathFound():
                self.path = event.path
            case ev.GaveUp():
                self.failure = event.message
                self._hear(self.destination, event)
            case _:
                self._hear(self.destination, event)
