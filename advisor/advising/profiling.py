"""Searches the space of a subject: ask the method, probe, tell the method, store."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec
import numpy as np

from advisor import registry
from advisor.advising.context import Context
from advisor.advising.judging import comparable, comparable_outcome
from advisor.advising.prior_knowledge import expected_rates, knowledge_of
from advisor.advising.recorder import ProbePurpose
from advisor.advising.user_orders import apply_user_orders
from advisor.api.transport import SpaceOptions, Transport
from advisor.domain import events as ev
from advisor.domain.measurement import Failure, Measurement, Outcome
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Baseline, Setting, Space
from advisor.methods.api import (
    Method,
    WithBelief,
    WithEvidence,
    WithExpectation,
    WithMovableSpace,
    WithSample,
)
from advisor.models.smoothing import is_other_rtt

BASELINE: Final = "baseline"
CONFIRM: Final = "confirm"
"""The two stages that are not searches: the defaults first, the closing comparison last."""

_FAILURES_IN_A_ROW: Final = 6
"""After this many consecutive failures a subject is given up."""


class SearchStage(Protocol):
    """One search. `name`: unique in a session. `subject`: what is measured."""

    @property
    def name(self) -> str:
        """The name that users see."""

    @property
    def subject(self) -> str:
        """The transport or tool."""

    def space(self, context: Context) -> Space:
        """The space to search on this path."""

    def baselines(self, context: Context) -> list[Baseline]:
        """The settings of users who tune nothing."""


class TransportStage(msgspec.Struct, frozen=True):
    """A search over a transport's space, with some parameters fixed."""

    transport: Transport
    fixed: Setting

    @property
    def subject(self) -> str:
        """The transport's name."""
        return self.transport.name

    def baselines(self, context: Context) -> list[Baseline]:
        """The transport's defaults."""
        return self.transport.baselines(context.path)

    @property
    def name(self) -> str:
        """`udt`, `tcp/cubic`."""
        congestion = self.fixed.get("congestion")
        return f"{self.transport.name}/{congestion}" if congestion else self.transport.name

    def space(self, context: Context) -> Space:
        """The space to search on this path, at the smoothed round-trip time."""
        request = context.request
        options = SpaceOptions(
            buffer_scale=request.buffer_scale,
            max_streams=request.max_streams,
            seen_bps=_seen_elsewhere(context.probes, self.name),
        )
        return self.transport.space(context.path_now, self.fixed, options)


def stages_of(context: Context) -> list[TransportStage]:
    """The searches of this session, in order. Raises ValueError for an impossible request."""
    stages = []
    for name in context.request.transports:
        transport = registry.transport(name)
        for fixed in transport.variants(context.path, context.request.congestion):
            stages.append(TransportStage(transport, fixed))
    return stages


def _seen_elsewhere(probes: Sequence[ProbeRecord], stage: str) -> float | None:
    """The highest throughput before this stage; its own would change its space while it runs."""
    throughputs = [
        p.result.throughput_bps
        for p in probes
        if p.stage not in (stage, CONFIRM) and isinstance(p.result, Measurement)
    ]
    return max(throughputs, default=None)


def _method_of(context: Context, stage: SearchStage, space: Space) -> Method:
    """The search method, restored to its last state if the session is resumed."""
    request = context.request
    # Each stage has its own random stream: one more probe in the first does not change the start
    # of the second.
    stream = np.random.SeedSequence([request.seed, zlib.crc32(stage.name.encode())])

    def create() -> Method:
        return registry.method(request.method).create(
            space,
            np.random.default_rng(stream),
            knowledge_of(context, stage.subject),
            request.constants,
        )

    method = create()
    change = context.path_change
    # Its state holds what it was told before the path changed; with a belief it can learn again.
    first = change.noticed + 1 if change and isinstance(method, WithBelief) else 0
    state = _last_state(context.probes[first:], stage)
    if state and not _is_restored(method, state):
        context.events.notice(
            f"{context.stage_name(stage.name)}: another version of '{request.method}' left this "
            "search, so it begins again; what it measured still counts"
        )
        method, state = create(), None
    if not state and isinstance(method, WithBelief):
        _teach(context, stage, space, method)
    _expect(context, method)
    return method


def _is_restored(method: Method, state: Mapping[str, object]) -> bool:
    """Whether the method could read this state, which a file or another version may have spoilt."""
    try:
        method.restore(state)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return False
    return True


def _expect(context: Context, method: Method) -> None:
    """Tell the method what the cost model of a tool expects after the probes so far."""
    if isinstance(method, WithExpectation) and (
        expected := expected_rates(context.request, context.probes)
    ):
        method.expect(expected)


def _teach(context: Context, stage: SearchStage, space: Space, method: WithBelief) -> None:
    """Tell a search what this session has measured in its space before it began."""
    for probe in comparable(context.request, context.probes):
        if probe.subject == stage.subject and space.holds(probe.setting):
            method.learn(probe.setting, probe.result)


def _last_state(probes: Sequence[ProbeRecord], stage: SearchStage) -> dict[str, object] | None:
    states = [p.method_state for p in probes if p.stage == stage.name and p.method_state]
    return states[-1] if states else None


WhyEnd = Callable[[str, str, Method], str]
"""Why the search of a subject, in a stage, with a method may end; "" while it may not."""


