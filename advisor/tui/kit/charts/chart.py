"""The one chart of all screens: series and levels over time, with axes that do not jump."""

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace
from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.theme import Theme
from textual.widget import Widget

from advisor.tui.kit.charts.legend import legend
from advisor.tui.kit.charts.painter import Painter
from advisor.tui.kit.charts.picture import RATE, Picture
from advisor.tui.kit.charts.plot import Plot
from advisor.tui.kit.charts.series import Level, Series, VerticalLine
from advisor.tui.kit.charts.theme_style import theme_style
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.static import Static

_AROUND_TITLE: Final = 10
"""Columns of the title line that neither title nor legend may take."""


class Chart(Titled, Widget, can_focus=True):
    """`show` may be called often: nothing is redrawn unless the data changed.

    Zero is at the bottom. Within one chart the axes only grow, in steps; `restart` resets them.
    `unit`: of the ys; rates are given in bit/s and labelled in a suitable multiple. The legend is
    in the title line where there is room, else below the chart.
    """

    DEFAULT_CSS = (
        f"Chart {{ {PANEL_CSS} }}"
        + """
    Chart {
        height: 1fr; min-height: 7; padding: 0 1;
        border-subtitle-color: $foreground-muted; border-subtitle-align: right;
    }
    Chart > Plot { height: 1fr; }
    Chart > #key { height: 1; text-wrap: nowrap; text-overflow: ellipsis; display: none; }
    """
    )

    def __init__(
        self,
        title: str = "",
        *,
        unit: str = RATE,
        id: str | None = None,  # noqa: A002  # as every widget of Textual has it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._given_title, self._given_value = Content(""), Content("")
        self._key = self._key_below = Content("")
        self.picture = Picture(unit=unit)
        self._drawn: object = None
        self.set_title(title)

    def compose(self) -> ComposeResult:
        yield Plot()
        yield Static(id="key")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._retheme)
        self._draw()

    @on(Plot.Resize)
    def _redraw(self) -> None:
        self._draw()

    def restart(self) -> None:
        """Reset the axes: what is shown next is unrelated."""
        self.picture = replace(self.picture, x_range=(0.0, 0.0), y_top=0.0)

    def show(
        self,
        series: Iterable[Series],
        levels: Iterable[Level] = (),
        *,
        x_label: str,
        y_label: str,
        verticals: Iterable[VerticalLine] = (),
        x_range: tuple[float, float] | None = None,
        y_top: float | None = None,
        x_ticks: Iterable[tuple[float, str]] = (),
    ) -> None:
        """Draw these. `x_range` and `y_top` fix an axis, instead of deriving it from the data.

        `x_ticks`: positions on the x axis from left to right with their labels, of which as many as
        fit are shown; default: round numbers.
        """
        before = self.picture
        shown = replace(
            before,
            series=tuple(series),
            levels=tuple(levels),
            verticals=tuple(verticals),
            x_label=x_label,
            y_label=y_label,
            x_ticks=tuple(x_ticks),
        )
        self.picture = replace(
            shown,
            x_range=x_range or (0.0, shown.x_end(before.x_range[1])),
            y_top=y_top or shown.y_end(before.y_top),
        )
        self._draw()

    @property
    def HELP(self) -> Content:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """The present chart as text, for people who cannot see it."""
        return self.explained(self.picture.summary)

    def explained(self, *lines: str) -> Content:
        """Lines of text below the title, for the help of a chart."""
        title = Content.styled(self.title, "bold")
        return Content.assemble(title, *(f"\n{line}" for line in lines))

    def _retheme(self, _: Theme) -> None:
        self._drawn = None
        self._draw()

    def set_title(self, title: str | Content, value: str | Content = "") -> None:
        """`value`: how it stands now; the legend then is below the chart."""
        self._given_title = Content(title) if isinstance(title, str) else title
        self._given_value = Content(value) if isinstance(value, str) else value
        self._place_key()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        plot = self.query_one(Plot)
        wanted = (self.picture, plot.size)
        if wanted == self._drawn or not plot.size.area:
            return
        self._drawn = wanted
        with plot.drawing():
            drawing = getattr(self.app, "drawing", "braille")
            unnamed = Painter(plot, self.picture, self._style, drawing).paint()
        self._key = legend(self.picture.series, unnamed, self.app.theme_variables)
        self._place_key()
        self.border_subtitle = Content(self.picture.x_label)

    def _place_key(self) -> None:
        """Put the legend into the title line, or below the chart."""
        room = self.outer_size.width - self._given_title.cell_length - _AROUND_TITLE
        is_above = not self._given_value and self._key.cell_length <= room
        value = self._key if is_above else self._given_value
        super().set_title(self._given_title, value)
        below = Content("") if is_above else self._key
        if self.is_mounted and not below.is_same(self._key_below):
            self._key_below = below
            key = self.query_one("#key", Static)
            key.display = bool(below)
            key.update(below, layout=False)

    def _style(self, colour: str) -> str:
        return theme_style(self.app.theme_variables, colour)
