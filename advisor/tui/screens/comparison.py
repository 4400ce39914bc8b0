"""Comparison: what was measured beside what was known and what comes untuned, and who wins."""

from collections.abc import Iterable
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.markup import escape
from textual.widget import Widget
from textual.widgets import Static

from advisor.domain.events import PastResult
from advisor.domain.file_io import DISKS
from advisor.domain.quantities import format_duration, format_rate
from advisor.domain.space import describe, subject_name
from advisor.report.composition import composition_lines
from advisor.tui.step import Step
from advisor.tui.story import ProbeStory, Story
from advisor.tui.widgets.interval_bars import Bar, IntervalBars, Kind

ROLES: Final = {
    "best": "Best found",
    "rival": "Runner-up",
    "frugal": "Nearly as good, cheaper",
    "default": "Untuned default",
    "globus default": "Globus default",
}
"""What the contenders of an advice are called on screens."""


class OutcomeStep(Step):
    """A step about what a session came to: of `story`, or of the session that runs or ran last."""

    EMPTY: ClassVar[str] = ""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_body(1)", "Down", show=False),
        Binding("up", "scroll_body(-1)", "Up", show=False),
        Binding("pagedown,space", "scroll_body(10)", "Page down", show=False),
        Binding("pageup", "scroll_body(-10)", "Page up", show=False),
        Binding("p", "past", "Past transfers", show=False, id="past-transfers"),
    ]
    DEFAULT_CSS = """
    OutcomeStep #outcome { height: auto; }
    OutcomeStep .heading { text-style: bold; margin-top: 1; }
    OutcomeStep .dim { color: $text-muted; }
    """

    def __init__(self, story: Story | None = None) -> None:
        super().__init__()
        self._past = story
        self._shown: tuple[str, int] | None = None

    @property
    def story(self) -> Story | None:
        """The session's; None where there is no session."""
        if self._past is not None:
            return self._past
        return self.advisor.session.story if self.advisor.session else None

    @property
    def is_of_the_past(self) -> bool:
        """Whether this was opened from the review, and not walked to."""
        return self._past is not None

    def trail(self) -> str:
        if self._past is None:
            return super().trail()
        return f"[b]advisor[/b]  Review › {escape(self._past.session)} › {self.NAME}"

    def action_back(self) -> None:
        if self.is_of_the_past:
            self.advisor.leave()
        else:
            super().action_back()

    def content(self) -> Iterable[Widget]:
        yield Vertical(id="outcome")

    async def on_mount(self) -> None:
        await self._show()
        if not self.is_of_the_past:
            self.every(1.0, self._show)

    async def on_screen_resume(self) -> None:
        await self._show()

    async def _show(self) -> None:
        """Build what is seen anew, when there is something new."""
        story = self.story
        # Only these change what is said here; a probe's intervals do not.
        ended = sum(probe.ended_s is not None for probe in story.probes) if story else 0
        now = (story.session, ended + story.is_over) if story else ("", -1)
        if now == self._shown or not self.is_current:
            return
        self._shown = now
        outcome = self.query_one("#outcome", Vertical)
        await outcome.remove_children()
        parts = list(self.outcome(story)) if story else []
        await outcome.mount_all(parts or [Static(self.EMPTY)])

    def outcome(self, story: Story) -> Iterable[Widget]:
        """What is to be seen; nothing where it is too early."""
        return ()

    def past_transfers(self, story: Story) -> Iterable[Widget]:
        """A line on them, where the method asked them."""
        if story.evidence:
            newest = list(story.evidence.values())[-1]
            went_by = f"{newest.similar} of {newest.known}" if newest.similar else "no"
            yield Static(
                f"The search went by {went_by} past transfers: [b]p[/b] shows what they say.",
                id="past-transfers",
            )

    def action_past(self) -> None:
        """What past transfers say, where the method asks them."""
        from advisor.tui.screens.evidence import open_evidence

        open_evidence(self.advisor, self.story)


def heading(words: str) -> Static:
    """The line above a part of the screen."""
    return Static(words, classes="heading")


class ComparisonScreen(OutcomeStep):
    """Bars on one axis, and in words which differences are real."""

    NAME = "Compare"
    STEP = "comparison"
    HELP = (
        "[b]Comparison[/b] All that met at the end of the session, and what was known before. They "
        "were measured in turn, in the same minutes, so that the network's ups and downs hit all "
        "alike. Two settings count as the same unless the data tell them apart; of those that are "
        "the same as the best, the cheapest is advised: TCP before UDT, then fewer streams, then "
        "smaller buffers."
    )
    EMPTY = (
        "There is nothing to compare yet. Walk on from [b]Where[/b] to [b]Profile[/b] (Ctrl+P lists"
        " the steps), or open a past session with Review."
    )

    def outcome(self, story: Story) -> Iterable[Widget]:
        bars = compared(story)
        if not bars:
            if story.gave_up:
                yield Static(f"The session gave no advice: {escape(story.gave_up.message)}.")
            return
        yield Static(_decided(story), id="decided")
        yield from self.past_transfers(story)
        yield IntervalBars(bars, drawing=self.advisor.drawing)
        yield heading("Which differences are real")
        if not story.advice or not story.advice.reasons:
            yield Static("[dim]That is told when the closing comparison has ended.[/dim]")
        else:
            yield Static("\n".join(f"• {escape(r)}" for r in story.advice.reasons), id="reasons")
        if story.advice and (composition := story.advice.composition):
            yield heading("Disks and network")
            lines = (escape(line) for line in composition_lines(composition))
            yield Static("\n".join(lines), id="composition")
        elif story.files is None:
            yield heading("TCP or UDT")
            yield Static("\n".join(transports_in_words(story)), id="transports")

    def why_not_next(self) -> str:
        if self.story is None or self.story.advice is None:
            return "there is no advice yet: let a session come to its end first (step Profile)"
        return ""

    def action_next(self) -> None:
        if not (reason := self.why_not_next()) and self.is_of_the_past:
            from advisor.tui.screens.advice import AdviceScreen

            self.advisor.open(AdviceScreen(self.story))
        elif reason:
            self.advisor.refuse(reason)
        else:
            super().action_next()


