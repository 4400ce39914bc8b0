"""Moves a dataset with a tool whose settings cannot be changed while it runs.

The work is a queue of batches of some seconds each, and a client is one run of the tool for a
batch. The number of clients kept running is the concurrency. Settings change with the next client
that is started, or not started. No client is ended before its batch is done, except where the files
are moved for a measurement alone.
"""

import asyncio
import contextlib
import itertools
import posixpath
import tempfile
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import msgspec

from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerError
from advisor.api.tool import Piece, Step, TransferOrder
from advisor.domain.space import Setting
from advisor.models.piecework import Batch
from advisor.models.slicing import Part
from advisor.runtime.stop import Stopped, uninterrupted, unless_stopped
from advisor.transfer.engine.batch_outcome import BatchChecker, SaveArrived, TransferFailed
from advisor.transfer.engine.batch_sizing import BatchSizer, SetupTimes
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.client_options import ClientOptions
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.proof import Proofs
from advisor.transfer.engine.rate_limit import RateLimit
from advisor.transfer.engine.route import Route
from advisor.transfer.engine.setting_control import SettingControl

__all__ = ["Mover", "TransferFailed"]

_R = TypeVar("_R")

_TURN_S: Final = 0.1
_LEAST_STALL_S: Final = 15.0
_DOUBLINGS: Final = 5
_STALL_ROUND_TRIPS: Final = 30
_SAMPLE_EVERY_S: Final = 0.125
"""The shortest sampling interval, in seconds. The error of a 3 s sample with few clients is of that
order."""
_FIRST_BYTES: Final = 64 * 2**20
"""Size of the first batches at most. At the interface's rate they would take minutes on a path with
a hundredth of it, and nothing could be changed until then."""

_LOOKS_PER_S: Final = 160
"""Samples per second, of all clients together: one sample looks at every open file of a client."""


