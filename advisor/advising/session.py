"""An advice session from its request to its advice."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from advisor import registry
from advisor.advising.advice import AdviceInputs, advice_from_history, advice_from_ranking
from advisor.advising.budget import Budget, default_budget_s
from advisor.advising.confirming import confirm
from advisor.advising.contenders import Ranking, contenders, rank_contenders
from advisor.advising.context import Blocked, Context, OutOfTime, PriorResults
from advisor.advising.disk_to_disk import DiskToDisk
from advisor.advising.judging import comparable, least_spread
from advisor.advising.probe_runner import PeerLost, ProbeRunner
from advisor.advising.prober import Prober
from advisor.advising.profiling import (
    CONFIRM,
    SearchStage,
    TransportStage,
    measure_baselines,
    profile,
    stages_of,
)
from advisor.advising.recorder import ProbeRecorder
from advisor.domain import events as ev
from advisor.domain.advice import Advice
from advisor.domain.measurement import Failure
from advisor.domain.path import PathFacts
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.records import AdviceRecord, ClosingRecord, ProbeRecord, SessionRecord
from advisor.domain.space import Space
from advisor.models.limits import binding_limits
from advisor.runtime.connect import FarEnd, look_at_path, pair_of
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER
from advisor.runtime.lifecycle import Session
from advisor.runtime.request import AdviceRequest
from advisor.runtime.stop import Stopped
from advisor.store.errors import StoreError
from advisor.store.history import Past, Store
from advisor.traits import transport_traits

# Shares of the time; the next stage gets what one leaves over. The closing comparison gets the time
# for the rounds of four or five contenders.
_CONFIRM_SHARE: Final = 0.38

# Starting the program and giving the advice count too: the budget is the user's waiting time.
_AROUND_S: Final = 1.0

_INTERRUPTED: Final = Problem(
    kind=ProblemKind.STOPPED, reason="interrupted before anything was measured"
)

AcceptHistory = Callable[[list[ev.PastResult]], Awaitable[bool]]


class Interrupted(msgspec.Struct, frozen=True):
    """A session to resume: its record and its probes."""

    record: SessionRecord
    probes: list[ProbeRecord]


async def advise(
    request: AdviceRequest,
    *,
    store: Store,
    publish: Publish,
    control: Control,
    accept_history: AcceptHistory,
    interrupted: Interrupted | None = None,
) -> int:
    """Run a session to its last event, `advice` or `gave_up`; returns the exit code.

    `accept_history` is asked when there are stored results and the request does not say.
    """
    return await _AdviceSession(request, store, publish, control, accept_history, interrupted).run()


class _AdviceSession(Session):
    exit_codes: ClassVar[Mapping[type[Exception], int]] = {PeerLost: EXIT_PEER}
    stopped_message: ClassVar[str] = _INTERRUPTED.reason

    def __init__(
        self,
        request: AdviceRequest,
        store: Store,
        publish: Publish,
        control: Control,
        accept_history: AcceptHistory,
        interrupted: Interrupted | None,
    ) -> None:
        super().__init__(
            store, publish, control, interrupted.record.session if interrupted else None
        )
        self._request = request
        self._accept_history = accept_history
        self._interrupted = interrupted
        self._pair = interrupted.record.pair if interrupted else pair_of(request)
        self._far_end = FarEnd(request)
        self._context: Context | None = None

    async def _close(self) -> None:
        if self._context:
            await self._context.runner.close()
        await self._far_end.close()
        await super()._close()

    async def _run(self) -> int:
        if self._request.accept_history and (stored_path := self._stored_path()):
            known, _ = self._past(stored_path)
            if known:
                return self._advise_from_history(stored_path, known)
        await self._far_end.connect()
        path = await look_at_path(self._far_end.reached, self._request)
        context = self._begin(path)
        self.events.emit(ev.PathFound, path=path, limits=binding_limits(path))
        past, notes = self._past(path)
        self.events.emit(ev.HistoryFound, results=past, notes=notes)
        if past and not self._interrupted and await self._is_history_enough(context, past):
            return self._advise_from_history(path, past)
        # From here on the order to stop ends the measuring, and the best so far is advised.
        self.ends_itself = True
        return await self._measure(context, past)

    def _past(self, path: PathFacts) -> Past:
        """Stored results of this pair for the subjects of this session."""
        tool = self._request.tool
        names = {tool} if tool else {transport.name for transport in registry.transports()}
        found = self.store.past(self._pair, time.time(), path)
        return found._replace(results=[r for r in found.results if r.subject in names])

    def _stored_path(self) -> PathFacts | None:
        records = self.store.records(self._pair)
        paths = [r.path for r in records if isinstance(r, SessionRecord)]
        if not paths:
            return None
        # No more is promised than is reserved now.
        reserved_bps = self._request.bandwidth_bps or paths[-1].bandwidth_bps
        return msgspec.structs.replace(paths[-1], bandwidth_bps=reserved_bps)

    async def _is_history_enough(self, context: Context, past: list[ev.PastResult]) -> bool:
        if self._request.accept_history:
            return True
        began_s = self.clock()
        accepted = await self._accept_history(past)
        context.budget.give_back(self.clock() - began_s)
        return bool(accepted)

    def _begin(self, path: PathFacts) -> Context:
        """Open the session: its budget, its first event."""
        self._context = context = self._make_context(path)
        shortest_s, total_s = context.runner.next_probe_s(), context.budget.total_s
        if shortest_s > total_s:
            raise ValueError(
                f"--budget {total_s:g} is too short for one probe at this round-trip time: "
                f"give at least {shortest_s * 4:.0f} s"
            )
        self.events.log_to(self.store.event_log(self._pair, self.id))
        self.events.emit(
            ev.SessionStarted,
            session=self.id,
            pair=self._pair,
            method=self._request.method,
            seed=self._request.seed,
            budget_s=context.budget.left_s,
            resumed=self._interrupted is not None,
        )
        return context

    def _make_context(self, path: PathFacts) -> Context:
        earlier = self._interrupted.probes if self._interrupted else []
        prober = Prober(path)
        return Context(
            request=self._request,
            pair=self._pair,
            path=path,
            budget=self._budget(path, earlier),
            history=PriorResults(
                past=self.store.prior(self._pair, path),
                past_of_similar=self.store.prior_of_similar(
                    self._pair, path.rtt_s, path.bandwidth_bps
                ),
                transfers=self.store.transfers(),
            ),
            control=self.control,
            events=self.events,
            runner=ProbeRunner(self._far_end, prober, path, self.control.stop, self.events.notice),
            recorder=ProbeRecorder(self.store, self.id, self._pair, self._request, path, earlier),
        )

    def _budget(self, path: PathFacts, earlier: Sequence[ProbeRecord]) -> Budget:
        files = self._request.tool is not None
        total_s = self._request.budget_s or default_budget_s(path.rtt_s, files=files)
        spent_s = sum(p.result.elapsed_s for p in earlier) + self.events.at_s + _AROUND_S
        return Budget(total_s, self.clock, spent_s)

    async def _measure(self, context: Context, past: list[ev.PastResult]) -> int:
        disks = await DiskToDisk.prepared(context) if self._request.tool else None
        stages: Sequence[SearchStage] = (
            [disks.stage] if disks else self._usable(context, stages_of(context))
        )
        self._record_request(context.path)
        spaces = {stage.subject: stage.space(context) for stage in stages}
        trouble: Problem | None = None
        try:
            if disks:
                await disks.measure_subsystems()
            await measure_baselines(context, stages)
            await self._profile_all(context, stages)
            if disks:
                disks.lengthen()
            await confirm(context, past, spaces, disks.held_back_s if disks else 0.0)
            if disks and (ranking := self._ranking(context, past, spaces)):
                await disks.measure_tool_in_memory(ranking.candidates[ranking.chosen].setting)
        except Stopped:
            trouble = _INTERRUPTED
        except (PeerLost, OutOfTime, StoreError, Blocked) as error:
            trouble = error.problem
            self.events.notice(str(trouble))
        finally:
            if disks:
                await disks.close()
        return self._conclude(context, past, spaces, trouble, disks)

    def _record_request(self, path: PathFacts) -> None:
        """Store what resuming needs, once it is clear that there is something to measure."""
        if self._interrupted:
            return
        record = SessionRecord(
            session=self.id,
            pair=self._pair,
            recorded_s=time.time(),
            request=msgspec.to_builtins(self._request),
            path=path,
        )
        self.store.append(record)

    def _usable(self, context: Context, stages: list[TransportStage]) -> list[TransportStage]:
        """The stages whose transport is available; the others are named with the remedy."""
        usable = []
        for stage in stages:
            name, availability = stage.transport.name, stage.transport.available()
            if not availability.ok:
                missing = f"{availability.reason} ({availability.remedy})"
            elif context.path.receivable is not None and name not in context.path.receivable:
                missing = "the destination cannot receive it (run 'advisor doctor' there)"
            else:
                usable.append(stage)
                continue
            self.events.notice(f"{name} is left out: {missing}")
        if not usable:
            raise ValueError("no transport can be measured: run 'advisor doctor' on both hosts")
        return usable

    async def _profile_all(self, context: Context, stages: Sequence[SearchStage]) -> None:
        """Each stage until its share of the time is used; a resumed session skips finished ones."""
        confirm_s = _CONFIRM_SHARE * context.budget.left_s
        if any(p.stage == CONFIRM for p in context.probes):
            return
        weights = [transport_traits(stage.subject).budget_weight for stage in stages]
        for number, stage in enumerate(stages):
            searching_s = max(0.0, context.budget.left_s - confirm_s)
            share = weights[number] / sum(weights[number:])
            await profile(context, stage, context.budget.left_s - share * searching_s)

    def _ranking(
        self, context: Context, past: list[ev.PastResult], spaces: dict[str, Space]
    ) -> Ranking | None:
        """The contenders, compared by the probes so far."""
        compared = comparable(self._request, context.probes)
        return rank_contenders(
            contenders(compared, past, spaces), spaces, least_spread(self._request)
        )

    def _conclude(
        self,
        context: Context,
        past: list[ev.PastResult],
        spaces: dict[str, Space],
        trouble: Problem | None,
        disks: DiskToDisk | None,
    ) -> int:
        """Advise what the probes support. `trouble`: what cut the measuring short, or ""."""
        ranking = self._ranking(context, past, spaces)
        if ranking is None:
            return self._end_without(context, trouble)
        inputs = AdviceInputs(
            session=self.id,
            request=self._request,
            pair=self._pair,
            path=context.path,
            past=past,
            probes=context.probes,
            kept=disks.prober.kept if disks else None,
            absent=disks.absent if disks else {},
            folder=disks.prober.folder if disks else "",
        )
        self._give(advice_from_ranking(inputs, ranking, incomplete=trouble is not None))
        return EXIT_INTERRUPTED if trouble is _INTERRUPTED else EXIT_DONE

    def _end_without(self, context: Context, trouble: Problem | None) -> int:
        """End a session that has nothing to advise."""
        if trouble is _INTERRUPTED:
            return self.give_up(_INTERRUPTED, EXIT_INTERRUPTED)
        if trouble and not self._request.tool:
            return self.give_up(trouble, EXIT_PEER)
        failures = [p.result.message for p in context.probes if isinstance(p.result, Failure)]
        last = f", the last one: {failures[-1]}" if failures else ""
        problem = trouble or Problem(
            kind=ProblemKind.NO_DATA, reason=f"no probe gave a throughput{last}"
        )
        self.store.append(
            ClosingRecord(
                session=self.id,
                pair=self._pair,
                recorded_s=time.time(),
                outcome="nothing usable",
                message=str(problem),
            )
        )
        return self.give_up(problem, EXIT_FAILED)

    def _advise_from_history(self, path: PathFacts, past: list[ev.PastResult]) -> int:
        inputs = AdviceInputs(
            session=self.id, request=self._request, pair=self._pair, path=path, past=past
        )
        self._give(advice_from_history(inputs))
        return EXIT_DONE

    def _give(self, advice: Advice) -> None:
        """Store the advice and emit it. A full store does not withhold it from the user."""
        try:
            self.store.append(AdviceRecord(pair=self._pair, recorded_s=time.time(), advice=advice))
        except StoreError as error:
            self.events.notice(f"the advice could not be stored: {error}")
        self.events.emit(ev.AdviceGiven, **msgspec.structs.asdict(advice))
