"""A tuned transfer as it stands, live or past: throughput over setting over time, and its log.

Laid out as figures 5, 6 and 8 of Balaprakash et al. (2016): one time axis, upright lines where the
external load changed.
"""

from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.containers import Vertical

from advisor.tui.moving_story import MovingStory
from advisor.tui.widgets.chart import Chart
from advisor.tui.widgets.moving_curves import (
    Clock,
    clock_of,
    load_marks,
    setting_series,
    throughput_series,
)
from advisor.tui.widgets.moving_log import MovingLog
from advisor.tui.widgets.panel_view import PanelView

PANELS: Final = ("throughput", "setting", "log")
"""By number, from 1."""

_TITLES: Final = {
    "throughput": "Throughput at the destination",
    "setting": "Setting",
    "log": "What happened",
}

_BOTH_CHARTS_FROM: Final = 20
_LOG_BELOW_FROM: Final = 24
_LOG_BESIDE_FROM: Final = 150


class MovingView(PanelView):
    """`show` a story as often as you like: what has not changed is not drawn again."""

    NAMES = PANELS
    HELP: ClassVar[str | None] = """[b]The transfer[/b]
1 throughput · 2 the setting: files at a time, and streams for each · 3 what happened.
The numbers show one of them alone, 0 shows all again, as far as there is room. Both charts have the
same time axis: what the throughput does after a step of the setting came of it, or of an external
load, which is marked by an upright line where it is known."""
    DEFAULT_CSS = """
    MovingView { height: 1fr; layout: vertical; }
    MovingView > Vertical { height: 1fr; }
    MovingView #throughput { height: 5fr; }
    MovingView #setting { height: 4fr; }
    MovingView > #log { display: none; height: 8; }
    MovingView.log-below > #log { display: block; }
    MovingView.log-beside { layout: horizontal; }
    MovingView.log-beside > Vertical { width: 1fr; }
    MovingView.log-beside > #log { display: block; width: 56; height: 1fr; margin-left: 1; }
    MovingView.alone { layout: vertical; }
    MovingView.alone .panel, MovingView.log-alone > Vertical { display: none; }
    MovingView.alone .panel.chosen, MovingView.alone > #log.chosen {
        display: block; height: 1fr; width: 1fr; margin: 0;
    }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  # as every widget has it
        super().__init__(id=id)
        self._story: MovingStory | None = None
        self._drawn = -1

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Chart(id="throughput", classes="panel")
            yield Chart(unit="at once", id="setting", classes="panel")
        yield MovingLog(id="log", classes="panel")

    @property
    def _is_single(self) -> bool:
        return self.size.height < _BOTH_CHARTS_FROM

    def _arrange(self) -> None:
        super()._arrange()
        alone = self._is_alone
        beside = self.size.width >= _LOG_BESIDE_FROM
        below = self.size.height >= _LOG_BELOW_FROM and not beside
        self.set_class(alone and self._chosen == "log", "log-alone")
        self.set_class(beside and not alone, "log-beside")
        self.set_class(below and not alone, "log-below")
        for name, title in _TITLES.items():
            more = " (n: what else there is)" if alone else ""
            self.query_one(f"#{name}").border_title = f"{title}{more}"

    def show(self, story: MovingStory) -> None:
        """The story as it stands."""
        if story is self._story and story.version == self._drawn:
            return
        clock = clock_of(story)
        if story is not self._story:
            self._story = story
            for chart in self.query(Chart):
                chart.restart()
        self._drawn = story.version
        self._show_throughput(story, clock)
        self._show_setting(story, clock)
        self.query_one(MovingLog).show(story)

    def _show_throughput(self, story: MovingStory, clock: Clock) -> None:
        self.query_one("#throughput", Chart).show(
            throughput_series(story, clock),
            uprights=load_marks(story, clock),
            x_label=clock.word,
            y_label="throughput",
            x_range=(0.0, clock.end),
        )

    def _show_setting(self, story: MovingStory, clock: Clock) -> None:
        self.query_one("#setting", Chart).show(
            setting_series(story, clock),
            uprights=load_marks(story, clock),
            x_label=clock.word,
            y_label="setting",
            x_range=(0.0, clock.end),
        )
