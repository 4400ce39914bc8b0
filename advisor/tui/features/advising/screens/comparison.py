"""Comparison: the results of the session beside the history and the untuned default."""

from collections.abc import Iterable
from typing import Final

from textual.markup import escape
from textual.widget import Widget
from textual.widgets import Static

from advisor.domain.events import PastResult
from advisor.domain.file_io import DISKS
from advisor.domain.quantities import format_duration, format_rate
from advisor.report.composition import composition_lines
from advisor.traits import describe, subject_name, transports
from advisor.tui.features.advising.screens.outcome_step import OutcomeStep, heading
from advisor.tui.features.advising.session_model import ProbeModel, SessionModel
from advisor.tui.kit.charts.interval_bars import Bar, BarKind, IntervalBars
from advisor.tui.kit.sentences import capitalised
from advisor.tui.screens import screen_named

ROLES: Final = {
    "best": "Best found",
    "rival": "Runner-up",
    "frugal": "Nearly as good, cheaper",
    "default": "Untuned default",
}
"""The names of an advice's contenders on screens."""


def role_words(role: str) -> str:
    """A role as a name on a screen; a tool's own roles begin with a capital."""
    return ROLES.get(role) or capitalised(role)


class ComparisonScreen(OutcomeStep):
    """Bars on one axis, and which differences are significant."""

    NAME = "Compare"
    STEP = "comparison"
    HELP = (
        "[b]Comparison[/b] The candidates of the closing comparison, and what was known before. "
        "They were measured in turn within the same minutes, so that changes of the network "
        "affect all alike. Two settings count as the same unless their difference is significant; "
        "of those that are the same as the best, the cheapest is advised: by transport, then by "
        "streams, then by buffers."
    )
    EMPTY = (
        "There is nothing to compare yet. Go from [b]Where[/b] to [b]Profile[/b] (Ctrl+P lists "
        "the steps), or open a past session with Review."
    )

    def outcome(self, model: SessionModel) -> Iterable[Widget]:
        bars = compared(model)
        if not bars:
            if model.gave_up:
                yield Static(f"The session gave no advice: {escape(model.gave_up.message)}.")
            return
        yield Static(_decided(model), id="decided")
        yield from self.past_transfers(model)
        yield IntervalBars(bars, drawing=self.advisor.drawing)
        yield heading("Which differences are real")
        if not model.advice or not model.advice.reasons:
            yield Static("[dim]Shown when the closing comparison has ended.[/dim]")
        else:
            yield Static("\n".join(f"• {escape(r)}" for r in model.advice.reasons), id="reasons")
        if model.advice and (composition := model.advice.composition):
            yield heading("Disks and network")
            lines = (escape(line) for line in composition_lines(composition))
            yield Static("\n".join(lines), id="composition")
        elif model.files is None:
            yield heading(" or ".join(map(subject_name, transports())))
            yield Static("\n".join(transports_in_words(model)), id="transports")

    def why_not_next(self) -> str:
        if self.model is None or self.model.advice is None:
            return "there is no advice yet: let a session finish first (step Profile)"
        return ""

    def action_next(self) -> None:
        if not (reason := self.why_not_next()) and self.is_of_the_past:
            self.advisor.open(screen_named("advice", self.model))
        elif reason:
            self.advisor.refuse(reason)
        else:
            super().action_next()


def compared(model: SessionModel) -> list[Bar]:
    """All bars of a session: contenders, history, and the best of the other probes."""
    bars = contender_bars(model)
    known = {bar.detail for bar in bars}
    past = (_past_bar(result) for result in model.past if result.subject not in DISKS)
    single = (probe_bar(probe) for probe in best_probes(model) if not _is_judged(model, probe))
    # The best of each subject, or a setting from history, may be a contender already.
    return bars + list(past) + [bar for bar in single if bar.detail not in known]


def _is_judged(model: SessionModel, probe: ProbeModel) -> bool:
    """Whether the contenders cover it: they rate the whole dataset, a probe only a part."""
    if model.files is None or model.advice is None:
        return False
    return bool(model.advice.contenders) and probe.subject == model.files.tool


