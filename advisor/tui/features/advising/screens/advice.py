"""Advice: command lines, expected throughput, and limits."""

import pydoc
import signal
import time
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import msgspec
from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.markup import escape
from textual.widget import Widget
from textual.widgets import Static

from advisor.domain.advice import Advice, Estimate
from advisor.domain.printable import printable_lines
from advisor.domain.quantities import format_duration, format_rate, format_rates
from advisor.domain.records import AdviceRecord, ProbeRecord
from advisor.domain.shell import shell_line
from advisor.report.composition import verdict
from advisor.report.markdown import markdown_text
from advisor.report.script import script_text
from advisor.report.text import advice_text
from advisor.store.errors import StoreError
from advisor.store.remarks import session_of
from advisor.traits import describe
from advisor.tui.features.advising.screens.outcome_step import OutcomeStep, heading
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.command_card import CommandCard, LineCard, RemedyCard
from advisor.tui.features.advising.widgets.composition_bars import CompositionBars
from advisor.tui.features.advising.widgets.flow_lines import FlowLines
from advisor.tui.features.history.remarks import ask_for_transfer
from advisor.tui.features.transfer.draft import of_session
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.copying import clipboard
from advisor.tui.kit.dialogs.save import Format, SaveScreen
from advisor.tui.kit.open_history import OpenHistory
from advisor.tui.screens import screen_named


class AdviceScreen(OutcomeStep):
    """What to run, the expected result, and ways to copy and save it."""

    NAME = "Advice"
    STEP = "advice"
    HELP = (
        "[b]Advice[/b] Each frame holds one line to run, and says on which host. Tab goes from "
        "one to the next, C copies the focused one. Rates from memory to memory may exceed what "
        "the disks allow; rates from disk to disk were measured with files. Nothing is lost by "
        "leaving: the advice is stored, and Review shows it again."
    )
    EMPTY = (
        "There is no advice yet. Let a session finish first (step [b]Profile[/b]), or open a "
        "past session with Review."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c", "copy", "Copy line", id="copy"),
        Binding("s", "save", "Save", id="save"),
        Binding("o", "pager", "Pager", id="pager"),
        Binding("m", "move", "Move it now", id="move-it"),
        Binding("t,T", "record", "Record transfer", show=False, id="record"),
    ]
    DEFAULT_CSS = """
    AdviceScreen #facts { height: auto; }
    AdviceScreen #flow-lines { height: 14; }
    """

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        # This is the last step.
        return action != "next"

    def action_home(self) -> None:
        self.advisor.action_home()

    def outcome(self, model: SessionModel) -> Iterable[Widget]:
        advice = model.advice
        if advice is None:
            if model.gave_up:
                yield Static(f"The session gave no advice: {escape(model.gave_up.message)}.")
            return
        yield Static("\n".join(facts(advice)), id="facts")
        yield from self.past_transfers(model)
        yield heading("Run" if advice.commands else "No tool here can be run with this setting")
        for command in advice.commands:
            yield CommandCard(command)
        yield from self._composition(model, advice)
        if advice.limits:
            yield heading("Present limits, and what lifts them")
        for limit in advice.limits:
            yield RemedyCard(limit)

    def _composition(self, model: SessionModel, advice: Advice) -> Iterable[Widget]:
        """The chart of disks and network, where files were moved."""
        if advice.composition is None:
            return
        yield heading("Disks and network")
        yield CompositionBars(advice, drawing=self.advisor.drawing)
        lines = FlowLines(model, advice.composition)
        if lines.series:
            chart = Chart("By flows or threads at once", id="flow-lines")
            chart.show(
                lines.series,
                lines.levels,
                x_label="streams, flows or threads at once",
                y_label="throughput",
                x_range=(0.0, float(len(lines.x_ticks))),
                x_ticks=lines.x_ticks,
            )
            yield chart

    def _advice(self) -> Advice | None:
        """The advice; the user is told if there is none."""
        advice = self.model.advice if self.model else None
        if advice is None:
            self.advisor.refuse("there is no advice yet: let a session finish first")
        return advice

    def action_copy(self) -> None:
        """Copy the focused line, or the first one."""
        card = self.focused
        if not isinstance(card, LineCard):
            card = next(iter(self.query(LineCard)), None)
        if card is None:
            self.advisor.refuse("there is no line to copy: let a session finish first")
            return
        try:
            said = clipboard.copy(self.advisor, card.line)
        except ValueError as error:
            self.advisor.refuse(str(error))
        else:
            self.notify(said, title=card.title)

    def action_save(self) -> None:
        """Ask for a format and a file name."""
        if advice := self._advice():
            history, model = self.advisor.history, self.model
            formats = [
                Format(
                    name="Shell script", suffix=".sh", data=lambda: _encoded(script_text(advice))
                ),
                Format(name="JSON", suffix=".json", data=lambda: _as_json(advice)),
                Format(
                    name="Markdown", suffix=".md", data=lambda: _as_markdown(advice, model, history)
                ),
            ]
            dialog = SaveScreen("the advice", f"advice-{advice.session[:15]}", formats)
            self.app.push_screen(dialog, self._tell_where)

    def _tell_where(self, path: Path | None) -> None:
        if path is not None:
            run = f" Run it with: {shell_line(['sh', str(path)])}" if path.suffix == ".sh" else ""
            self.notify(f"{path}.{run}", title="Saved")

    def action_pager(self) -> None:
        """Show the whole advice as text in the user's pager."""
        advice = self._advice()
        if advice is None:
            return
        text = printable_lines(advice_text(advice, self.size.width))
        try:
            with self.app.suspend():
                # Ctrl-C in the pager is for the pager.
                before = signal.signal(signal.SIGINT, signal.SIG_IGN)
                try:
                    pydoc.pager(text)
                finally:
                    signal.signal(signal.SIGINT, before)
        except SuspendNotSupported:
            self.advisor.refuse("a pager cannot run in this terminal: save the advice instead")

    def action_move(self) -> None:
        """Open the form of a tuned transfer that starts with the advised setting."""
        if self.advisor.is_moving:
            self.advisor.refuse("files are being moved already: f at home shows them")
        elif advice := self._advice():
            self._fill_in(advice)

    @work(thread=True, exclusive=True)
    def _fill_in(self, advice: Advice) -> None:
        try:
            with self.advisor.history.store() as store:
                move = of_session(store, advice)
        except StoreError as error:
            self.app.call_from_thread(self.advisor.refuse, str(error))
            return
        self.app.call_from_thread(lambda: self.advisor.open(screen_named("move", move)))

    def action_record(self) -> None:
        """Ask for the result of the real transfer."""
        if advice := self._advice():
            ask_for_transfer(self.advisor, advice)


