"""Runs the load variation experiment, which teaches the models of several destinations."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import ClassVar, Final

import msgspec

from advisor.agent.peer_errors import PeerError
from advisor.api.tool import Piece, TransferOrder
from advisor.domain import events as ev
from advisor.domain.quantities import format_duration
from advisor.domain.shares import SharePurpose
from advisor.models.shares.variation import Step, block_length, steps
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from advisor.runtime.request import ShareRequest
from advisor.runtime.stop import uninterrupted
from advisor.runtime.tool_steps import server_port_of
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.traits import moving_tool, tool_traits
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.route import Route, route_of
from advisor.transfer.shared.destination import DestinationSession
from advisor.transfer.shared.epochs import SharedEpochs
from advisor.transfer.shared.prior_knowledge import usual_parallelism
from advisor.transfer.shared.session import ShareSession
from advisor.transfer.shared.training_files import Source, endless_work, source_at, sparse_files

LEAST_STEP_S: Final = 4.0
"""Half of a step counts at least: in the other half even clients that take a second can begin."""

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
    destination. `streams`: the least and the most of each file; None for as many as are usual.
    `data`: a file to read instead of a sparse one, or for a tool that moves whole files a folder.
    `space_bytes`: the most that is written at each destination.
    """

    lasts_s: float = LASTS_S
    step_s: float | None = None
    precision: float = PRECISION
    most: int = MOST_FILES
    streams: tuple[int, int] | None = None
    data: Path | None = None
    space_bytes: int = SPACE_BYTES


def _streams_of(options: TrainOptions, tool: str) -> tuple[int, int]:
    """The least and the most streams of each file."""
    usual = usual_parallelism(tool)
    return options.streams or (usual, usual)


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
        self.tool = requests[0].tool or moving_tool()
        self._streams = _streams_of(options, self.tool)
        self.parallelism = self._streams[1]

    async def _run(self) -> int:
        step_s = longest_step_s(self._options, len(self._requests))
        with self._files() as path:
            source = await asyncio.to_thread(source_at, path)
            sessions = [
                _TrainingDestination(
                    one, source, self._options, step_s, self.store, self.hear, self.control
                )
                for one in self._requests
            ]
            async with self.serving(sessions) as reached:
                wanted = steps(reached, self._options.most, self._streams, _seed_of(self.id))
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

    @contextlib.contextmanager
    def _files(self) -> Iterator[Path]:
        """What is sent: what was named, or sparse files."""
        if self._options.data is not None:
            yield self._options.data.absolute()
            return
        space_bytes, most = self._options.space_bytes, self._options.most
        with sparse_files(space_bytes, most, whole=tool_traits(self.tool).whole_files) as source:
            yield source

    async def _measure(self, wanted: Iterator[Step], step_s: float) -> None:
        """Step by step, until time is up: set what it wants, and measure."""
        clock = asyncio.get_running_loop().time
        end_s = clock() + self._options.lasts_s
        precision = self._options.precision
        epochs = SharedEpochs(self.sessions, step_s, self.longest_rtt_s, precision=precision)
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
    """Moves files over and over into a scratch folder, which is removed at the end."""

    def __init__(
        self,
        request: ShareRequest,
        source: Source,
        options: TrainOptions,
        step_s: float,
        store: Store,
        hear: Callable[[str, ev.AnyEvent], None],
        control: Control,
    ) -> None:
        # The experiment is never resumed: there is no journal.
        super().__init__(
            request,
            DeliveryOptions(journals=source.path.parent, receipts=source.path.parent),
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
        dataset = self._source.dataset
        request = self._request.moving(dataset, self._scratch_parent)
        route = await route_of(request, path)
        most_streams = _streams_of(self._options, route.tool.name)[1]
        if most_streams > 1 and not route.has_streams(dataset):
            raise ValueError(f"{route.tool.name} moves a file over one stream: leave out --streams")
        self.ends_itself = True  # From here on it must not be cancelled.
        scratch = await self.far_end.link.make_scratch(self._scratch_parent, _server_port(route))
        try:
            places = msgspec.structs.replace(route.places, target=f"{scratch}/moved")
            return await self._serve(msgspec.structs.replace(route, places=places))
        finally:
            self.lay_down()
            with contextlib.suppress(PeerError):  # Gone with its agent, which removes it.
                await uninterrupted(self.far_end.link.remove(scratch))

    async def _serve(self, route: Route) -> int:
        whole = route.moves_whole_files
        space_bytes, most = self._options.space_bytes, self._options.most
        files, work = endless_work(self._source.files, space_bytes, most, whole=whole)
        group = FileGroup(self.destination, files, work=work, whole=whole)
        # What is moved is of no use to anyone: no client need end its batch.
        client_options = self.client_options(route, self._step_s, ends_surplus=True)
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


def _server_port(route: Route) -> int:
    """Where the server listens that is to write in the scratch folder, see `server_port_of`."""
    piece = Piece(source=route.places.source, target=route.places.target, size_bytes=1)
    order = TransferOrder(
        setting={"concurrency": 1, "parallelism": 1},
        pieces=(piece,),
        path=route.path,
        destination_host=route.places.destination_host,
        list_file="",
        server_url=route.places.server_url,
    )
    return server_port_of(route.tool.steps(order))
