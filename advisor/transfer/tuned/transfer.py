"""Moves a dataset at settings that a method changes while it runs."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from advisor.domain import events as ev
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.transfers import Levels
from advisor.methods.tuning import Fixed, Tuner
from advisor.models.past_transfers import completed
from advisor.models.transfer_heuristics import buffer_of
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.store.session_digests import SessionDigest
from advisor.transfer.engine.ending import Ending, Moving
from advisor.transfer.engine.file_group import Portion
from advisor.transfer.engine.mover import Handling, Mover
from advisor.transfer.engine.retry import PATIENCE_S, moved_patiently
from advisor.transfer.engine.route import Way, way_of
from advisor.transfer.engine.session import Kept, MovingSession, Publish
from advisor.transfer.tuned.epochs import Epoch, Epochs
from advisor.transfer.tuned.lab_load import watch_load
from advisor.transfer.tuned.prior_advice import advised_levels, advised_session, fulfilment_of
from advisor.transfer.tuned.tuners import HARP, Bounds, TunerWanted, tuner_of
from advisor.transfer.tuned.verified import (
    Verifying,
    all_of,
    not_compared,
    not_the_same,
    without,
)

EPOCH_S: Final = 30.0
"""The control epoch of Balaprakash et al. (2016), section IV."""

_PIECE_S: Final = 5.0
_PIECES_IN_EPOCH: Final = 4
"""At least: a change is in effect about a piece later, well before the half of the epoch."""

_LEAST_PIECES_IN_EPOCH: Final = 2
"""Where clients take long to set up: what of an epoch is not counted is half of it at most."""


class TransferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What is wanted beside the request, whose method tunes.

    `start` None: what was advised, else the method's own. `most_flows`, `price`: see `Bounds` and
    `TunerWanted`. `restarts`: see `Epochs`. `ceiling_bps`, `niceness`: see `Handling`. `verify`:
    compare checksums of all that has arrived. `patience_s`: how long nothing may arrive, once
    something has, before it is given up.
    """

    kept: Kept
    epoch_s: float = EPOCH_S
    start: Levels | None = None
    most_flows: int | None = None
    price: float | None = None
    restarts: bool = False
    ceiling_bps: float | None = None
    niceness: int = 0
    verify: bool = False
    patience_s: float = PATIENCE_S