def facts(advice: Advice) -> list[str]:
    """The setting and what to expect, one line of markup each."""
    ends = "from disk to disk" if advice.composition else "from memory to memory"
    lines = [
        f"[b]Use[/b]     {escape(describe(advice.subject, advice.setting))}",
        f"[b]Expect[/b]  {format_rate(advice.expected_bps)}; nine of ten transfers give "
        f"{format_rates(*advice.interval_bps)}, {ends}",
    ]
    if advice.transfer_s:
        low, high = advice.transfer_s.interval
        disks = "" if advice.composition else ", if no disk limits it"
        lines.append(
            f"[b]Takes[/b]   {format_duration(advice.transfer_s.value)} (90 %: "
            f"{format_duration(low)} to {format_duration(high)}){disks}"
        )
    else:
        lines.append(
            "[b]Takes[/b]   [dim]unknown: enter in step What how much is to be moved[/dim]"
        )
    if advice.gain and advice.default_bps is not None:
        over = "by its default setting" if advice.composition else "untuned"
        lines.append(f"[b]Gain[/b]    {_gain_words(advice.gain, advice.default_bps, over)}")
    if advice.composition:
        lines.append(f"[b]Limit[/b]   {escape(verdict(advice.composition))}")
    if advice.incomplete:
        lines.append("[$act]The session was cut short: this is the best so far.[/]")
    if advice.basis == "history":
        lines.append("[$act]From history: nothing was measured.[/]")
    return lines


def _gain_words(gain: Estimate, default_bps: float, over: str) -> str:
    """The gain in words; `over`: what the default is."""
    low, high = gain.interval
    rate = format_rate(default_bps)
    if low == high == 1:
        return f"none: what comes {over}, {rate}, is as good as anything measured"
    sure = "" if low > 1 or high < 1 else ": not certain, since the interval contains 1.00"
    return f"× {gain.value:.2f} over {rate} {over} (90 %: {low:.2f} to {high:.2f}{sure})"


def _encoded(text: str) -> bytes:
    return text.encode(errors="surrogateescape")


def _as_json(advice: Advice) -> bytes:
    return msgspec.json.format(msgspec.json.encode(advice), indent=2) + b"\n"


def _as_markdown(advice: Advice, model: SessionModel | None, history: OpenHistory) -> bytes:
    """As Markdown, with the measurements behind it from the store."""
    with history.store() as store:
        records = [r for r in store.records(advice.pair) if session_of(r) == advice.session]
    probes = [r for r in records if isinstance(r, ProbeRecord)]
    given = [r.recorded_s for r in records if isinstance(r, AdviceRecord)]
    recorded_s = max(given, default=time.time())
    return _encoded(markdown_text(advice, recorded_s, probes, model.path if model else None))
