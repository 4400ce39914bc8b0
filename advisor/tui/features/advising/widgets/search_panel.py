"""The search in words: position, last moves, stopping conditions, and time left."""

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from advisor.domain.quantities import format_duration, format_rate
from advisor.traits import describe
from advisor.tui.features.advising.session_model import SessionModel, StageModel
from advisor.tui.features.advising.widgets.stop_gauges import gauge_lines
from advisor.tui.kit.charts.drawing import ASCII
from advisor.tui.kit.charts.gauge import gauge
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled

_MOVES_SHOWN = 4
_NOTICES = 3


class SearchPanel(Titled, VerticalScroll):
    """`show` a model."""

    HELP: ClassVar[str | None] = """[b]The search[/b]
The search method, its iteration, and why it moved last.
Each bar is one condition for stopping: when a bar is full, this search is over.
The budget is shared: the searches leave enough of it to measure the best settings again."""
    DEFAULT_CSS = (
        f"SearchPanel {{ {PANEL_CSS} }}"
        + """
    SearchPanel { height: 1fr; min-height: 6; }
    SearchPanel { scrollbar-gutter: stable; scrollbar-size-vertical: 1; }
    SearchPanel > Static { height: auto; min-height: 100%; }
    """
    )

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self.set_title("Search")
        self._words, self._rows = "", 0

    def compose(self) -> ComposeResult:
        yield Static()

    def show(self, model: SessionModel) -> None:
        """Update the text, if it changed."""
        words = "\n".join(search_lines(model))
        if getattr(self.app, "drawing", "") == "ascii":
            words = words.translate(ASCII)
        if words != self._words and self.is_mounted:
            # Text, not markup: messages may contain brackets.
            text = Text(words)
            rows = len(text.wrap(self.app.console, max(self.content_size.width, 1)))
            # Layout is expensive: only when the scroll height changes.
            scrolls = max(rows, self._rows) > self.content_size.height
            self.query_one(Static).update(text, layout=scrolls and rows != self._rows)
            self._words, self._rows = words, rows


def search_lines(model: SessionModel) -> list[str]:
    """The lines of the panel."""
    lines = [_time_line(model)]
    if model.best:
        best = model.best
        lines.append(f"best     {format_rate(best.throughput_bps)}: "
                     f"{describe(best.subject, best.setting)}")  # fmt: skip
    if probe := model.running:
        lines.append(f"now      probe {probe.ordinal}: {describe(probe.subject, probe.setting)}")
    if model.waiting_ahead:
        lines.append(f"waiting  another advisor is measuring ({model.waiting_ahead} ahead)")
    if stage := model.stage:
        lines += ["", *_stage_lines(model, stage)]
    if model.notices:
        lines += ["", "Notices", *(f"  {words}" for _, words in model.notices[-_NOTICES:])]
    return lines


def _time_line(model: SessionModel) -> str:
    left_s = model.left_now_s
    share = 1 - left_s / model.budget_s if model.budget_s else 0.0
    words = "paused," if model.paused else f"{format_duration(round(left_s) or 0)} left"
    if model.is_over:
        words = "over,"
    return f"time     {gauge(share)} {words} of {format_duration(round(model.budget_s))}"


def _stage_lines(model: SessionModel, stage: StageModel) -> list[str]:
    lines = [f"stage    {stage.name}{_share_words(model, stage)}"]
    if stage.space:
        lines.append(f"method   {model.method}, round {stage.iteration + 1}")
    if stage.reason:
        lines.append(f"ended    {stage.reason}")
    if stage.gauges:
        lines += ["", "Stops when a bar is full", *gauge_lines(model.method, stage.gauges)]
    moves = [(s.name, why) for s in model.stages for _, why in s.moves][-_MOVES_SHOWN:]
    if moves:
        lines += ["", "Why it moved, newest first"]
        lines += [f"  {name}: {why}" for name, why in reversed(moves)]
    return lines


def _share_words(model: SessionModel, stage: StageModel) -> str:
    if not stage.budget_s:
        return ""
    spent_s = (stage.ended_s or model.at_s) - stage.began_s
    share_s = format_duration(round(stage.budget_s, 1))
    return f": {format_duration(round(max(spent_s, 0.0), 1))} of its {share_s}"
