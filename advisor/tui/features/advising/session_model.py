"""The state of a session, rebuilt from its events alone. Pure: a replay feeds it again."""

from collections.abc import Iterable

import msgspec

from advisor.domain import events as ev
from advisor.domain.advice import Limit
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting, Space
from advisor.runtime.exit_codes import EXIT_FAILED


class ProbeModel(msgspec.Struct, kw_only=True):
    """One probe. `began_s`, `ended_s`: seconds since the session began; None while it runs.

    `curve`: received throughput, as (seconds since the probe's first byte, bit/s).
    """

    ordinal: int
    stage: str
    purpose: ev.Purpose
    subject: str
    setting: Setting
    label: str
    began_s: float
    ended_s: float | None = None
    outcome: Outcome | None = None
    retried: bool = False
    curve: list[tuple[float, float]] = []

    @property
    def throughput_bps(self) -> float | None:
        """Its throughput; None while it runs, and when it failed."""
        return self.outcome.throughput_bps if isinstance(self.outcome, Measurement) else None


class StageModel(msgspec.Struct, kw_only=True):
    """One stage: its space, the search's moves in order, and why it ended."""

    name: str
    subject: str
    budget_s: float
    began_s: float
    space: Space | None = None
    ended_s: float | None = None
    reason: str = ""
    iteration: int = 0
    gauges: list[ev.StopGauge] = []
    moves: list[tuple[float, str]] = []


def _apply_to_stage(stage: StageModel, event: ev.AnyEvent, at_s: float) -> bool:
    match event:
        case ev.StageEnded():
            stage.ended_s, stage.reason = at_s, event.reason
        case ev.SearchStands():
            stage.iteration, stage.gauges = event.iteration, event.gauges
        case ev.MethodMoved():
            stage.moves.append((at_s, event.reason))
        case ev.SpaceMoved():
            stage.space = covering(stage.space, event.space)
            stage.moves.append((at_s, event.space.note))
        case _:
            return False
    return True


def covering(one: Space | None, other: Space) -> Space:
    """The box around two spaces of the same parameters."""
    if one is None:
        return other
    bounds = {p.name: (p.lower, p.upper) for p in one.parameters}
    parameters = []
    for p in other.parameters:
        lower, upper = bounds.get(p.name, (p.lower, p.upper))
        wider = {"lower": min(p.lower, lower), "upper": max(p.upper, upper)}
        parameters.append(msgspec.structs.replace(p, **wider))
    return msgspec.structs.replace(other, parameters=tuple(parameters))