async def transfer_tuned(
    request: AdviceRequest,
    options: TransferOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Move everything; returns the exit code.

    The last event is `transfer_ended`, or `gave_up` where it did not begin.
    """
    return await _Tuned(request, options, store, publish, control).run()


class _Tuned(MovingSession):
    def __init__(
        self,
        request: AdviceRequest,
        options: TransferOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(request, options.kept, store, publish, control)
        self._options = options
        self._epoch = 1

    async def _run(self) -> int:
        files = await self.files()
        path = await self.reach()
        way = way_of(self.request, path)
        advised = await asyncio.to_thread(advised_session, self.store, self.pair)
        tuner = await asyncio.to_thread(self._tuner, path, advised)
        self.keep_events()
        with self.journal(way) as journal:
            done = await self.done(journal, way, files)
            moving = Moving([Portion("all", files, done=done)], journal, self.unreadable)
            self._tell_start(tuner, moving)
            ending = await moved_patiently(
                self,
                way,
                moving,
                self._options.patience_s,
                lambda moving, began_s: self._move(way, tuner, moving, began_s),
            )
            if ending.complete and self._options.verify:
                ending = await self._verified(way, tuner, moving, ending)
            return self._end(ending, moving, advised)

    async def _move(
        self, way: Way, tuner: Tuner, moving: Moving, began_s: float | None = None
    ) -> Ending:
        options = self._options
        epochs = Epochs(
            tuner,
            moving.portions[0],
            options.epoch_s,
            restarts=options.restarts,
            first=self._epoch,
            tell=self.tell,
            keep=lambda epoch: self._keep(way, epoch),
            clock=asyncio.get_running_loop().time,
        )
        handling = Handling(
            expected_bps=way.capacity_bps / int(tuner.setting.get("concurrency", 1)),
            piece_s=min(_PIECE_S, options.epoch_s / _PIECES_IN_EPOCH),
            longest_piece_s=options.epoch_s / _LEAST_PIECES_IN_EPOCH,
            ceiling_bps=options.ceiling_bps,
            niceness=options.niceness,
        )

        async def work(mover: Mover) -> None:
            async with self._load_seen():
                try:
                    await epochs.run(mover)
                finally:
                    self._epoch = epochs.number

        return await self.move(way, moving, handling, work, began_s=began_s)

    async def _verified(self, way: Way, tuner: Tuner, moving: Moving, ending: Ending) -> Ending:
        """The end once all was compared; what differs is moved a second time."""
        [portion] = moving.portions
        verifying = Verifying(self.link, way, self.tell)
        if not await self.control.until_stopped(verifying.compare(portion.files)):
            return not_compared(ending)
        if not (differing := verifying.differing):
            return ending
        done = without(all_of(portion.files), differing)
        await moving.journal.begin(portion.files, done)
        again = Moving([Portion("all", portion.files, done=done)], moving.journal)
        second = await self._move(way, Fixed(tuner.setting), again)
        if not second.complete:
            return second
        suspects = [file for file in portion.files if file.name in differing]
        if not await self.control.until_stopped(verifying.compare(suspects)):
            return not_compared(second)
        if verifying.differing:
            left = without(done, verifying.differing)
            await moving.journal.begin(portion.files, left)
            return not_the_same(second, verifying.differing)
        return msgspec.structs.replace(ending, elapsed_s=ending.elapsed_s + second.elapsed_s)

    @contextlib.asynccontextmanager
    async def _load_seen(self) -> AsyncIterator[None]:
        """In a lab, tell what external load there is meanwhile."""
        lab_host = self.request.destination.lab_host
        if lab_host is None:
            yield
            return
        watching = asyncio.create_task(watch_load(lab_host.lab, self.tell))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    def _tell_start(self, tuner: Tuner, moving: Moving) -> None:
        self.tell(
            ev.TransferStarted,
            session=self.name,
            pair=self.pair,
            method=self.request.method,
            setting=tuner.setting,
            epoch_s=self._options.epoch_s,
            files=sum(one.total_files for one in moving.portions),
            total_bytes=sum(one.total_bytes for one in moving.portions),
            earlier_bytes=moving.earlier_bytes,
        )

    def _end(self, ending: Ending, moving: Moving, advised: SessionDigest | None) -> int:
        fulfilment = fulfilment_of(advised, ending)
        if ending.complete:
            self.forget(moving.journal)
            after = fulfilment.session if fulfilment else None
            self.keep_transfer(ending, f"advisor transfer, {self.request.method}", after)
        self.tell(ev.TransferEnded, **ending.fields, advised=fulfilment)
        return ending.exit_code

    def _tuner(self, path: PathFacts, advised: SessionDigest | None) -> Tuner:
        request, options = self.request, self._options
        wanted = TunerWanted(
            method=request.method,
            bounds=Bounds(
                concurrency=request.max_concurrency,
                parallelism=request.max_streams,
                flows=options.most_flows,
            ),
            start=options.start,
            advised=advised_levels(advised),
            seed=request.seed,
            price=options.price,
        )
        known = self.store.transfers() if request.method == HARP else []
        return tuner_of(wanted, self.dataset, path, list(completed(known, self.pair, path)))

    def _keep(self, way: Way, epoch: Epoch) -> None:
        """Store an epoch, for the next transfer to learn from; below a ceiling it teaches wrong."""
        if self._options.ceiling_bps is None:
            self.keep(self._probe(way, epoch))

    def _probe(self, way: Way, epoch: Epoch) -> ProbeRecord:
        dataset, path = self.dataset, way.path
        files = dataset.files or 1
        return ProbeRecord(
            pair=self.pair,
            subject=way.tool.name,
            setting={"concurrency": 1, "parallelism": 1} | epoch.setting,
            result=epoch.outcome,
            recorded_s=time.time(),
            session=self.name,
            stage="transfer",
            label="epoch",
            method=self.request.method,
            seed=self.request.seed,
            rtt_s=path.rtt_s,
            mtu_bytes=path.mtu_bytes,
            bandwidth_bps=path.bandwidth_bps,
            buffer_bytes=buffer_of(path),
            file_bytes=dataset.total_bytes / files,
            files=files,
        )
