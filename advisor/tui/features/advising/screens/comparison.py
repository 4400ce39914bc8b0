"""Comparison: the results of the session beside the history and the untuned default."""

from collections.abc import Iterable

from textual.content import Content
from textual.widget import Widget

from advisor.domain.advice import Advice, Contender, role_words
from advisor.domain.events import PastResult
from advisor.domain.file_io import PARTS
from advisor.domain.quantities import format_rate
from advisor.report.composition import composition_lines
from advisor.traits import describe, subject_name, transport_traits, transports
from advisor.tui.features.advising.outcome_words import (
    brief_setting,
    cautions,
    dotted_setting,
    gain_words,
    verdict_words,
)
from advisor.tui.features.advising.screens.outcome_step import OutcomeStep, bulleted, heading
from advisor.tui.features.advising.session_model import ProbeModel, SessionModel
from advisor.tui.kit.charts.interval_bars import Bar, BarKind, IntervalBars
from advisor.tui.kit.sentences import capitalised, count_words, sentence
from advisor.tui.kit.static import Static
from advisor.tui.kit.times import age_words
from advisor.tui.screens import screen_named


def short_role(role: str, subject: str) -> str:
    """A role as a name on a screen, without its noun; a profiled tool has a default of its own."""
    if role == "default" and subject in transports():
        return "Untuned"
    name = role_words(role).removesuffix(" default").removesuffix(" setting")
    return capitalised(name)


class ComparisonScreen(OutcomeStep):
    """One row for each setting, on one axis, and which differences are significant."""

    NAME = "Compare"
    STEP = "comparison"
    HELP = (
        "[b]Comparison[/b] The settings of the closing comparison, and what was known before. "
        "They were measured in turn within the same minutes, so that changes of the network "
        "affect all alike. The verdict compares each with the advised one. Where there is no "
        "clear difference to the best, the cheapest is advised: by transport, then by streams, "
        "then by buffers."
    )
    DEFAULT_CSS = "ComparisonScreen #decided { height: auto; margin-bottom: 1; }"
    EMPTY = (
        "There is nothing to compare yet. Go from [b]Where[/b] to [b]Profile[/b] (Ctrl+P lists "
        "the steps), or open a past session with Review."
    )

    def outcome(self, model: SessionModel) -> Iterable[Widget]:
        bars = compared(model)
        if not bars:
            if model.gave_up:
                yield Static(Content(f"The session gave no advice: {model.gave_up.message}."))
            return
        yield Static(_decided(model), id="decided")
        yield IntervalBars(bars)
        yield from self.past_transfers(model)
        if model.advice:
            yield heading("Why")
            yield Static(bulleted(reasons_in_words(model, model.advice)), id="reasons")
        if model.advice and (composition := model.advice.composition):
            yield heading("Disks and network")
            first, *parts = composition_lines(composition)
            yield Static(Content(sentence(first)), id="composition")
            yield Static(bulleted(part.removeprefix("- ") for part in parts))

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
    past = (_past_bar(r, model.advice) for r in model.past if r.subject not in PARTS)
    single = (probe_bar(probe) for probe in best_probes(model) if not _is_judged(model, probe))
    # The best of each subject, or a setting from history, may be a contender already.
    return bars + list(past) + [bar for bar in single if bar.detail not in known]


def _is_judged(model: SessionModel, probe: ProbeModel) -> bool:
    """Whether the contenders cover it: they rate the whole dataset, a probe only a part."""
    if model.files is None or model.advice is None:
        return False
    return bool(model.advice.contenders) and probe.subject == model.files.tool


def contender_bars(model: SessionModel, prefix: str = "") -> list[Bar]:
    """One bar for each contender of the session's advice; none without advice."""
    advice = model.advice
    if advice is None:
        return []
    advised = next((one for one in advice.contenders if _is_advised(one, advice)), None)
    return [_contender_bar(contender, advised, prefix) for contender in advice.contenders]