class SessionModel:
    """A listener. Its attributes are the session as it stands; `version` grows with every event.

    `left_s`: the budget left at `left_at_s`, as last reported. `files`: the plan for files where a
    tool is profiled from disk to disk; None from memory to memory. `evidence`: what past transfers
    predicted last, by the stage that consulted them; the newest is last.
    """

    def __init__(self, events: Iterable[ev.AnyEvent] = ()) -> None:
        self.version = 0
        self.at_s = 0.0
        self.session = ""
        self.pair: Pair | None = None
        self.method = ""
        self.seed = 0
        self.budget_s = 0.0
        self.left_s = 0.0
        self.left_at_s = 0.0
        self.path: PathFacts | None = None
        self.limits: list[Limit] = []
        self.past: list[ev.PastResult] = []
        self.connections: ev.ConnectionsFound | None = None
        self.files: ev.FilesPlanned | None = None
        self.stages: list[StageModel] = []
        self.probes: list[ProbeModel] = []
        self.evidence: dict[str, Evidence] = {}
        self.best: ev.BestChanged | None = None
        self.paused = False
        self.waiting_ahead = 0
        self.notices: list[tuple[float, str]] = []
        self.rtts: list[tuple[float, float]] = []
        self.advice: ev.AdviceGiven | None = None
        self.gave_up: ev.GaveUp | None = None
        # A resumed session counts its seconds from zero: this offset joins the runs.
        self._before_s = 0.0
        for event in events:
            self.apply(event)

    @property
    def running(self) -> ProbeModel | None:
        """The probe under way."""
        newest = self.probes[-1] if self.probes and not self.is_over else None
        return newest if newest and newest.ended_s is None else None

    @property
    def present(self) -> ProbeModel | None:
        """The probe under way, else the last one: the one that every panel names."""
        return self.probes[-1] if self.probes else None

    @property
    def leader(self) -> ev.BestChanged | None:
        """What was found so far: the advice with its expected rate, else the best."""
        if self.advice is None:
            return self.best
        return ev.BestChanged(
            at_s=self.at_s,
            subject=self.advice.subject,
            setting=self.advice.setting,
            throughput_bps=self.advice.expected_bps,
        )

    @property
    def default_bps(self) -> float | None:
        """The untuned throughput in bit/s: one TCP stream, or the tool's default; None before it is
        measured.
        """
        for probe in self.probes:
            if probe.label == "default" and probe.throughput_bps:
                return probe.throughput_bps
        return None

    @property
    def left_now_s(self) -> float:
        """The time left for probes; it does not run during a pause."""
        spent_s = 0.0 if self.paused or self.is_over else self.at_s - self.left_at_s
        return max(0.0, self.left_s - spent_s)

    @property
    def stage(self) -> StageModel | None:
        """The present stage, or the last one."""
        return self.stages[-1] if self.stages else None

    @property
    def is_over(self) -> bool:
        """Whether the last event has come."""
        return self.advice is not None or self.gave_up is not None

    @property
    def can_be_resumed(self) -> bool:
        """Whether it measured, and its end without advice leaves something to continue."""
        end = self.gave_up
        if end is None or not self.probes:
            return False
        # A session that reports that it failed is closed; one whose process was lost is not.
        return end.problem is None or end.exit_code != EXIT_FAILED

    def apply(self, event: ev.AnyEvent) -> None:
        """Take the next event."""
        self.version += 1
        if isinstance(event, ev.SessionStarted) and event.resumed:
            self._before_s = self.at_s
        at_s = self._before_s + event.at_s
        # Some notices have no time.
        self.at_s = max(self.at_s, at_s)
        if not (
            self._apply_session(event, at_s)
            or self._apply_time(event, at_s)
            or self._apply_search(event, at_s)
        ):
            self._apply_probe(event, at_s)

    def _apply_session(self, event: ev.AnyEvent, at_s: float) -> bool:
        match event:
            case ev.SessionStarted():
                if self.probes and self.probes[-1].ended_s is None:
                    # The probe that ran when the session was interrupted is not stored.
                    self.probes.pop()
                self.session, self.pair = event.session, event.pair
                self.method, self.seed = event.method, event.seed
                self.budget_s = self.left_s = event.budget_s
                self.left_at_s, self.paused = at_s, False
                self.gave_up = self.advice = None
            case ev.PathFound():
                self.path, self.limits = event.path, event.limits
            case ev.HistoryFound():
                self.past = event.results
            case ev.FilesPlanned():
                self.files = event
            case ev.Notice():
                self.notices.append((at_s, event.message))
            case ev.RttSeen():
                self.rtts.append((at_s, event.rtt_s))
            case ev.AdviceGiven():
                self.advice = event
            case ev.GaveUp():
                self.gave_up = event
            case _:
                return False
        return True

    def _apply_time(self, event: ev.AnyEvent, at_s: float) -> bool:
        match event:
            case ev.Paused():
                self.left_s = self.left_now_s
                self.paused = True
            case ev.Resumed():
                self.left_at_s, self.paused = at_s, False
            case ev.MeasuredAtOnce():
                self.left_s, self.left_at_s = event.remaining_s, at_s
            case ev.BudgetExtended():
                self.budget_s += event.by_s
                self.left_s, self.left_at_s = event.left_s, at_s
            case _:
                return False
        return True

    def _apply_search(self, event: ev.AnyEvent, at_s: float) -> bool:
        match event:
            case ev.StageStarted():
                self.stages.append(
                    StageModel(
                        name=event.stage,
                        subject=event.subject,
                        budget_s=event.budget_s,
                        began_s=at_s,
                        space=event.space,
                    )
                )
            case ev.ConnectionsFound():
                self.connections = event
            case ev.EvidenceFound():
                self.evidence.pop(event.stage, None)
                self.evidence[event.stage] = event.evidence
            case _:
                return self.stage is not None and _apply_to_stage(self.stage, event, at_s)
        return True

    def _apply_probe(self, event: ev.AnyEvent, at_s: float) -> None:
        match event:
            case ev.Waiting():
                self.waiting_ahead = event.ahead
            case ev.ProbeStarted():
                self.waiting_ahead = 0
                self.probes.append(
                    ProbeModel(
                        ordinal=event.ordinal,
                        stage=event.stage,
                        purpose=event.purpose,
                        subject=event.subject,
                        setting=event.setting,
                        label=event.label,
                        began_s=at_s,
                    )
                )
            case ev.IntervalSeen():
                if self.running:
                    self.running.curve.append((event.end_s, event.throughput_bps))
            case ev.ProbeEnded():
                self._end_probe(event, at_s)
            case ev.BestChanged():
                self.best = event

    def _end_probe(self, event: ev.ProbeEnded, at_s: float) -> None:
        self.left_s, self.left_at_s = event.remaining_s, at_s
        probe = self.running
        if probe is None:
            return
        probe.ended_s, probe.outcome, probe.retried = at_s, event.result, event.retried
        if event.retried:
            # The second attempt has no start event of its own.
            again = ProbeModel(
                ordinal=probe.ordinal,
                stage=probe.stage,
                purpose=probe.purpose,
                subject=probe.subject,
                setting=probe.setting,
                label=probe.label,
                began_s=at_s,
            )
            self.probes.append(again)