async def measure_baselines(
    context: Context, stages: Sequence[SearchStage], why_full: Callable[[], str] = str
) -> None:
    """Measure the defaults, before anything is tuned. Raises Stopped, PeerLost.

    `why_full`: why no further default needs to be measured, "" while that is not known.
    """
    # Searches over the same subject have the same defaults.
    subjects = {stage.subject: stage for stage in stages}
    wanted = [
        (subject, baseline)
        for subject, stage in subjects.items()
        for baseline in stage.baselines(context)
        if not _is_known(context, subject, baseline)
    ]
    if not wanted:
        return
    budget_s = sum(context.runner.next_probe_s(subject) for subject, _ in wanted)
    async with context.stage(BASELINE, "", budget_s) as stage_end:
        for name, baseline in wanted:
            await apply_user_orders(context)
            # Without a single probe there is no advice: one is made, however long the start took.
            has_one = any(probe.subject in subjects for probe in context.probes)
            next_s = context.runner.next_probe_s(name, baseline.setting)
            if has_one and context.budget.left_s < next_s:
                stage_end.reason = "the time is used"
                return
            purpose = ProbePurpose(stage=BASELINE, kind="baseline", label=baseline.role)
            await context.record(await context.measure(name, baseline.setting, purpose))
            if reason := why_full():
                stage_end.reason = reason
                return
        stage_end.reason = "the defaults are measured"


def _is_known(context: Context, subject: str, baseline: Baseline) -> bool:
    """Whether a default is measured: a resumed session has some, and a changed path none."""
    return any(
        probe.purpose == "baseline"
        and (probe.subject, probe.setting) == (subject, baseline.setting)
        and isinstance(probe.result, Measurement)
        for probe in context.probes_now
    )


def never_ends(_subject: str, _stage: str, _method: Method) -> str:
    """For a search that ends only by itself or by the time."""
    return ""


async def profile(
    context: Context, stage: SearchStage, until_left_s: float, why_end: WhyEnd = never_ends
) -> None:
    """Search until the method stops, `why_end` says so, or `until_left_s` of the budget is left.

    Raises Stopped, PeerLost.
    """
    space = stage.space(context)
    budget_s = max(0.0, context.budget.left_s - until_left_s)
    async with context.stage(stage.name, stage.subject, budget_s, space) as stage_end:
        if not space.parameters:
            stage_end.reason = f"nothing to search: {space.note}"
            return
        method = _method_of(context, stage, space)
        stage_end.reason = await _search(context, stage, method, space, until_left_s, why_end)


async def _search(
    context: Context,
    stage: SearchStage,
    method: Method,
    space: Space,
    until_left_s: float,
    why_end: WhyEnd = never_ends,
) -> str:
    """Ask, probe and tell; returns why the search ended."""
    failures, space_rtt_s = 0, context.runner.rtt_s
    shown = context.stage_name(stage.name)
    while (setting := method.ask()) is not None:
        await apply_user_orders(context)
        if context.control.is_skipped(shown):
            return "skipped"
        if reason := why_end(stage.subject, stage.name, method):
            return reason
        next_s = context.runner.next_probe_s(stage.subject, setting)
        if context.budget.left_s - until_left_s < next_s:
            return "its time is used up"
        iteration = method.iteration
        purpose = ProbePurpose(stage=stage.name, kind="search", label=method.label)
        least_bps = context.in_question_bps(stage.subject)
        pending = await context.measure(stage.subject, setting, purpose, least_bps)
        outcome = pending.probed.outcome
        _tell(context, stage, method, setting, outcome)
        await context.record(pending, method=method)
        if context.has_just_changed and isinstance(method, WithBelief):
            method = _method_of(context, stage, space)
        _expect(context, method)
        context.events.emit(
            ev.SearchStands, stage=shown, iteration=method.iteration, gauges=method.gauges
        )
        _tell_evidence(context, stage, method)
        if method.move_reason:
            context.events.emit(
                ev.MethodMoved, stage=shown, iteration=iteration, reason=method.move_reason
            )
        if method.iteration > iteration:
            await context.runner.update_rtt()
            if is_other_rtt(context.runner.rtt_s, space_rtt_s):
                space_rtt_s = context.runner.rtt_s
                space = _follow_rtt(context, stage, method, space)
        failures = failures + 1 if isinstance(outcome, Failure) else 0
        if failures >= _FAILURES_IN_A_ROW and isinstance(outcome, Failure):
            return f"{failures} probes in a row failed, the last one: {outcome.message}"
    return method.stop_reason or "the method has no more settings to try"


def _tell(
    context: Context, stage: SearchStage, method: Method, setting: Setting, outcome: Outcome
) -> None:
    """Tell the method what a probe says of the whole dataset; before, what was measured."""
    if isinstance(method, WithSample):
        method.measured(outcome)
    worth = comparable_outcome(context.request, context.probes, stage.subject, setting, outcome)
    method.tell(setting, worth or outcome)


def _follow_rtt(context: Context, stage: SearchStage, method: Method, space: Space) -> Space:
    """Move the search to the space at the present round-trip time, if it can; the space it has."""
    moved = stage.space(context)
    names = [[p.name for p in one.parameters] for one in (space, moved)]
    if not isinstance(method, WithMovableSpace) or names[0] != names[1] or moved == space:
        return space
    method.move_to(moved)
    shown = context.stage_name(stage.name)
    context.events.emit(ev.SpaceMoved, stage=shown, space=moved, rtt_s=context.runner.rtt_s)
    return moved


def _tell_evidence(context: Context, stage: SearchStage, method: Method) -> None:
    """Emit the evidence of past transfers, if the search has just evaluated it."""
    evidence = method.evidence if isinstance(method, WithEvidence) else None
    if evidence is not None and evidence is not context.evidence:
        context.evidence = evidence
        shown = context.stage_name(stage.name)
        context.events.emit(ev.EvidenceFound, stage=shown, evidence=evidence)