class Mover:
    """Keeps clients running inside its `async with` block; leaving it ends them all.

    Inside, hold the lock `asking` to talk to the agent.
    """

    def __init__(
        self,
        link: AgentLink,
        route: Route,
        groups: Sequence[FileGroup],
        client_options: ClientOptions,
        *,
        tell: Callable[[str], None],
        note: SaveArrived | None = None,
        stop: asyncio.Event | None = None,
        proofs: Proofs | None = None,
    ) -> None:
        """`tell` is called with a sentence on what goes wrong.

        `note` saves what has arrived and was checked, before it counts. `stop`: ends every wait.
        `proofs`: proves the content; None to compare sizes only.
        Raises ValueError for a tool that moves one file at a time.
        """
        if not route.tool.moves_several:
            raise ValueError(f"{route.tool.name} moves one file at a time: choose another tool")
        self._route = route
        self._groups = groups
        self._options = client_options
        self._filled: dict[FileGroup, tuple[int, int]] = {}
        self._rate_limit = RateLimit(client_options.rate_limit_bps, asyncio.get_running_loop().time)
        self._stall_s = max(_LEAST_STALL_S, _STALL_ROUND_TRIPS * route.path.rtt_s)
        self._stalls: Counter[Part] = Counter()
        expected_bps = min(client_options.expected_bps, _FIRST_BYTES * 8 / client_options.piece_s)
        self._sizers = {one: BatchSizer(expected_bps, route.path.rtt_s) for one in groups}
        self._setup_times = SetupTimes()
        self._control = SettingControl()
        self._checker = BatchChecker(
            link, route.tool, route.places, tell, note, self._control.fall_back, proofs
        )
        self._stop = stop or asyncio.Event()
        self._made: set[str] = set()
        self._failure: BaseException | None = None
        self._own = contextlib.ExitStack()
        self._lists = Path()
        self._numbers = itertools.count()
        self._news = asyncio.Event()
        self._turned = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._cancelled: set[asyncio.Task[None]] = set()

    @property
    def asking(self) -> asyncio.Lock:
        """Held by whoever talks to the agent."""
        return self._checker.asking

    @property
    def refusal(self) -> str:
        """Why nothing got through at the setting that was set last, "" if something did."""
        return self._control.refusal

    def apply(self, group: FileGroup, setting: Setting, fallback: Setting | None = None) -> None:
        """Move the group at this setting from now on: clients that run finish their batch.

        `fallback`: a setting to return to, instead of giving up, where nothing gets through.
        """
        self._control.apply(group, setting, fallback)
        self._news.set()

    def limit_rate(self, bps: float) -> None:
        """From now on all clients together move at most this, in bit/s."""
        self._rate_limit.change(bps)

    @property
    def is_held_back(self) -> bool:
        """Whether the limit of the rate lets no further client start now."""
        return not self._rate_limit.may_start()

    async def __aenter__(self) -> Self:
        """Set aside the files that the tool cannot move, and start."""
        for group in self._groups:
            self._checker.leave_out(group)
        folder = tempfile.TemporaryDirectory(prefix="advisor-", ignore_cleanup_errors=True)
        self._lists = Path(self._own.enter_context(folder))
        self._start(self._keep())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all clients."""
        tasks = self._cancel()
        try:
            if tasks:
                await uninterrupted(asyncio.wait(tasks))
        finally:
            self._own.close()

    async def finished(self) -> None:
        """Wait until all groups are over. Raises TransferFailed, Stopped."""
        await self.until(lambda: all(group.is_over for group in self._groups))

    async def drain(self, group: FileGroup) -> None:
        """Start no clients, and wait for the end of those that run. Raises as `until` does."""
        group.concurrency = 0
        await self.until(lambda: not group.clients)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds, which is checked several times a second.

        Raises TransferFailed, and Stopped if the user stops before.
        """
        async with self._turned:
            await self._turned.wait_for(
                lambda: self._failure is not None or condition() or self._stop.is_set()
            )
        if self._failure is not None:
            raise self._failure
        if self._stop.is_set() and not condition():
            raise Stopped

    async def meanwhile(self, work: Awaitable[_R]) -> _R:
        """The result of other work, while clients are kept running. Raises Stopped."""
        return await unless_stopped(work, self._stop)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._cancelled.discard(task)
        self._news.set()
        if task.cancelled() or self._failure or not (error := task.exception()):
            return
        self._failure = error
        if isinstance(error, PeerError | OSError):
            failed = TransferFailed.about("", error)
            failed.may_pass = isinstance(error, PeerError)
            self._failure = failed
        self._cancel()
        self._start(self._notify())

    def _cancel(self) -> set[asyncio.Task[None]]:
        """Cancel all tasks, once each; returns them. A cancelled one is left to end its process."""
        # Not by `cancelling()`: that is also true while a timeout inside the task expires.
        for task in self._tasks - self._cancelled:
            task.cancel()
        self._cancelled |= self._tasks
        return set(self._tasks)

    async def _notify(self) -> None:
        async with self._turned:
            self._turned.notify_all()

    async def _keep(self) -> None:
        """Forever: keep as many clients running as are wanted."""
        while True:
            self._news.clear()
            for group in self._groups:
                self._fill(group)
            await self._notify()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_TURN_S):
                    await self._news.wait()

    def _fill(self, group: FileGroup) -> None:
        """Start the missing clients. A client that is about to end is not waited for.

        Its successor sets up its connections in the meantime.
        """
        if self._options.ends_surplus:
            self._end_surplus(group)
        if not self._checker.backoff.may_start(asyncio.get_running_loop().time()):
            return
        within_s = self._setup_times.usual_s
        at_work = sum(not client.is_ending(within_s) for client in group.clients)
        for _ in range(group.concurrency - at_work):
            if not self._rate_limit.may_start() or (batch := self._draw(group)) is None:
                return
            self._rate_limit.take(batch.total_bytes)
            client = self._client(batch)
            group.clients.add(client)
            self._start(self._move(group, client))

    def _end_surplus(self, group: FileGroup) -> None:
        """Once a setting has changed: end the clients that it has no place for, the newest first.

        Only then: a client that is about to end runs beside its successor.
        """
        wanted = group.concurrency, group.parallelism
        before, self._filled[group] = self._filled.get(group, wanted), wanted
        if before == wanted:
            return
        staying = [one for one in group.clients if not (one.has_ended or one.is_dismissed)]
        staying.sort(key=lambda client: client.began_s)
        places = group.concurrency if before[1] == group.parallelism else 0
        for client in staying[places:]:
            client.dismiss()

    def _draw(self, group: FileGroup) -> Batch | None:
        sizer, clients = self._sizers[group], self._clients_wanted
        if group.expected_bps:
            sizer.expect(group.expected_bps, group.concurrency)
        piece_s = self._options.piece_s_beside(self._setup_times.usual_s)
        wanted_bytes = self._rate_limit.bounded(sizer.bytes_in(piece_s, clients))
        return group.work.draw(wanted_bytes, group.concurrency, sizer.file_bytes(clients))

    @property
    def _clients_wanted(self) -> int:
        wanted = (group.concurrency for group in self._groups if not group.is_over)
        return max(1, sum(wanted))

    def _client(self, batch: Batch) -> Client:
        running = sum(group.running for group in self._groups)
        every_s = max(_SAMPLE_EVERY_S, running / _LOOKS_PER_S)
        # One that stalled may only be slow, as where the server ends each file before the next.
        stalls = min(_DOUBLINGS, max(self._stalls[part] for part in batch.parts))
        stall_s = self._stall_s * 2**stalls
        return Client(batch, every_s, stall_s, self._setup_times.learn)

    async def _move(self, group: FileGroup, client: Client) -> None:
        parallelism, clients = group.parallelism, self._clients_wanted
        try:
            if not await self._checker.may_be_moved(group, client.batch):
                return
            pieces = tuple(self._route.places.piece(part) for part in client.batch.parts)
            folders = {posixpath.dirname(piece.target) for piece in pieces}
            order = self._order(pieces, parallelism, make_folders=not folders <= self._made)
            ran = await client.run(
                self._step(order), self._route.tool.reader(), Path(order.list_file)
            )
            self._news.set()
            if ran is None and client.is_dismissed:
                group.work.give_back(client.batch)
                return
            if ran is None:
                self._stalls.update(client.batch.parts)
            if await self._checker.check(group, client.batch, ran, client.began_s):
                self._made |= folders
            else:
                # The folders may be gone.
                self._made -= folders
            if ran is not None and ran.status == 0:
                batch, took_s = client.batch, ran.elapsed_s - ran.begun_s
                self._sizers[group].learn(batch.total_bytes, len(batch.parts), took_s, clients)
        finally:
            client.has_ended = True
            group.leave(client)

    def _order(
        self, pieces: tuple[Piece, ...], parallelism: int, *, make_folders: bool
    ) -> TransferOrder:
        return TransferOrder(
            setting={"concurrency": 1, "parallelism": parallelism},
            pieces=pieces,
            path=self._route.path,
            destination_host=self._route.places.destination_host,
            list_file=str(self._lists / f"{next(self._numbers)}.list"),
            server_url=self._route.places.server_url,
            make_folders=make_folders,
            is_proven=self._checker.proves,
            follows_links=self._route.follows_links,
        )

    def _step(self, order: TransferOrder) -> Step:
        match self._route.tool.steps(order):
            case [Step(side="source") as step]:
                return self._nice(step)
        raise TransferFailed(
            f"{self._route.tool.name} does not run on the source alone",
            remedy="choose another tool",
        )

    def _nice(self, step: Step) -> Step:
        niceness = self._options.niceness
        if not niceness:
            return step
        return msgspec.structs.replace(step, argv=["nice", "-n", str(niceness), *step.argv])
