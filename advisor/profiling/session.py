"""A session that measures a profile: every setting of its grids, the declared number of times."""

import time
from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

import msgspec

from advisor import registry
from advisor.advising.context import Blocked, Context, OutOfTime, PriorResults
from advisor.advising.disk_to_disk import DiskToDisk
from advisor.advising.probe_events import StageEnd
from advisor.advising.probe_runner import PeerLost, ProbeRunner
from advisor.advising.profiling import SearchStage, stages_of
from advisor.advising.recorder import ProbePurpose, ProbeRecorder
from advisor.advising.transport_prober import Prober
from advisor.domain import events as ev
from advisor.domain.grid import Cell
from advisor.domain.measurement import Failure, Measurement, is_rejected
from advisor.domain.path import PathFacts
from advisor.domain.problem import Problem, ProblemKind
from advisor.domain.records import ProbeRecord, ProfileRecord
from advisor.domain.rounds import FAILURES_IN_A_ROW
from advisor.models.limits import binding_limits
from advisor.profiling.grids import grids_of
from advisor.profiling.order import Step, steps_of
from advisor.profiling.remaining import RemainingWork
from advisor.runtime.connect import FarEnd, look_at_path, pair_of
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, EXIT_PEER
from advisor.runtime.lifecycle import Session
from advisor.runtime.request import PROFILE, ProfileRequest
from advisor.runtime.stop import Stopped
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.matching import of_this_connection
from advisor.store.profiles import StoredProfile, profile_name

_INTERRUPTED: Final = Problem(
    kind=ProblemKind.STOPPED,
    reason="interrupted",
    remedy="what was measured is stored: resume with 'advisor profile resume'",
    command="advisor profile resume",
)

_NOT_MADE: Final = Problem(
    kind=ProblemKind.FAILED,
    reason="measurements failed, and their settings are not the cause",
    remedy="make them up with 'advisor profile resume'",
    command="advisor profile resume",
)


async def measure_profile(
    request: ProfileRequest,
    *,
    store: Store,
    publish: Publish,
    control: Control,
    interrupted: StoredProfile | None = None,
) -> int:
    """Run the session to its last event, `profile_ended` or `gave_up`; returns the exit code."""
    return await _ProfileSession(request, store, publish, control, interrupted).run()