def contender_bars(model: SessionModel, prefix: str = "") -> list[Bar]:
    """One bar for each contender of the session's advice; none without an advice."""
    if model.advice is None:
        return []
    advice = model.advice
    bars = []
    for contender in advice.contenders:
        detail = describe(contender.subject, contender.setting)
        advised = detail == describe(advice.subject, advice.setting)
        kind: BarKind = "default" if "default" in contender.role else "measured"
        name = role_words(contender.role)
        bars.append(
            Bar(
                name=f"{prefix}{name}{', advised' if advised else ''}",
                detail=detail,
                value_bps=contender.throughput.value,
                interval_bps=contender.throughput.interval,
                kind="advised" if advised else kind,
            )
        )
    return bars


def best_probes(model: SessionModel) -> list[ProbeModel]:
    """The best single probe of each subject, and of the default, in order of time.

    Probes of disks are excluded: they move nothing to the other host.
    """
    best: dict[str, ProbeModel] = {}
    for probe in (p for p in model.probes if p.subject not in DISKS):
        key = probe.label if probe.purpose == "baseline" else probe.subject
        rate_bps = probe.throughput_bps
        if rate_bps and (key not in best or rate_bps > (best[key].throughput_bps or 0)):
            best[key] = probe
    return list(best.values())


def probe_bar(probe: ProbeModel, prefix: str = "") -> Bar:
    """The bar of a single probe, which has no interval."""
    untuned = probe.purpose == "baseline"
    subject = subject_name(probe.subject)
    found = f"{subject} alone" if probe.label == "alone" else f"Best {subject}"
    name = role_words(probe.label) if untuned else found
    return Bar(
        name=f"{prefix}{name}",
        detail=describe(probe.subject, probe.setting),
        value_bps=probe.throughput_bps or 0.0,
        kind="default" if untuned else "measured",
        remark="one probe",
    )


def _past_bar(result: PastResult) -> Bar:
    times = "one probe" if result.probes == 1 else f"{result.probes} probes"
    spread = f", which vary by {result.spread:.0%}" if result.spread is not None else ""
    return Bar(
        name=f"History, {subject_name(result.subject)}",
        detail=describe(result.subject, result.setting),
        value_bps=result.throughput_bps,
        kind="past",
        remark=f"{format_duration(result.age_s)} old, {times}{spread}",
    )


def _decided(model: SessionModel) -> str:
    advice = model.advice
    if advice is None:
        end = model.gave_up
        if end:
            return f"The session gave no advice: {escape(end.message)}. What it measured:"
        return "The session is running: these are single probes, so differences may be noise."
    cut = " The session was cut short: this is the best so far." if advice.incomplete else ""
    basis = " Taken from history: nothing was measured." if advice.basis == "history" else ""
    return f"Advised: [b]{escape(describe(advice.subject, advice.setting))}[/b].{cut}{basis}"


def transports_in_words(model: SessionModel) -> list[str]:
    """Which subject was chosen and why, in the session's own words."""
    advice = model.advice
    if advice is None:
        return ["[dim]Not decided yet.[/dim]"]
    lines = [f"Decided: [b]{escape(subject_name(advice.subject))}[/b]."]
    for other in transports():
        if other == advice.subject:
            continue
        about = [r for r in advice.reasons if subject_name(other) in r]
        rates = [p.throughput_bps for p in model.probes if p.subject == other]
        best_bps = max((rate for rate in rates if rate), default=None)
        if about:
            lines += [f"• {escape(reason)}" for reason in about]
        elif best_bps is not None:
            lines.append(f"• {escape(subject_name(other))} reached {format_rate(best_bps)} at best")
        elif rates:
            lines.append(f"• No probe of {escape(subject_name(other))} succeeded")
        else:
            lines.append(f"• {escape(subject_name(other))} was not measured in this session")
        lines += _ends(model, other)
    return lines


def _ends(model: SessionModel, subject: str) -> list[str]:
    return [
        f"• [dim]{escape(stage.name)} ended: {escape(stage.reason)}[/dim]"
        for stage in model.stages
        if stage.reason and stage.subject == subject and stage.name != "confirm"
    ]
