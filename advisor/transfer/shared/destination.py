"""One of several destinations that are served at once: its connection and its files."""

import asyncio
from abc import abstractmethod
from collections.abc import Callable

import msgspec

from advisor.api.tool import TransferTool
from advisor.domain import events as ev
from advisor.domain.path import PathFacts
from advisor.domain.plan import ClassProgress
from advisor.runtime.control import Control
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED
from advisor.runtime.request import ConnectionOptions
from advisor.store.history import Store
from advisor.transfer.engine.client_options import ClientOptions, lasting_epochs
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.route import Route
from advisor.transfer.engine.session import TransferSession


class DestinationSession(TransferSession):
    """The session of one destination. `hear` gets its events, with the destination's name.

    `path`, `tool` (with what it looked up): known once connected. `failure`: why it is no longer
    served, "" while it is. `is_over`: it will not be served again; after a lost connection it may
    be.
    """

    def __init__(
        self,
        connection: ConnectionOptions,
        delivery_options: DeliveryOptions,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        self.destination = connection.destination_host
        super().__init__(connection, delivery_options, store, self._take, control)
        self._hear = hear
        self._wanted = 0
        self._streams = 1
        self._expected_bps: float | None = None
        self._group: FileGroup | None = None
        self._carried_bytes = 0
        self.path: PathFacts | None = None
        self.tool: TransferTool | None = None
        self.failure = ""
        self.is_over = False
        self.is_looked_at = asyncio.Event()
        self.progress: ClassProgress | None = None
        self.left_s: tuple[float, float, float] | None = None
        self.ended: ev.DestinationEnded | None = None

    async def serve(self) -> int:
        """Run to its end; returns the exit code. On every way out `is_looked_at` is set."""
        try:
            return await self.run()
        finally:
            self.is_looked_at.set()
            self.is_over = True

    @property
    def concurrency(self) -> int:
        """The number of files to send to it at a time; 0 before it begins."""
        return self._wanted

    @concurrency.setter
    def concurrency(self, wanted: int) -> None:
        self._wanted = wanted
        if self._group is not None:
            self._group.concurrency = wanted

    @property
    def parallelism(self) -> int:
        """The streams of each file that is sent to it from now on."""
        return self._streams

    @parallelism.setter
    def parallelism(self, streams: int) -> None:
        self._streams = streams
        if self._group is not None:
            self._group.parallelism = streams

    @property
    def expected_bps(self) -> float | None:
        """What it is expected to get at this concurrency, None where nothing is known."""
        return self._expected_bps

    @expected_bps.setter
    def expected_bps(self, bps: float | None) -> None:
        self._expected_bps = bps
        if self._group is not None:
            self._group.expected_bps = bps

    @property
    def group(self) -> FileGroup | None:
        """The files on their way to it; None while it is not served."""
        return self._group

    @property
    def is_served(self) -> bool:
        """Whether files are on their way to it, or are still to be."""
        return self._group is not None and not self._group.is_over

    def take_up(self, group: FileGroup) -> None:
        """Serve it with this group from now on, at the requested concurrency and parallelism."""
        group.parallelism = self._streams
        group.concurrency = self._wanted
        group.expected_bps = self._expected_bps
        self._group = group

    def lay_down(self) -> None:
        """Stop serving it, for now or for good."""
        if (group := self._group) is None:
            return
        self._carried_bytes, self._group = group.carried_bytes, None
        if self.progress is not None:
            self.progress = msgspec.structs.replace(
                self.progress,
                files=group.arrived_files,
                moved_bytes=group.moved_bytes,
                rate_bps=0.0,
                clients=0,
            )

    @property
    def carried_bytes(self) -> int:
        """Bytes that the path to it has carried, as in `FileGroup`."""
        return self._group.carried_bytes if self._group else self._carried_bytes

    def client_options(
        self,
        route: Route,
        epoch_s: float,
        rate_limit_bps: float | None = None,
        *,
        ends_surplus: bool = False,
    ) -> ClientOptions:
        """Of its clients; `epoch_s`: for which a concurrency is kept. As in `ClientOptions`."""
        expected_bps = route.capacity_bps / max(1, self._wanted)
        return lasting_epochs(epoch_s, expected_bps, rate_limit_bps, ends_surplus=ends_surplus)

    def end(self, ended: ev.DestinationEnded) -> int:
        """Emit how it ended; returns the exit code."""
        self.ended = ended
        self._hear(self.destination, ended)
        return EXIT_DONE if ended.complete else EXIT_FAILED

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
