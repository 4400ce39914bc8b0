"""Moves a dataset, and tunes the transfer while it runs."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import msgspec

from advisor.domain import events as ev
from advisor.domain.advice import PriorAdvice
from advisor.domain.path import PathFacts
from advisor.domain.space import concurrency_of
from advisor.domain.transfers import Levels
from advisor.methods.tuning import Tuner, TunerBounds
from advisor.models.harp.optimum import RELAXATION
from advisor.models.past_transfers import completed
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import TransferRequest
from advisor.store.history import Store
from advisor.transfer.engine.client_options import beside_epochs
from advisor.transfer.engine.epochs import EPOCH_S
from advisor.transfer.engine.options import DeliveryOptions
from advisor.transfer.engine.outcome import TransferOutcome, TransferState
from advisor.transfer.engine.retry import RETRY_S, Retry
from advisor.transfer.engine.route import Route, manifest_of, route_of
from advisor.transfer.engine.session import TransferSession
from advisor.transfer.tuned.epoch_record import epoch_record
from advisor.transfer.tuned.lab_load import watch_load
from advisor.transfer.tuned.loop import Epoch, TuningLoop
from advisor.transfer.tuned.prior_advice import (
    advised_levels,
    fulfilment_of,
    prior_advice,
    why_not_followed,
)
from advisor.transfer.tuned.stream_limit import most_streams, within
from advisor.transfer.tuned.suggested_start import past_levels, path_levels
from advisor.transfer.tuned.tuners import FIXED, TunerWanted, learns_from_transfers, tuner_of
from advisor.transfer.tuned.verified import verified


class TransferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options of a tuned transfer; the request names the method that tunes it.

    `epoch_s` None: epochs of a search end when their difference is decided, see `TuningLoop`.
    `start` None: the advised setting, else what past transfers or the path suggest, else the
    method's own choice. `most_flows`, `streams`, `relaxation`, `price`: see `TunerBounds` and
    `TunerWanted`. `restarts`: see `TuningLoop`. `rate_limit_bps`, `niceness`: see `ClientOptions`.
    `verify`: compare checksums of everything that arrived. `retry_s`: how long to retry a lost path
    once data has arrived, before giving up.
    """

    delivery_options: DeliveryOptions
    epoch_s: float | None = None
    start: Levels | None = None
    most_flows: int | None = None
    streams: int | None = None
    price: float | None = None
    relaxation: float = RELAXATION
    restarts: bool = False
    rate_limit_bps: float | None = None
    niceness: int = 0
    verify: bool = False
    retry_s: float = RETRY_S


