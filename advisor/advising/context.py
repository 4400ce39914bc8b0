"""What the stages of an advice session share: one probe, from its start to its record."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

from advisor.advising.budget import Budget
from advisor.advising.judging import comparable_outcome
from advisor.advising.path_changes import PathChange, on_the_path_now, path_change
from advisor.advising.probe_events import ProbeEvents, StageEnd
from advisor.advising.probe_runner import PeerLost, ProbeRunner
from advisor.advising.prober import Probed
from advisor.advising.recorder import PendingProbe, ProbePurpose, ProbeRecorder
from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, Space
from advisor.domain.transfers import PastTransfer
from advisor.methods.api import Method
from advisor.runtime.control import Control
from advisor.runtime.events import EventEmitter
from advisor.runtime.request import AdviceRequest
from advisor.runtime.stop import Stopped

# Failures independent of the setting: the files or the disks cause them.
_HOPELESS: Final = frozenset({FailureKind.NO_ACCESS, FailureKind.DISK_FULL})
# Failures that may be temporary, each group retried once. A setting that the kernel rejects will be
# rejected again. A lost agent says nothing of the setting, and often ends a probe before it is
# noticed itself: of that probe and the next one, only the first would be retried.
_LOST: Final = frozenset({FailureKind.PEER_GONE})
_RETRIED: Final = (
    _LOST,
    frozenset(FailureKind) - _LOST - _HOPELESS - {FailureKind.REJECTED_SETTING},
)
# A probe that began in time may end this much later: connecting may fail slowly, and a tool's probe
# is over when its files are.
_LATE_S: Final = 3.0
_TOOL_LATE_S: Final = 30.0
# A setting that is further behind the best rate so far need not be known better.
_IN_QUESTION: Final = 0.8


class Blocked(ProblemError):
    """Nothing more can be measured at any setting; the message is a sentence."""


class OutOfTime(ProblemError):
    """The budget ended while a probe waited, or was not complete; the message is a sentence."""

    kind = ProblemKind.BUSY


class PriorResults(msgspec.Struct, frozen=True, kw_only=True):
    """From the history: probes of this pair, of similar paths, and transfers of files."""

    past: Sequence[ProbeRecord] = ()
    past_of_similar: Sequence[ProbeRecord] = ()
    transfers: Sequence[PastTransfer] = ()


class Context:
    """One session as its stages see it.

    `evidence`: the search's latest on past transfers. `stopped`: why stages ended before their
    time, each reason once. In a session over several connections, one of them: `connection` names
    it, and `later_s` is the time for the others, beyond the budget.
    """

    def __init__(
        self,
        *,
        request: AdviceRequest,
        pair: Pair,
        path: PathFacts,
        budget: Budget,
        history: PriorResults,
        control: Control,
        events: EventEmitter,
        runner: ProbeRunner,
        recorder: ProbeRecorder,
        connection: str = "",
        later_s: float = 0.0,
    ) -> None:
        self.request = request
        self.pair = pair
        self.path = path
        self.budget = budget
        self.history = history
        self.control = control
        self.events = events
        self.runner = runner
        self.recorder = recorder
        self.later_s = later_s
        self.is_one_of_several = bool(connection)
        self.evidence: Evidence | None = None
        self.stopped: list[str] = []
        self._ordered_until_s = 0.0
        self._probe_events = ProbeEvents(events, connection)

    @property
    def probes(self) -> list[ProbeRecord]:
        """All probes of the session so far, also those before it was resumed."""
        return self.recorder.probes

    @property
    def probes_now(self) -> Sequence[ProbeRecord]:
        """Those of the path as it is now."""
        return self.probes if self.request.tool else on_the_path_now(self.probes)

    @property
    def has_just_changed(self) -> bool:
        """Whether the last probe shows that the path has changed."""
        return self.has_changed_since(len(self.probes) - 1)

    def has_changed_since(self, known: int) -> bool:
        """Whether a probe after the first `known` shows that the path has changed."""
        change = self.path_change
        return change is not None and change.noticed >= known

    @property
    def path_change(self) -> PathChange | None:
        """The last change of the path. Slices of a tool differ for other reasons."""
        return None if self.request.tool else path_change(self.probes)

    @property
    def path_now(self) -> PathFacts:
        """The path at the smoothed round-trip time."""
        return msgspec.structs.replace(self.path, rtt_s=self.runner.rtt_s)

    def stage_name(self, stage: str) -> str:
        """The name of a stage as users see it, and order it to be skipped."""
        return self._probe_events.stage_name(stage)

    @property
    def wants_more(self) -> bool:
        """Whether the user ordered more time that is not used yet."""
        return self.events.at_s < self._ordered_until_s

    def order_more(self, by_s: float) -> None:
        """Measure for this long, even if everything is decided."""
        self._ordered_until_s = max(self._ordered_until_s, self.events.at_s) + by_s

    @contextlib.asynccontextmanager
    async def stage(
        self, name: str, subject: str, budget_s: float, space: Space | None = None
    ) -> AsyncIterator[StageEnd]:
        """A run of probes; its start and end are reported."""
        async with self._probe_events.stage(name, subject, budget_s, space) as end:
            try:
                yield end
            except PeerLost as lost:
                end.reason = str(lost)
                raise

    async def measure(
        self, subject: str, setting: Setting, purpose: ProbePurpose, least_bps: float = 0.0
    ) -> PendingProbe:
        """One probe, with its retries. Raises Stopped, PeerLost, OutOfTime, StoreError.

        `record` stores it, after the method has had it. `least_bps`: see `Watcher`.
        """
        ordinal = self.recorder.next_ordinal()
        self._probe_events.started(ordinal, subject, setting, purpose)
        probed = await self._probe(ordinal, subject, setting, least_bps)
        left = list(_RETRIED)
        while group := next((kinds for kinds in left if _failed_by(probed, kinds)), None):
            left.remove(group)
            failed = PendingProbe(ordinal, subject, setting, purpose, probed)
            await self.record(failed, retried=True)
            probed = await self._probe(ordinal, subject, setting, least_bps)
        return PendingProbe(ordinal, subject, setting, purpose, probed)

    def in_question_bps(self, subject: str) -> float:
        """The rate below which a setting of a transport is out of the question; 0 for a tool."""
        if not self.runner.is_transport(subject):
            return 0.0
        results = [probe.result for probe in self.probes_now]
        rates = [one.throughput_bps for one in results if isinstance(one, Measurement)]
        return _IN_QUESTION * max(rates, default=0.0)

    async def _probe(
        self, ordinal: int, subject: str, setting: Setting, least_bps: float
    ) -> Probed:
        """The time spent in the destination's queue counts: the budget is what the user waits."""
        watcher, has_begun = self._probe_events.watcher(ordinal), False

        def seen(interval: Interval) -> None:
            nonlocal has_begun
            has_begun = True
            watcher.interval(interval)

        late_s = _LATE_S if self.runner.is_transport(subject) else _TOOL_LATE_S
        wait_s = self.budget.longest_wait_s(self.runner.next_probe_s(subject))
        try:
            async with asyncio.timeout(None if wait_s is None else wait_s + late_s) as limit:
                watching = msgspec.structs.replace(
                    watcher,
                    interval=seen,
                    ready=lambda: limit.reschedule(None),
                    least_bps=least_bps,
                )
                return await self.runner.run(subject, setting, watching)
        except TimeoutError:
            raise _out_of_time(has_begun) from None

    async def record(
        self, pending: PendingProbe, *, method: Method | None = None, retried: bool = False
    ) -> None:
        """Store a probe and report that it ended; `method`: the search that has had it.

        Raises StoreError, and Blocked after a failure that every other setting would meet too.
        """
        outcome = pending.probed.outcome
        worth = comparable_outcome(
            self.request, self.probes, pending.subject, pending.setting, outcome
        )
        await self.recorder.record(pending, self.runner.rtt_s, method=method, retried=retried)
        if self.has_just_changed and (change := self.path_change):
            self.events.notice(change.words)
        remaining_s = self.budget.left_s + self.later_s
        self._probe_events.ended(pending, worth, remaining_s, retried=retried)
        if isinstance(outcome, Failure) and self._is_hopeless(pending.subject, outcome, retried):
            raise Blocked(outcome.message)

    def _is_hopeless(self, subject: str, failure: Failure, retried: bool) -> bool:
        """Whether every other setting would fail too. A tool's server may be restarted once."""
        is_gone = failure.kind is FailureKind.REFUSED and not self.runner.is_transport(subject)
        return failure.kind in _HOPELESS or (is_gone and not retried)

    async def apply_orders(self) -> None:
        """Extend the budget and wait while paused, as the user ordered. Raises Stopped."""
        control, stop = self.control, self.control.stop
        if by_s := control.take_extension_s():
            self.budget.extend(by_s)
            self.order_more(by_s)
            self.events.emit(ev.BudgetExtended, by_s=by_s, left_s=self.budget.left_s)
        if control.paused and not stop.is_set():
            began_s = self.events.at_s
            self.events.emit(ev.Paused)
            await control.wait_while_paused()
            self.budget.give_back(self.events.at_s - began_s)
            self.events.emit(ev.Resumed)
        if stop.is_set():
            raise Stopped


def _out_of_time(has_begun: bool) -> OutOfTime:
    if has_begun:
        return OutOfTime(
            "the time was used up before the last probe was complete: its data may still be on "
            "their way to the disk",
            remedy="try again with a larger --budget",
        )
    return OutOfTime(
        "the time was used up while waiting for its turn",
        remedy="a host measures for others: try again later, or with a larger --budget",
    )


def _failed_by(probed: Probed, kinds: frozenset[FailureKind]) -> bool:
    return isinstance(probed.outcome, Failure) and probed.outcome.kind in kinds
