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
from advisor.runtime.events import Publish
from advisor.runtime.request import AdviceRequest
from advisor.store.history import Store
from advisor.store.session_digests import SessionDigest
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.mover import ClientOptions, Mover
from advisor.transfer.engine.outcome import TransferOutcome, TransferState
from advisor.transfer.engine.retry import RETRY_S, move_with_retry
from advisor.transfer.engine.route import Route, route_of
from advisor.transfer.engine.session import JournalOptions, TransferSession
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
    """Options of a tuned transfer; the request names the method that tunes it.

    `start` None: the advised setting, else the method's own choice. `most_flows`, `price`: see
    `Bounds` and `TunerWanted`. `restarts`: see `Epochs`. `rate_limit_bps`, `niceness`: see
    `ClientOptions`. `verify`: compare checksums of everything that arrived. `retry_s`: how long to
    retry a lost path once data has arrived, before giving up.
    """

    journal_options: JournalOptions
    epoch_s: float = EPOCH_S
    start: Levels | None = None
    most_flows: int | None = None
    price: float | None = None
    restarts: bool = False
    rate_limit_bps: float | None = None
    niceness: int = 0
    verify: bool = False
    retry_s: float = RETRY_S


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


class _Tuned(TransferSession):
    def __init__(
        self,
        request: AdviceRequest,
        options: TransferOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(request, options.journal_options, store, publish, control)
        self._options = options
        self._epoch = 1

    async def _run(self) -> int:
        files = await self.files()
        path = await self.connect()
        route = route_of(self.request, path)
        advised = await asyncio.to_thread(advised_session, self.store, self.pair)
        tuner = await asyncio.to_thread(self._tuner, path, advised)
        self.keep_events()
        with self.journal(route) as journal:
            done = await self.done(journal, route, files)
            state = TransferState([FileGroup("all", files, done=done)], journal, self.unreadable)
            self._tell_start(tuner, state)
            outcome = await move_with_retry(
                self,
                route,
                state,
                self._options.retry_s,
                lambda state, began_s: self._move(route, tuner, state, began_s),
            )
            if outcome.complete and self._options.verify:
                outcome = await self._verified(route, tuner, state, outcome)
            return self._end(outcome, state, advised)

    async def _move(
        self, route: Route, tuner: Tuner, state: TransferState, began_s: float | None = None
    ) -> TransferOutcome:
        options = self._options
        epochs = Epochs(
            tuner,
            state.groups[0],
            options.epoch_s,
            restarts=options.restarts,
            first=self._epoch,
            tell=self.events.emit,
            keep=lambda epoch: self._keep(route, epoch),
            clock=asyncio.get_running_loop().time,
        )
        client_options = ClientOptions(
            expected_bps=route.capacity_bps / int(tuner.setting.get("concurrency", 1)),
            piece_s=min(_PIECE_S, options.epoch_s / _PIECES_IN_EPOCH),
            longest_piece_s=options.epoch_s / _LEAST_PIECES_IN_EPOCH,
            rate_limit_bps=options.rate_limit_bps,
            niceness=options.niceness,
        )

        async def work(mover: Mover) -> None:
            async with self._load_seen():
                try:
                    await epochs.run(mover)
                finally:
                    self._epoch = epochs.number

        return await self.move(route, state, client_options, work, began_s=began_s)

    async def _verified(
        self, route: Route, tuner: Tuner, state: TransferState, outcome: TransferOutcome
    ) -> TransferOutcome:
        """The end once all was compared; what differs is moved a second time."""
        [group] = state.groups
        verifying = Verifying(self.far_end.link, route, self.events.emit)
        if not await self.control.until_stopped(verifying.compare(group.files)):
            return not_compared(outcome)
        if not (differing := verifying.differing):
            return outcome
        done = without(all_of(group.files), differing)
        await state.journal.begin(group.files, done)
        again = TransferState([FileGroup("all", group.files, done=done)], state.journal)
        second = await self._move(route, Fixed(tuner.setting), again)
        if not second.complete:
            return second
        suspects = [file for file in group.files if file.name in differing]
        if not await self.control.until_stopped(verifying.compare(suspects)):
            return not_compared(second)
        if verifying.differing:
            left = without(done, verifying.differing)
            await state.journal.begin(group.files, left)
            return not_the_same(second, verifying.differing)
        return msgspec.structs.replace(outcome, elapsed_s=outcome.elapsed_s + second.elapsed_s)

    @contextlib.asynccontextmanager
    async def _load_seen(self) -> AsyncIterator[None]:
        """In a lab, tell what external load there is meanwhile."""
        lab_host = self.request.destination.lab_host
        if lab_host is None:
            yield
            return
        watching = asyncio.create_task(watch_load(lab_host.lab, self.events.emit))
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])

    def _tell_start(self, tuner: Tuner, state: TransferState) -> None:
        self.events.emit(
            ev.TransferStarted,
            session=self.id,
            pair=self.pair,
            method=self.request.method,
            setting=tuner.setting,
            epoch_s=self._options.epoch_s,
            files=sum(one.total_files for one in state.groups),
            total_bytes=sum(one.total_bytes for one in state.groups),
            earlier_bytes=state.earlier_bytes,
        )

    def _end(
        self, outcome: TransferOutcome, state: TransferState, advised: SessionDigest | None
    ) -> int:
        fulfilment = fulfilment_of(advised, outcome)
        if outcome.complete:
            self.forget(state.journal)
            after = fulfilment.session if fulfilment else None
            self.keep_transfer(outcome, f"advisor transfer, {self.request.method}", after)
        self.events.emit(ev.TransferEnded, **outcome.fields, advised=fulfilment)
        return outcome.exit_code

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

    def _keep(self, route: Route, epoch: Epoch) -> None:
        """Store an epoch for later transfers to learn from, unless a rate limit distorts it."""
        if self._options.rate_limit_bps is None:
            self.keep(self._probe(route, epoch))

    def _probe(self, route: Route, epoch: Epoch) -> ProbeRecord:
        dataset, path = self.dataset, route.path
        files = dataset.files or 1
        return ProbeRecord(
            pair=self.pair,
            subject=route.tool.name,
            setting={"concurrency": 1, "parallelism": 1} | epoch.setting,
            result=epoch.outcome,
            recorded_s=time.time(),
            session=self.id,
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
