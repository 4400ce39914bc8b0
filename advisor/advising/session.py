"""An advice session from its request to its advice."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeAlias

import msgspec

from advisor import registry
from advisor.advising.advice import AdviceInputs, advice_from_history, advice_from_ranking
from advisor.advising.advice_session import AROUND_S, INTERRUPTED, AdviceSession, Interrupted
from advisor.advising.budget import Budget, default_budget_s
from advisor.advising.choosing import ranking_of
from advisor.advising.confirming import confirm
from advisor.advising.contenders import Ranking
from advisor.advising.context import Blocked, Context, OutOfTime
from advisor.advising.disk_to_disk import DiskToDisk
from advisor.advising.line_expectation import expected_of_line, known_ceilings
from advisor.advising.probe_runner import PeerLost
from advisor.advising.profiling import SearchStage, measure_baselines
from advisor.advising.searching import search_all, search_transports, usable_stages
from advisor.advising.several import SeveralConnections
from advisor.advising.stored_settings import permitted
from advisor.domain import events as ev
from advisor.domain.advice import Advice
from advisor.domain.path import PathFacts
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.records import ProbeRecord, SessionRecord
from advisor.domain.space import Space
from advisor.models.limits import binding_limits
from advisor.runtime.connect import look_at_path
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED
from advisor.runtime.request import AdviceRequest
from advisor.runtime.stop import Stopped
from advisor.store.errors import StoreError
from advisor.store.history import Store

__all__ = ["AcceptHistory", "Interrupted", "advise"]

AcceptHistory: TypeAlias = Callable[[list[ev.PastResult]], Awaitable[bool]]

NOTHING_STORED: Final = Problem(
    kind=ProblemKind.NO_DATA,
    reason="nothing applicable is stored for this pair",
    remedy="run without --accept-history to measure",
)


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
    if request.interfaces:
        return await SeveralConnections(request, store, publish, control, interrupted).run()
    session = _OneConnection(request, store, publish, control, interrupted, accept_history)
    return await session.run()


class _OneConnection(AdviceSession):
    def __init__(
        self,
        request: AdviceRequest,
        store: Store,
        publish: Publish,
        control: Control,
        interrupted: Interrupted | None,
        accept_history: AcceptHistory,
    ) -> None:
        super().__init__(request, store, publish, control, interrupted)
        self._accept_history = accept_history

    async def _run(self) -> int:
        if self._measures_nothing and (stored_path := self._stored_path()):
            known, _ = self.past(stored_path)
            if known:
                return self._advise_from_history(stored_path, known)
        await self.far_end.connect()
        path = await look_at_path(self.far_end.reached, self.request)
        if self._measures_nothing:
            return self._advise_without_measuring(path)
        context = self._begin(path)
        self.events.emit(ev.PathFound, path=path, limits=binding_limits(path))
        past, notes = self.past(path)
        self.events.emit(ev.HistoryFound, results=past, notes=notes)
        if past and not self.interrupted and await self._is_history_enough(context, past):
            return self._advise_from_history(path, past)
        # From here on the order to stop ends the measuring, and the best so far is advised.
        self.ends_itself = True
        return await self._measure(context, past)

    @property
    def _measures_nothing(self) -> bool:
        # Who resumes a session, or extends it, wants to measure.
        return self.request.accept_history and not self.interrupted

    def _advise_without_measuring(self, path: PathFacts) -> int:
        """Advise what is stored for the path as it is now; without anything, give up."""
        self.events.emit(ev.PathFound, path=path, limits=binding_limits(path))
        past, notes = self.past(path)
        self.events.emit(ev.HistoryFound, results=past, notes=notes)
        if past:
            return self._advise_from_history(path, past)
        return self.give_up(NOTHING_STORED, EXIT_FAILED)

    def _stored_path(self) -> PathFacts | None:
        """The path of the last session over the connection that is asked for; None without one."""
        records = self.store.records(self.pair)
        paths = [r.path for r in records if isinstance(r, SessionRecord)]
        paths = [path for path in paths if _is_asked_for(path, self.request)]
        if not paths:
            return None
        # No more is promised than is reserved now.
        reserved_bps = self.request.bandwidth_bps or paths[-1].bandwidth_bps
        return msgspec.structs.replace(paths[-1], bandwidth_bps=reserved_bps)

    async def _is_history_enough(self, context: Context, past: list[ev.PastResult]) -> bool:
        began_s = self.clock()
        accepted = await self._accept_history(past)
        context.budget.give_back(self.clock() - began_s)
        return bool(accepted)

    def _begin(self, path: PathFacts) -> Context:
        """Open the session: its budget, its first event."""
        earlier = self.interrupted.probes if self.interrupted else []
        context = self.make_context(path, self._budget(path, earlier), earlier)
        if self._more_s:
            context.order_more(self._more_s)
        shortest_s, total_s = context.runner.next_probe_s(), context.budget.total_s
        if shortest_s > total_s:
            raise ValueError(
                f"--budget {total_s:g} is too short for one probe at this round-trip time: "
                f"give at least {shortest_s * 4:.0f} s"
            )
        self.started(context.budget.left_s)
        return context

    def _budget(self, path: PathFacts, earlier: Sequence[ProbeRecord]) -> Budget:
        files = self.request.tool is not None
        total_s = self.request.budget_s or default_budget_s(path.rtt_s, files=files)
        spent_s = sum(p.result.elapsed_s for p in earlier) + self.events.at_s + AROUND_S
        if self._more_s:
            total_s = spent_s + self._more_s
        return Budget(total_s, self.clock, spent_s)

    @property
    def _more_s(self) -> float:
        """How much longer the user wants to measure a session that had ended."""
        return self.interrupted.more_s if self.interrupted else 0.0

    async def _measure(self, context: Context, past: list[ev.PastResult]) -> int:
        disks = await DiskToDisk.prepared(context) if self.request.tool else None
        stages: Sequence[SearchStage] = [disks.stage] if disks else usable_stages(context)
        self.record_request(context.path)
        spaces = {stage.subject: stage.space(context) for stage in stages}
        if disks:
            past = permitted(past, spaces)  # The closing comparison may measure them.
        trouble: Problem | None = None
        is_final = False
        try:
            if disks:
                await disks.measure_subsystems()
                await measure_baselines(context, stages)
                await search_all(context, stages)
                disks.prepare_closing()
                await confirm(context, past, spaces, disks.held_back_s)
                if ranking := self._ranking(context, past, spaces):
                    await disks.measure_tool_in_memory(ranking.candidates[ranking.chosen].setting)
            else:
                await search_transports(context, stages, spaces)
        except Stopped:
            trouble = INTERRUPTED
        except (PeerLost, OutOfTime, StoreError, Blocked) as error:
            trouble, is_final = error.problem, isinstance(error, Blocked)
            self.events.notice(str(trouble))
        finally:
            if disks:
                await disks.close()
        if ranking := self._ranking(context, past, spaces):
            return self._conclude(context, past, ranking, trouble, disks)
        return self.end_without(context.probes, trouble, is_final=is_final)

    def _ranking(
        self, context: Context, past: list[ev.PastResult], spaces: dict[str, Space]
    ) -> Ranking | None:
        """The contenders, compared by the probes so far."""
        return ranking_of(self.request, context.path, context.probes, past, spaces)

    def _conclude(
        self,
        context: Context,
        past: list[ev.PastResult],
        ranking: Ranking,
        trouble: Problem | None,
        disks: DiskToDisk | None,
    ) -> int:
        """Advise what the probes support. `trouble`: what cut the measuring short, if anything."""
        inputs = AdviceInputs(
            session=self.id,
            request=self.request,
            pair=self.pair,
            path=context.path,
            past=past,
            probes=context.probes,
            kept=disks.prober.kept if disks else None,
            absent=disks.absent if disks else {},
            folder=disks.prober.folder if disks else "",
            stopped=context.stopped,
            tool=disks.stage.tool if disks else None,
            refused=disks.prober.refused if disks else {},
        )
        advice = advice_from_ranking(inputs, ranking, incomplete=trouble is not None)
        self._give_line(advice, context.history.past)
        return EXIT_INTERRUPTED if trouble is INTERRUPTED else EXIT_DONE

    def _advise_from_history(self, path: PathFacts, past: list[ev.PastResult]) -> int:
        inputs = AdviceInputs(
            session=self.id, request=self.request, pair=self.pair, path=path, past=past
        )
        self._give_line(advice_from_history(inputs), self.store.prior(self.pair, path))
        return EXIT_DONE

    def _give_line(self, advice: Advice, known: Sequence[ProbeRecord]) -> None:
        """Give advice whose expectation is that of its line. `known`: of this connection."""
        ceilings = known_ceilings(known, [tool.name for tool in registry.tools()])
        self.give(expected_of_line(advice, ceilings, self.request.dataset))


def _is_asked_for(path: PathFacts, request: AdviceRequest) -> bool:
    """Whether the path goes between the addresses and by the interface that the user chose."""
    asked_for = (
        (request.address, path.destination_address),
        (request.source_address, path.source_address),
        (request.interface, path.source.interface),
    )
    return all(asked in (None, had) for asked, had in asked_for)
