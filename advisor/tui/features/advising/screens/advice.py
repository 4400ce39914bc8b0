"""Advice: command lines, expected throughput, and limits."""

import pydoc
import signal
import time
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import ClassVar, Final

from textual import work
from textual.app import SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget

from advisor.domain.advice import Advice, Command
from advisor.domain.printable import printable_lines
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.shell import shell_line
from advisor.report.advice_formats import FORMATS, AdviceFormat, encoded, exported
from advisor.report.composition import verdict
from advisor.report.connections import at_once_lines
from advisor.report.text import advice_text
from advisor.store.errors import StoreError
from advisor.tui.features.advising.outcome_words import (
    cautions,
    dotted_setting,
    gain_words,
    interval_words,
)
from advisor.tui.features.advising.screens.outcome_step import OutcomeStep, bulleted, heading
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.features.advising.widgets.command_card import CommandCard, LineCard
from advisor.tui.features.advising.widgets.composition_bars import CompositionBars
from advisor.tui.features.advising.widgets.flow_lines import FlowLines
from advisor.tui.features.advising.widgets.limits_panel import LimitsPanel
from advisor.tui.features.advising.widgets.tool_lines import ToolLines
from advisor.tui.features.history.remarks import ask_for_transfer
from advisor.tui.features.transfer.draft import of_session
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.copying import clipboard
from advisor.tui.kit.dialogs.save import Format, SaveScreen
from advisor.tui.kit.from_thread import draw_from_thread
from advisor.tui.kit.open_history import OpenHistory
from advisor.tui.kit.sentences import capitalised, sentence
from advisor.tui.kit.static import Static
from advisor.tui.screens import screen_named

_MORE_S: Final = 30


class AdviceScreen(OutcomeStep):
    """What to run, the expected result, and ways to copy and save it."""

    NAME = "Advice"
    STEP = "advice"
    HELP = (
        "[b]Advice[/b] Each frame holds one line to run, and says on which host. Tab and the "
        "arrows go from one to the next, enter shows more of it, c copies it. Rates from memory to "
        "memory may exceed what "
        "the disks allow; rates from disk to disk were measured with files. Nothing is lost by "
        "leaving: the advice is stored, and Review shows it again."
    )
    EMPTY = (
        "There is no advice yet. Let a session finish first (step [b]Profile[/b]), or open a "
        "past session with Review."
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "card(1)", "Next card", show=False),
        Binding("up", "card(-1)", "Previous card", show=False),
        Binding("c", "copy", "Copy line", id="copy"),
        Binding("s", "save", "Save", id="save"),
        Binding("o", "pager", "Pager", id="pager"),
        Binding("m", "move", "Move it now", id="move-it"),
        Binding("e", "extend", "+30 s", id="extend", tooltip="Measure 30 s more"),
        Binding("t,T", "record", "Record transfer", show=False, id="record"),
    ]
    DEFAULT_CSS = """
    AdviceScreen #facts { height: auto; margin-bottom: 1; padding: 0 1; }
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
                yield Static(Content(f"The session gave no advice: {model.gave_up.message}."))
            return
        yield Static(headline(advice), id="facts")
        yield from self.past_transfers(model)
        if advice.at_once:
            yield heading("Several networks")
            yield Static(bulleted(map(sentence, at_once_lines(advice.at_once))))
        if not advice.commands:
            yield heading("No tool here can be run with this setting")
        yield from _tools(advice.commands)
        if advice.limits:
            yield LimitsPanel(advice.limits)
        yield from self._composition(model, advice)

    def _composition(self, model: SessionModel, advice: Advice) -> Iterable[Widget]:
        """The chart of disks and network, where files were moved."""
        if advice.composition is None:
            return
        yield heading("Disks and network")
        yield CompositionBars(advice)
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
        """The advice; the user is notified if there is none."""
        advice = self.model.advice if self.model else None
        if advice is None:
            self.advisor.refuse("there is no advice yet: let a session finish first")
        return advice

    def action_card(self, by: int) -> None:
        """Focus the next card or the one before; the screen scrolls along."""
        if by > 0:
            self.focus_next(LineCard)
        else:
            self.focus_previous(LineCard)

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
            self.notify(said, title=card.about)

    def action_save(self) -> None:
        """Ask for a format and a file name."""
        if advice := self._advice():
            history, model = self.advisor.history, self.model
            formats = [
                Format(
                    name=each.name,
                    suffix=each.suffix,
                    data=partial(_written, each, advice, model, history),
                )
                for each in FORMATS.values()
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

    def action_extend(self) -> None:
        """Continue the session that gave this advice for half a minute."""
        if reason := self.advisor.why_no_session():
            self.advisor.refuse(reason)
        elif advice := self._advice():
            if advice.basis == "history":
                self.advisor.refuse("nothing was measured for this advice: start a new session")
                return
            # The application replaces this screen, so it must not be the one on top.
            self.advisor.action_home()
            self.advisor.extend_session(advice.session, _MORE_S)

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
            draw_from_thread(self, self.advisor.refuse, str(error))
            return
        draw_from_thread(self, lambda: self.advisor.open(screen_named("move", move)))

    def action_record(self) -> None:
        """Ask for the result of the real transfer."""
        if advice := self._advice():
            ask_for_transfer(self.advisor, advice)


def _tools(commands: Sequence[Command]) -> Iterable[Widget]:
    """The cards of the first tool, and one line for each of the others."""
    by_tool = [list(group) for _, group in groupby(commands, key=lambda command: command.tool)]
    for command in by_tool[0] if by_tool else []:
        yield CommandCard(command)
    for others in by_tool[1:]:
        yield ToolLines(others)


def headline(advice: Advice) -> Content:
    """What to expect in a line, the setting, and what the figures are of."""
    expected = advice.overall_bps
    rate = Content.styled(format_rate(expected.value), "bold $advised")
    interval = interval_words(expected.value, expected.interval)
    parts = [Content.assemble(rate, (f" {interval}", "$default"))]
    parts += [
        part for part in (duration(advice), Content.styled(gain_words(advice), "bold")) if part
    ]
    over = f"{advice.at_once.best.name} alone: " if advice.at_once else ""
    if advice.at_once and advice.at_once.adds:
        over = f"{len(advice.at_once.parts)} connections at once; {over}"
    ends = "from disk to disk" if advice.composition else "from memory to memory"
    lines = [
        Content.styled(" │ ", "$line").join(parts),
        Content(over + dotted_setting(advice.subject, advice.setting)),
        Content.styled(f"9 in 10 transfers reach a rate in the brackets, {ends}.", "$default"),
        *(Content.styled(caution, "$act") for caution in cautions(advice)),
    ]
    if advice.composition:
        lines.insert(2, Content(capitalised(verdict(advice.composition))))
    return Content("\n").join(lines)


def duration(advice: Advice) -> Content:
    """How long the data takes: at the steady rate alone where only the network was measured."""
    if advice.transfer_s is None:
        return Content.styled("duration: enter a size in step What", "$default")
    total_bytes = round(advice.transfer_s.value * advice.overall_bps.value / 8)
    start = "" if advice.composition else " + start-up"
    return Content.assemble(
        f"{format_bytes(total_bytes)}: ",
        (format_duration(advice.transfer_s.value), "bold"),
        (start, "$default"),
    )


def _written(
    wanted: AdviceFormat, advice: Advice, model: SessionModel | None, history: OpenHistory
) -> bytes:
    """The advice in that format, with the measurements behind it from the store."""
    with history.store() as store:
        records = store.records(advice.pair)
    path = model.path if model else None
    return encoded(wanted.text(exported(records, advice, time.time(), path=path)))
