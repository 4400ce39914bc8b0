"""Reports the events of the stages and probes of one session."""

import contextlib
from collections.abc import AsyncIterator, Callable

from advisor.advising.prober import Watcher
from advisor.advising.recorder import PendingProbe, ProbePurpose
from advisor.domain import events as ev
from advisor.domain.advice import Side
from advisor.domain.measurement import Interval, Measurement, Outcome
from advisor.domain.space import Setting, Space
from advisor.runtime.events import EventEmitter


class StageEnd:
    """Why a stage ended, unless it was cut short."""

    reason = "interrupted"


class ProbeEvents:
    """Emits the events of probes, and remembers the best throughput so far.

    `connection`: what the names of stages begin with, where there are several connections.
    """

    def __init__(self, events: EventEmitter, connection: str = "") -> None:
        self._events = events
        self._connection = connection
        self._best_bps = 0.0
        self._probes = 0

    def stage_name(self, stage: str) -> str:
        """The name of a stage as users see it."""
        return f"{self._connection}: {stage}" if self._connection else stage

    @contextlib.asynccontextmanager
    async def stage(
        self, name: str, subject: str, budget_s: float, space: Space | None = None
    ) -> AsyncIterator[StageEnd]:
        """A stage: its start and, on every way out, its end with the reason."""
        began_s, before = self._events.at_s, self._probes
        shown = self.stage_name(name)
        self._events.emit(
            ev.StageStarted, stage=shown, subject=subject, budget_s=budget_s, space=space
        )
        end = StageEnd()
        try:
            yield end
        finally:
            self._events.emit(
                ev.StageEnded,
                stage=shown,
                reason=end.reason,
                probes=self._probes - before,
                elapsed_s=self._events.at_s - began_s,
            )

    def started(self, ordinal: int, subject: str, setting: Setting, purpose: ProbePurpose) -> None:
        """A probe begins."""
        self._events.emit(
            ev.ProbeStarted,
            ordinal=ordinal,
            stage=self.stage_name(purpose.stage),
            purpose=purpose.kind,
            subject=subject,
            setting=setting,
            label=purpose.label,
        )

    def watcher(self, ordinal: int) -> Watcher:
        """Reports the intervals of a running probe, and the number of advisors served first."""
        waiting, waiting_here = self.waits("destination"), self.waits("source")

        def seen(interval: Interval) -> None:
            self._events.emit(
                ev.IntervalSeen,
                ordinal=ordinal,
                start_s=interval.start_s,
                end_s=interval.end_s,
                received_bytes=interval.received_bytes,
                throughput_bps=interval.throughput_bps,
            )

        return Watcher(seen, waiting, waiting_here=waiting_here)

    def waits(self, side: Side) -> Callable[[int], None]:
        """Reports how many advisors are served first at one end."""
        return lambda ahead: self._events.emit(ev.Waiting, ahead=ahead, side=side)

    def ended(
        self,
        pending: PendingProbe,
        worth: Outcome | None,
        remaining_s: float,
        *,
        retried: bool = False,
    ) -> None:
        """A probe was recorded, and may be the new best.

        `worth`: its outcome as it is compared, None if it is not compared. `remaining_s`: what is
        left of the budget.
        """
        self._probes += 1
        self._events.emit(
            ev.ProbeEnded,
            ordinal=pending.ordinal,
            stage=self.stage_name(pending.purpose.stage),
            purpose=pending.purpose.kind,
            subject=pending.subject,
            setting=pending.setting,
            result=pending.probed.outcome,
            remaining_s=remaining_s,
            label=pending.purpose.label,
            retried=retried,
        )
        if isinstance(worth, Measurement) and worth.throughput_bps > self._best_bps:
            self._best_bps = worth.throughput_bps
            self._events.emit(
                ev.BestChanged,
                subject=pending.subject,
                setting=pending.setting,
                throughput_bps=worth.throughput_bps,
            )