async def transfer_tuned(
    request: TransferRequest,
    options: TransferOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Move everything; returns the exit code.

    The last event is `transfer_ended`, or `gave_up` if it did not begin.
    """
    return await _TunedSession(request, options, store, publish, control).run()


class _TunedSession(TransferSession):
    def __init__(
        self,
        request: TransferRequest,
        options: TransferOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(request, options.delivery_options, store, publish, control)
        self.request = request
        self._options = options
        self._prior: PriorAdvice | None = None

    async def _run(self) -> int:
        manifest = await manifest_of(self.request)
        path = await self.connect()
        route = await route_of(self.request, path)
        name = route.tool.name
        prior = await asyncio.to_thread(prior_advice, self.store, self.pair, time.time(), name)
        hindrance = why_not_followed(prior, name)
        self._prior = None if hindrance else prior
        tuner = await asyncio.to_thread(self._tuner, route)
        loop = self._loop(route, tuner)
        self.keep_events()
        self.tell_limits(route)
        if hindrance:
            self.events.notice(hindrance)
        with self.journal(route) as journal:
            files = self.open_delivery(route, manifest).files
            done = await self.done(journal)
            state = TransferState([route.group(files, done)], journal, manifest.unwanted)
            self._tell_start(tuner, state)
            retry = Retry(self, route, state, self._options.retry_s)
            outcome = None
            while outcome is None:
                attempt = await self._move(route, loop, retry.state, retry.began_s)
                outcome = await retry.outcome_after(attempt)
            # Also where something of the source was left out: what was moved is compared.
            if outcome.has_all_files and self._options.verify:
                loop.keep_setting()
                outcome = await verified(
                    self, route, state, outcome, lambda again: self._move(route, loop, again)
                )
            outcome = await self.completed(self.request, route, outcome)
            return self._end(outcome, state)

    def _loop(self, route: Route, tuner: Tuner) -> TuningLoop:
        return TuningLoop(
            tuner,
            self._options.epoch_s or EPOCH_S,
            decides=self._options.epoch_s is None,
            restarts=self._options.restarts,
            emit=self.events.emit,
            record=lambda epoch: self._record(route, epoch),
            clock=self.clock,
        )

    async def _move(
        self, route: Route, loop: TuningLoop, state: TransferState, began_s: float | None = None
    ) -> TransferOutcome:
        """Move what is left; returns the outcome. `began_s`: see `engine`."""
        options = beside_epochs(
            self._options.epoch_s,
            route.capacity_bps / concurrency_of(loop.setting),
            self._options.rate_limit_bps,
            self._options.niceness,
        )
        async with self.engine(route, state, options, began_s=began_s) as run, self._load_seen():
            [group] = state.groups
            await loop.run(run.mover, group)
        return run.outcome

    @contextlib.asynccontextmanager
    async def _load_seen(self) -> AsyncIterator[None]:
        """Report the external load meanwhile, in a lab."""
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
            epoch_s=self._options.epoch_s or EPOCH_S,
            decides=self._options.epoch_s is None,
            files=sum(one.total_files for one in state.groups),
            total_bytes=sum(one.total_bytes for one in state.groups),
            earlier_bytes=state.earlier_bytes,
            advised=self._compared,
        )

    @property
    def _compared(self) -> PriorAdvice | None:
        """The advice that the throughput is compared with: none if a limit holds it down."""
        return self._prior if self._options.rate_limit_bps is None else None

    def _end(self, outcome: TransferOutcome, state: TransferState) -> int:
        fulfilment = fulfilment_of(self._compared, outcome)
        if outcome.complete:
            self.forget(state.journal)
            after = fulfilment.session if fulfilment else None
            self.keep_transfer(outcome, f"advisor transfer, {self.request.method}", after)
        self.events.emit(ev.TransferEnded, **outcome.fields, advised=fulfilment)
        return outcome.exit_code

    def _tuner(self, route: Route) -> Tuner:
        request, options, prior = self.request, self._options, self._prior
        path, tool = route.path, route.tool.name
        most = most_streams(route, request, options.streams, options.start)
        advised = None
        if prior:
            advised = advised_levels(prior.subject, prior.setting, most, tool)
        wanted = TunerWanted(
            method=request.method,
            bounds=TunerBounds(
                concurrency=request.max_concurrency,
                parallelism=most,
                flows=options.most_flows,
                relaxation=options.relaxation,
                streams=options.streams,
            ),
            start=options.start,
            advised=advised or self._suggested(path, tool, most),
            seed=request.seed,
            price=options.price,
        )
        known = self.store.transfers() if learns_from_transfers(request.method) else []
        return tuner_of(wanted, self.request.dataset, path, list(completed(known, self.pair, path)))

    def _suggested(self, path: PathFacts, tool: str, most: int) -> Levels | None:
        """A start by the last transfer of this pair, or by the path; none for a fixed setting."""
        if self.request.method == FIXED:
            return None
        past = past_levels(self.store.probes(self.pair), tool, time.time())
        return within(past or path_levels(path), most, self.request.max_concurrency)

    def _record(self, route: Route, epoch: Epoch) -> None:
        """Store an epoch for later transfers to learn from, unless a rate limit distorts it."""
        if self._options.rate_limit_bps is None:
            self.keep(
                epoch_record(
                    self.request,
                    route.tool.name,
                    epoch.setting,
                    epoch.outcome,
                    session=self.id,
                    pair=self.pair,
                    path=route.path,
                )
            )