def _is_advised(one: Contender | PastResult, advice: Advice) -> bool:
    return describe(one.subject, one.setting) == describe(advice.subject, advice.setting)


def _contender_bar(contender: Contender, advised: Contender | None, prefix: str) -> Bar:
    kind: BarKind = "default" if "default" in contender.role else "measured"
    is_advised = contender is advised
    name = "Advised" if is_advised else short_role(contender.role, contender.subject)
    return Bar(
        name=f"{prefix}{name}",
        detail=describe(contender.subject, contender.setting),
        brief=brief_setting(contender.subject, contender.setting),
        value_bps=contender.throughput.value,
        interval_bps=contender.throughput.interval,
        kind="advised" if is_advised else kind,
        verdict=verdict_words(contender, advised),
        colour=transport_traits(contender.subject).colour,
    )


def best_probes(model: SessionModel) -> list[ProbeModel]:
    """The best single probe of each subject, and of the default, in order of time.

    Probes of disks are excluded: they move nothing to the other host.
    """
    best: dict[str, ProbeModel] = {}
    for probe in (p for p in model.probes if p.subject not in PARTS):
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
    name = short_role(probe.label, probe.subject) if untuned else found
    return Bar(
        name=f"{prefix}{name}",
        detail=describe(probe.subject, probe.setting),
        brief=brief_setting(probe.subject, probe.setting),
        value_bps=probe.throughput_bps or 0.0,
        kind="default" if untuned else "measured",
        verdict="one probe",
        colour=transport_traits(probe.subject).colour,
    )


def _past_bar(result: PastResult, advice: Advice | None) -> Bar:
    """The bar of a stored result, which is the advised one where nothing was measured."""
    taken = advice is not None and advice.basis == "history" and _is_advised(result, advice)
    return Bar(
        name="Advised" if taken else "History",
        detail=describe(result.subject, result.setting),
        brief=brief_setting(result.subject, result.setting),
        value_bps=result.throughput_bps,
        kind="advised" if taken else "past",
        verdict=f"{age_words(result.age_s)} old, {count_words(result.probes, 'probe')}",
        colour=transport_traits(result.subject).colour,
    )


def _decided(model: SessionModel) -> Content:
    advice = model.advice
    if advice is None:
        end = model.gave_up
        if end:
            return Content(f"The session gave no advice: {end.message}. What it measured:")
        return Content(
            "The session is running: these are single probes, differences may be noise. The "
            "reasons are shown when the closing comparison has ended."
        )
    parts = [
        Content.styled(f"✔ {dotted_setting(advice.subject, advice.setting)}", "bold $advised"),
        Content.styled(format_rate(advice.expected_bps), "bold"),
        Content(gain_words(advice)),
    ]
    line = Content("    ").join(part for part in parts if part)
    return Content("\n").join([line, *(Content.styled(w, "$act") for w in cautions(advice))])


def reasons_in_words(model: SessionModel, advice: Advice) -> list[str]:
    """Why this advice: the session's own reasons, and what they do not say on other transports."""
    is_measured = advice.basis == "measured" and model.files is None
    others = transports() if is_measured else []
    other_transports = [
        line
        for other in others
        if other != advice.subject
        for line in _of_other(model, other, advice)
    ]
    return [*advice.reasons, *other_transports]


def _of_other(model: SessionModel, subject: str, advice: Advice) -> list[str]:
    """What became of a transport that is not advised, unless the reasons say it."""
    name = subject_name(subject)
    lines = [
        f"{stage.name} ended: {stage.reason}"
        for stage in model.stages
        if stage.reason and stage.subject == subject and stage.name != "confirm"
    ]
    if any(name in reason for reason in advice.reasons):
        return lines
    rates = [p.throughput_bps for p in model.probes if p.subject == subject]
    best_bps = max((rate for rate in rates if rate), default=None)
    if best_bps is not None:
        return [f"{name} reached {format_rate(best_bps)} at best", *lines]
    if rates:
        return [f"No probe of {name} succeeded", *lines]
    return [f"{name} was not measured in this session", *lines]
