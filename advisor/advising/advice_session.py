"""What every advice session has: its connection, its contexts, its records and its last event."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from advisor.advising.budget import Budget
from advisor.advising.context import Context, PriorResults
from advisor.advising.probe_runner import PeerLost, ProbeRunner
from advisor.advising.recorder import ProbeRecorder
from advisor.advising.stored_settings import parameters_of, what_is_lacking
from advisor.advising.transport_prober import Prober
from advisor.domain import events as ev
from advisor.domain.advice import Advice
from advisor.domain.measurement import Failure
from advisor.domain.path import PathFacts
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.records import AdviceRecord, ClosingRecord, ProbeRecord, SessionRecord
from advisor.runtime.connect import FarEnd, pair_of
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER
from advisor.runtime.lifecycle import Session
from advisor.runtime.request import AdviceRequest
from advisor.store.errors import StoreError
from advisor.store.history import Past, Store

AROUND_S: Final = 1.0
"""Starting the program and giving the advice: the budget is the user's waiting time."""

INTERRUPTED: Final = Problem(
    kind=ProblemKind.STOPPED, reason="interrupted before anything was measured"
)


class Interrupted(msgspec.Struct, frozen=True):
    """A session to resume: its record and its probes.

    `more_s`: how much longer to measure, for a session that has ended; 0 for one that was cut
    short, which resumes within the time that it has left.
    """

    record: SessionRecord
    probes: list[ProbeRecord]
    more_s: float = 0.0


class AdviceSession(Session):
    """The base of sessions that end with advice. `interrupted`: the one that is resumed."""

    exit_codes: ClassVar[Mapping[type[Exception], int]] = {PeerLost: EXIT_PEER}
    stopped_message: ClassVar[str] = INTERRUPTED.reason

    def __init__(
        self,
        request: AdviceRequest,
        store: Store,
        publish: Publish,
        control: Control,
        interrupted: Interrupted | None,
    ) -> None:
        super().__init__(
            store, publish, control, interrupted.record.session if interrupted else None
        )
        self.request = request
        self.interrupted = interrupted
        self.pair = interrupted.record.pair if interrupted else pair_of(request)
        self.far_end = FarEnd(request, self.events.notice)
        self._contexts: list[Context] = []

    async def _close(self) -> None:
        for context in self._contexts:
            await context.runner.close()
        await self.far_end.close()
        await super()._close()

    def past(self, path: PathFacts) -> Past:
        """Stored results over this path for what this session is asked to measure.

        Those that show nothing for it are left out: see stored_settings.py.
        """
        request = self.request
        parameters = parameters_of(path, request.tool, request.dataset)
        why_not = what_is_lacking(parameters, request.dataset)
        found = self.store.past(self.pair, time.time(), path, why_not)
        wanted = parameters.keys() & ([request.tool] if request.tool else request.transports)
        return Past([r for r in found.results if r.subject in wanted], found.notes)

    def make_context(
        self,
        path: PathFacts,
        budget: Budget,
        earlier: Sequence[ProbeRecord],
        *,
        ordinals: Iterator[int] | None = None,
        connection: str = "",
        later_s: float = 0.0,
    ) -> Context:
        """What the stages over this path share. The others: as in ProbeRecorder and Context."""
        request, prober = self.request, Prober(path)
        context = Context(
            request=request,
            pair=self.pair,
            path=path,
            budget=budget,
            history=PriorResults(
                past=self.store.prior(self.pair, path),
                past_of_similar=self.store.prior_of_similar(
                    self.pair, path.rtt_s, path.bandwidth_bps
                ),
                transfers=self.store.transfers(),
            ),
            control=self.control,
            events=self.events,
            runner=ProbeRunner(self.far_end, prober, path, self.control.stop, self.events.notice),
            recorder=ProbeRecorder(
                self.store, self.id, self.pair, request, path, earlier, ordinals
            ),
            connection=connection,
            later_s=later_s,
        )
        self._contexts.append(context)
        return context

    def started(self, budget_s: float) -> None:
        """Log the events from now on, and report that the session starts."""
        self.events.log_to(self.store.event_log(self.pair, self.id))
        self.events.emit(
            ev.SessionStarted,
            session=self.id,
            pair=self.pair,
            method=self.request.method,
            seed=self.request.seed,
            budget_s=budget_s,
            resumed=self.interrupted is not None,
        )

    def record_request(self, path: PathFacts) -> None:
        """Store what resuming needs, once it is clear that there is something to measure."""
        if self.interrupted:
            return
        record = SessionRecord(
            session=self.id,
            pair=self.pair,
            recorded_s=time.time(),
            request=msgspec.to_builtins(self.request),
            path=path,
        )
        self.store.append(record)

    def give(self, advice: Advice) -> None:
        """Store the advice and emit it. A full store does not withhold it from the user."""
        try:
            self.store.append(AdviceRecord(pair=self.pair, recorded_s=time.time(), advice=advice))
        except StoreError as error:
            self.events.notice(f"the advice could not be stored: {error}")
        self.events.emit(ev.AdviceGiven, **msgspec.structs.asdict(advice))

    def end_without(
        self, probes: Sequence[ProbeRecord], trouble: Problem | None, *, is_final: bool = False
    ) -> int:
        """End a session that has nothing to advise; the exit code.

        `trouble`: what cut it short. Such a session can be resumed, unless that `is_final`: every
        setting would meet it.
        """
        if trouble is INTERRUPTED:
            return self.give_up(INTERRUPTED, EXIT_INTERRUPTED)
        if trouble and not is_final:
            return self.give_up(trouble, EXIT_PEER)
        failures = [p.result.message for p in probes if isinstance(p.result, Failure)]
        last = f", the last one: {failures[-1]}" if failures else ""
        problem = trouble or Problem(
            kind=ProblemKind.NO_DATA, reason=f"no probe gave a throughput{last}"
        )
        self.store.append(
            ClosingRecord(
                session=self.id,
                pair=self.pair,
                recorded_s=time.time(),
                outcome="nothing usable",
                message=str(problem),
            )
        )
        return self.give_up(problem, EXIT_FAILED)
