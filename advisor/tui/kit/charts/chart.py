"""The one chart of all screens: series and levels over time, with axes that do not jump."""

from collections.abc import Iterable

from msgspec.structs import replace
from rich.text import Text
from textual.app import ComposeResult
from textual.events import Resize
from textual.markup import escape
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Static

from advisor.tui.kit.charts.legend import legend
from advisor.tui.kit.charts.painter import Painter
from advisor.tui.kit.charts.picture import RATE, Picture
from advisor.tui.kit.charts.plot import Plot
from advisor.tui.kit.charts.series import Level, Series, VerticalLine
from advisor.tui.kit.charts.theme_style import theme_style
from advisor.tui.kit.panels.titled import PANEL_CSS, Titled


class Chart(Titled, Widget, can_focus=True):
    """`show` may be called often: nothing is redrawn unless the data changed.

    Zero is at the bottom. The axes end at round numbers, and within one chart they only grow;
    `restart` resets them. `unit`: of the ys; rates are given in bit/s and labelled in a suitable
    multiple.
    """

    DEFAULT_CSS = (
        f"Chart {{ {PANEL_CSS} }}"
        + """
    Chart { height: 1fr; min-height: 7; padding: 0; }
    Chart > Plot { height: 1fr; }
    Chart > Plot > .plot--axis { color: $foreground-muted; }
    Chart > Plot > .plot--tick { color: $foreground; text-style: none; }
    Chart > Plot > .plot--label { color: $foreground; text-style: none; }
    Chart > #key { height: auto; max-height: 3; padding: 0 1; }
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
        self.set_title(title)
        self.picture = Picture(unit=unit)
        self._drawn: object = None
        self._key_shown = (Text(), 0)

    def compose(self) -> ComposeResult:
        yield Plot()
        yield Static(id="key")

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, self._retheme)
        self._draw()

    def on_resize(self, _: Resize) -> None:
        self._draw()

    @property
    def _drawing(self) -> str:
        return str(getattr(self.app, "drawing", "braille"))

    def restart(self) -> None:
        """Reset the axes: what is shown next is unrelated."""
        self.picture = replace(self.picture, x_range=(0.0, 1.0), y_top=0.0)

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
            x_range=x_range or (0.0, max(before.x_range[1], shown.x_end)),
            y_top=y_top or max(before.y_top, shown.y_end),
        )
        self._draw()

    @property
    def HELP(self) -> str:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """The present chart as text, for people who cannot see it."""
        return f"[b]{escape(self.title)}[/b]\n{escape(self.picture.summary)}"

    def _retheme(self, _: Theme) -> None:
        self._drawn = None
        self._draw()

    def _draw(self) -> None:
        wanted = (self.picture, self.size)
        if not self.is_mounted or wanted == self._drawn or not self.size.area:
            return
        self._drawn = wanted
        plot = self.query_one(Plot)
        with plot.drawing():
            Painter(plot, self.picture, self.size, self._style, self._drawing).paint()
        self._show_key()

    def _show_key(self) -> None:
        key = legend(self.picture, self._style, self._drawing)
        rows = len(key.wrap(self.app.console, max(self.size.width - 2, 1)))
        if (key, rows) != self._key_shown:
            # Layout is expensive: only when the number of rows changes.
            self.query_one("#key", Static).update(key, layout=rows != self._key_shown[1])
            self._key_shown = (key, rows)

    def _style(self, colour: str) -> str:
        return theme_style(self.app.theme_variables, colour)
