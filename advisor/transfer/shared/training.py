"""Runs the load variation experiment, which teaches the models of several destinations."""

import asyncio
import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import urlsplit

import msgspec

from advisor.agent.peer_errors import PeerError
from advisor.domain import events as ev
from advisor.domain.dataset import Dataset
from advisor.domain.quantities import format_duration
from advisor.domain.shares import SharePurpose
from advisor.hosts.datasets import listed_files
from advisor.models.endless_work import EndlessWork
from advisor.models.shares.variation import Step, block_length, steps
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from advisor.runtime.request import ShareRequest
from advisor.runtime.stop import uninterrupted
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.route import Route, route_of
from advisor.transfer.shared.destination import DestinationSession
from advisor.transfer.shared.epochs import SharedEpochs
from advisor.transfer.shared.session import ShareSession

LEAST_STEP_S: Final = 4.0
"""A change takes about one batch to take effect, a quarter of the step."""

MOST_STEP_S: Final = 90.0
"""The paper's transfers took that long."""

LASTS_S: Final = 1800.0
PRECISION: Final = 0.08
MOST_FILES: Final = 8
SPACE_BYTES: Final = 2**30

_LEAST_STEPS: Final = 6
_USUAL_BLOCKS: Final = 3
_WORTH_BEGINNING: Final = 0.5
"""The part of the longest step that must be left for another one."""


class TrainOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of the experiment; the `destination_path` of each request is a folder to write in.

    `lasts_s`: the time for all steps. A step ends when the relative standard error of every
    destination's rate is `precision`, and after `step_s` at the latest; None for such that there is
    time for three blocks of levels, at most MOST_STEP_S. `most`: files at a time to one
    destination. `streams`: the least and the most of each file. `data`: a file to read instead of a
    sparse one. `space_bytes`: the most that is written at each destination.
    """

    lasts_s: float = LASTS_S
    step_s: float | None = None
    precision: float = PRECISION
    most: int = MOST_FILES
    streams: tuple[int, int] = (8, 8)
    data: Path | None = None
    space_bytes: int = SPACE_BYTES


def longest_step_s(options: TrainOptions, destinations: int) -> float:
    """The longest that a step takes, in seconds. Raises ValueError where there are too few."""
    least_s = (options.step_s or LEAST_STEP_S) * _LEAST_STEPS
    if options.lasts_s < least_s:
        raise ValueError(
            f"{format_duration(options.lasts_s)} is too short: "
            f"give {format_duration(least_s)} at least"
        )
    usual_s = options.lasts_s / (_USUAL_BLOCKS * block_length(destinations))
    return options.step_s or min(MOST_STEP_S, max(LEAST_STEP_S, usual_s))


def _seed_of(session: str) -> int:
    """Other levels in each session, so that a repetition adds to what is known; recorded by it."""
    return int.from_bytes(session.encode(), "big")


def scratch_parent(request: ShareRequest) -> str:
    """The folder at the destination in which the scratch folder is made.

    Raises ValueError if none was named: advisor writes only in folders that the user named.
    """
    if not request.destination_path:
        raise ValueError(
            f"--to is missing: name a folder of {request.destination_host} that it may write in"
        )
    return request.destination_path


async def train_shares(
    requests: Sequence[ShareRequest],
    options: TrainOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Run the experiment; returns the exit code. The last event is `shares_ended` or `gave_up`.

    Raises ValueError if a request names no folder at its destination.
    """
    for one in requests:
        scratch_parent(one)
    return await _Training(requests, options, store, publish, control).run()