class _ProfileSession(Session):
    exit_codes: ClassVar[Mapping[type[Exception], int]] = {PeerLost: EXIT_PEER}

    def __init__(
        self,
        request: ProfileRequest,
        store: Store,
        publish: Publish,
        control: Control,
        interrupted: StoredProfile | None,
    ) -> None:
        record = interrupted.record if interrupted else None
        super().__init__(store, publish, control, record.session if record else None)
        self._request = request
        self._interrupted = interrupted
        self._pair = record.pair if record else pair_of(request)
        self._far_end = FarEnd(request, self.events.notice)
        self._context: Context | None = None

    async def _close(self) -> None:
        if self._context:
            await self._context.runner.close()
        await self._far_end.close()
        await super()._close()

    async def _run(self) -> int:
        await self._far_end.connect()
        path = await look_at_path(self._far_end.reached, self._request)
        self._require_same(path)
        self.events.log_to(self.store.event_log(self._pair, self.id))
        self.events.emit(ev.PathFound, path=path, limits=binding_limits(path))
        self._context = context = self._make_context(path)
        disks = await DiskToDisk.prepared(context) if self._request.tool else None
        try:
            stages = [disks.stage] if disks else self._usable(context)
            profile = self._opened(context, stages)
            # From here on the order to stop ends the measuring, and the profile can be resumed.
            self.ends_itself = True
            return await self._measure(context, profile)
        finally:
            if disks:
                await disks.close()

    def _require_same(self, path: PathFacts) -> None:
        """Raises ValueError if an interrupted profile would continue on another connection."""
        if self._interrupted is None:
            return
        found = of_this_connection(self._interrupted.probes, path, {})
        if self._interrupted.probes and not (found.probes or found.faster):
            raise ValueError(
                f"the path is not what it was when '{self._interrupted.record.name}' was begun: "
                f"{found.ignored[0]}: begin another profile"
            )

    def _make_context(self, path: PathFacts) -> Context:
        probing = self._request.probing
        earlier = self._interrupted.probes if self._interrupted else []
        prober = Prober(path)
        return Context(
            request=probing,
            pair=self._pair,
            path=path,
            budget=RemainingWork(0, 0.0, self.clock),
            history=PriorResults(),
            control=self.control,
            events=self.events,
            runner=ProbeRunner(self._far_end, prober, path, self.control.stop, self.events.notice),
            recorder=ProbeRecorder(self.store, self.id, self._pair, probing, path, earlier),
        )

    def _usable(self, context: Context) -> Sequence[SearchStage]:
        """The stages of the transports. Raises ValueError if one of them cannot be measured."""
        for name in self._request.transports:
            availability = registry.availability(registry.transport(name))
            if not availability.ok:
                raise ValueError(f"{name}: {availability.reason}: {availability.remedy}")
            if context.path.receivable is not None and name not in context.path.receivable:
                raise ValueError(
                    f"{name}: the destination cannot receive it: run 'advisor doctor' there"
                )
        return stages_of(context)

    def _opened(self, context: Context, stages: Sequence[SearchStage]) -> StoredProfile:
        """The profile as it is declared, stored unless it is resumed."""
        if self._interrupted:
            return self._interrupted
        request = self._request
        now_s = time.time()
        record = ProfileRecord(
            session=self.id,
            pair=self._pair,
            recorded_s=now_s,
            name=request.name or profile_name(self._pair.destination, self.id),
            path=context.path,
            grids=grids_of(request, stages, context),
            repeats=request.repeats,
            seed=request.seed,
            request=msgspec.to_builtins(request),
            about=request.about,
        )
        self.store.append(record)
        return StoredProfile(record=record, probes=[])

    async def _measure(self, context: Context, profile: StoredProfile) -> int:
        record = profile.record
        steps = list(steps_of(record.grids, record.repeats, record.seed, profile.over))
        longest_s = sum(context.runner.next_probe_s(step.subject) for step in steps)
        work = RemainingWork(len(steps), longest_s, self.clock)
        context.budget = work
        total = record.repeats * sum(len(grid.settings) for grid in record.grids)
        self.events.emit(
            ev.ProfileStarted,
            session=self.id,
            pair=self._pair,
            name=record.name,
            grids=record.grids,
            repeats=record.repeats,
            seed=record.seed,
            probes=total,
            earlier=total - len(steps),
            longest_s=longest_s,
        )
        try:
            async with context.stage(PROFILE, "", longest_s) as stage_end:
                await self._measure_all(context, steps, work, stage_end)
        except Stopped:
            return self._end(context, record, _INTERRUPTED, EXIT_INTERRUPTED)
        except (PeerLost, OutOfTime, StoreError, Blocked) as error:
            code = EXIT_PEER if isinstance(error, PeerLost) else EXIT_FAILED
            return self._end(context, record, error.problem, code)
        if StoredProfile(record=record, probes=context.probes).left:
            return self._end(context, record, _NOT_MADE, EXIT_FAILED)
        return self._end(context, record, None, EXIT_DONE)

    async def _measure_all(
        self, context: Context, steps: Sequence[Step], work: RemainingWork, stage_end: StageEnd
    ) -> None:
        rejected: set[Cell] = set()
        failures = 0
        for step in steps:
            await context.apply_orders()
            if step.cell not in rejected:
                outcome = await self._measure_one(context, step)
                failures = failures + 1 if isinstance(outcome, Failure) else 0
                if is_rejected(outcome):
                    rejected.add(step.cell)
                if isinstance(outcome, Failure) and failures >= FAILURES_IN_A_ROW:
                    raise Blocked(f"{failures} probes in a row failed: {outcome.message}")
            work.probe_is_over()
        stage_end.reason = "all settings are measured"

    async def _measure_one(self, context: Context, step: Step) -> Measurement | Failure:
        purpose = ProbePurpose(stage=PROFILE, kind="search", label=step.label)
        pending = await context.measure(step.subject, step.setting, purpose)
        await context.record(pending)
        return pending.probed.outcome

    def _end(
        self, context: Context, record: ProfileRecord, problem: Problem | None, exit_code: int
    ) -> int:
        measured, failed = _counts(context.probes)
        message = str(problem) if problem else "all settings are measured"
        if problem is None and not measured:
            exit_code = EXIT_FAILED
            message = f"no setting gave a throughput: {_last_failure(context.probes)}"
        self.events.emit(
            ev.ProfileEnded,
            session=self.id,
            name=record.name,
            complete=problem is None,
            measured=measured,
            failed=failed,
            message=message,
            exit_code=exit_code,
        )
        return exit_code


def _last_failure(probes: Sequence[ProbeRecord]) -> str:
    failures = [probe.result.message for probe in probes if isinstance(probe.result, Failure)]
    return failures[-1] if failures else "nothing was measured"


def _counts(probes: Sequence[ProbeRecord]) -> tuple[int, int]:
    """How many probes gave a throughput, and how many failed."""
    measured = sum(isinstance(probe.result, Measurement) for probe in probes)
    return measured, len(probes) - measured