def compared(story: Story) -> list[Bar]:
    """All bars of a session: its contenders, history, and the best of what did not get so far."""
    bars = contender_bars(story)
    known = {bar.detail for bar in bars}
    past = (_past_bar(result) for result in story.past if result.transport not in DISKS)
    single = (probe_bar(probe) for probe in best_probes(story) if not _is_judged(story, probe))
    # Two transports' best may be contenders already, and so may be a setting of history.
    return bars + list(past) + [bar for bar in single if bar.detail not in known]


def _is_judged(story: Story, probe: ProbeStory) -> bool:
    """Whether contenders say what it is worth for all files; its own rate is that of a part."""
    if story.files is None or story.advice is None:
        return False
    return bool(story.advice.contenders) and probe.transport == story.files.tool


def contender_bars(story: Story, prefix: str = "") -> list[Bar]:
    """One for each contender of the session's advice; none without an advice."""
    if story.advice is None:
        return []
    advice = story.advice
    bars = []
    for contender in advice.contenders:
        detail = describe(contender.transport, contender.setting)
        advised = detail == describe(advice.transport, advice.setting)
        kind: Kind = "default" if "default" in contender.role else "measured"
        name = ROLES.get(contender.role, contender.role)
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


def best_probes(story: Story) -> list[ProbeStory]:
    """The best single probe of each transport, and of the default, by the order they came in.

    Disks are not among them: they move nothing to the other host.
    """
    best: dict[str, ProbeStory] = {}
    for probe in (p for p in story.probes if p.transport not in DISKS):
        key = probe.label if probe.purpose == "baseline" else probe.transport
        rate_bps = probe.throughput_bps
        if rate_bps and (key not in best or rate_bps > (best[key].throughput_bps or 0)):
            best[key] = probe
    return list(best.values())


def probe_bar(probe: ProbeStory, prefix: str = "") -> Bar:
    """The bar of a single probe, which has no interval."""
    untuned = probe.purpose == "baseline"
    subject = subject_name(probe.transport)
    found = f"{subject} alone" if probe.label == "alone" else f"Best {subject}"
    name = ROLES.get(probe.label, probe.label) if untuned else found
    return Bar(
        name=f"{prefix}{name}",
        detail=describe(probe.transport, probe.setting),
        value_bps=probe.throughput_bps or 0.0,
        kind="default" if untuned else "measured",
        remark="one probe",
    )


def _past_bar(result: PastResult) -> Bar:
    times = "one probe" if result.probes == 1 else f"{result.probes} probes"
    spread = f", which vary by {result.spread:.0%}" if result.spread is not None else ""
    return Bar(
        name=f"History, {subject_name(result.transport)}",
        detail=describe(result.transport, result.setting),
        value_bps=result.throughput_bps,
        kind="past",
        remark=f"{format_duration(result.age_s)} old, {times}{spread}",
    )


def _decided(story: Story) -> str:
    advice = story.advice
    if advice is None:
        end = story.gave_up
        if end:
            return f"The session gave no advice: {escape(end.message)}. What it measured:"
        return "The session goes on: these are single probes, so differences may be luck."
    cut = " The session was cut short: this is the best so far." if advice.incomplete else ""
    basis = " Taken from history: nothing was measured." if advice.basis == "history" else ""
    return f"Advised: [b]{escape(describe(advice.transport, advice.setting))}[/b].{cut}{basis}"


def transports_in_words(story: Story) -> list[str]:
    """Which transport was decided for and why, from what the session said itself."""
    advice = story.advice
    if advice is None:
        return ["[dim]Not decided yet.[/dim]"]
    lines = [f"Decided: [b]{subject_name(advice.transport)}[/b]."]
    for other in ("tcp", "udt"):
        if other == advice.transport:
            continue
        about = [r for r in advice.reasons if subject_name(other) in r]
        rates = [p.throughput_bps for p in story.probes if p.transport == other]
        best_bps = max((rate for rate in rates if rate), default=None)
        if about:
            lines += [f"• {escape(reason)}" for reason in about]
        elif best_bps is not None:
            lines.append(f"• {subject_name(other)} reached {format_rate(best_bps)} at best")
        elif rates:
            lines.append(f"• No probe of {subject_name(other)} succeeded")
        else:
            lines.append(f"• {subject_name(other)} was not measured in this session")
        lines += _ends(story, other)
    return lines


def _ends(story: Story, transport: str) -> list[str]:
    return [
        f"• [dim]{escape(stage.name)} ended: {escape(stage.reason)}[/dim]"
        for stage in story.stages
        if stage.reason and stage.transport == transport and stage.name != "confirm"
    ]