class _Training(ShareSession):
    purpose: ClassVar[SharePurpose] = "train"

    def __init__(
        self,
        requests: Sequence[ShareRequest],
        options: TrainOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(store, publish, control)
        self._requests = requests
        self._options = options
        self.parallelism = options.streams[1]

    async def _run(self) -> int:
        step_s = longest_step_s(self._options, len(self._requests))
        with _source(self._options) as source:
            sessions = [
                _TrainingDestination(
                    one, source, self._options, step_s, self.store, self.hear, self.control
                )
                for one in self._requests
            ]
            async with self.serving(sessions) as reached:
                wanted = steps(
                    reached, self._options.most, self._options.streams, _seed_of(self.id)
                )
                first = next(wanted)
                self.events.emit(
                    ev.SharesStarted,
                    session=self.id,
                    purpose=self.purpose,
                    source=self.source,
                    concurrency=first.concurrency,
                    parallelism=self.parallelism,
                    epoch_s=step_s,
                    lasts_s=self._options.lasts_s,
                )
                measuring = self._measure(chain([first], wanted), step_s)
                is_whole = await self.control.until_stopped(measuring)
                for one in sessions:
                    one.over.set()
        return self._end(is_whole=is_whole)

    async def _measure(self, wanted: Iterator[Step], step_s: float) -> None:
        """Step by step, until time is up: set what it wants, and measure."""
        clock = asyncio.get_running_loop().time
        end_s = clock() + self._options.lasts_s
        epochs = SharedEpochs(self.sessions, step_s, self._options.precision)
        for step in wanted:
            if end_s - clock() < _WORTH_BEGINNING * step_s:
                return
            epochs.set(step.concurrency, step.parallelism)
            epoch = await self.next_epoch(epochs)
            if epoch is None:
                return
            self.report(epoch)

    def _end(self, *, is_whole: bool) -> int:
        outcomes = self.outcomes()
        measured = sum(row.moved_bytes > 0 for row in outcomes)
        failed = [name for name, one in self.sessions.items() if one.failure]
        exit_code = EXIT_DONE
        message = "1 destination was" if measured == 1 else f"{measured} destinations were"
        message += " measured"
        if not is_whole:
            message += ", until it was stopped; the measurements are kept"
            exit_code = EXIT_INTERRUPTED
        elif failed:
            message += f"; incomplete: {', '.join(failed)}"
            exit_code = EXIT_FAILED
        self.events.emit(
            ev.SharesEnded,
            complete=exit_code == EXIT_DONE,
            message=message,
            exit_code=exit_code,
            elapsed_s=self.events.at_s,
            rows=outcomes,
        )
        return exit_code

    def store_failed(self, error: StoreError) -> None:
        """Without the history the experiment is pointless."""
        raise error


class _TrainingDestination(DestinationSession):
    """Moves one file over and over into a scratch folder, which is removed at the end."""

    def __init__(
        self,
        request: ShareRequest,
        source: Path,
        options: TrainOptions,
        step_s: float,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        # The experiment is never resumed: there is no journal.
        super().__init__(
            request,
            DeliveryOptions(journals=source.parent, receipts=source.parent),
            store,
            hear,
            control,
        )
        self._request = request
        self._scratch_parent = scratch_parent(request)
        self._source = source
        self._options = options
        self._step_s = step_s
        self.over = asyncio.Event()

    async def _run(self) -> int:
        path = await self.connect()
        self.ends_itself = True  # From here on it must not be cancelled.
        port = urlsplit(self._request.server_url or "").port or -1
        scratch = await self.far_end.link.make_scratch(self._scratch_parent, port)
        try:
            size_bytes = self._source.stat().st_size
            dataset = Dataset(total_bytes=size_bytes, path=str(self._source), files=1)
            request = self._request.moving(dataset, f"{scratch}/moved")
            return await self._serve(await route_of(request, path))
        finally:
            self.lay_down()
            with contextlib.suppress(PeerError):  # Gone with its agent, which removes it.
                await uninterrupted(self.far_end.link.remove(scratch))

    async def _serve(self, route: Route) -> int:
        [file] = await asyncio.to_thread(listed_files, self._source)
        work = EndlessWork(file, self._options.space_bytes)
        group = FileGroup(self.destination, [file], work=work)
        client_options = self.client_options(route, self._step_s)
        try:
            async with Mover(
                self.far_end.link, route, [group], client_options, tell=self.events.notice
            ) as mover:
                self.take_up(group)
                self.is_looked_at.set()
                await mover.until(lambda: self._is_over(group))
        except TransferFailed as error:
            return self._fail(str(error))
        if group.failed_files and not self.over.is_set():
            return self._fail(group.failed_files[0].message)
        return EXIT_DONE

    def _is_over(self, group: FileGroup) -> bool:
        return self.over.is_set() or self.control.stop.is_set() or group.is_over

    def _fail(self, message: str) -> int:
        self.failure = message
        return self.end(
            ev.DestinationEnded(
                at_s=0, destination=self.destination, complete=False, message=message
            )
        )


@contextlib.contextmanager
def _source(options: TrainOptions) -> Iterator[Path]:
    """The file to read: the one that was named, or an empty sparse one."""
    if options.data is not None:
        yield options.data.absolute()
        return
    with tempfile.TemporaryDirectory(prefix="advisor-", ignore_cleanup_errors=True) as folder:
        sparse = Path(folder) / "sparse"
        sparse.touch()
        os.truncate(sparse, options.space_bytes)
        yield sparse
