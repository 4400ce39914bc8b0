"""The one chart of all screens: series and levels over time, with axes that do not jump."""

import math
from collections.abc import Iterable, Sequence
from typing import Final

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.color import Color, ColorParseError
from textual.events import Resize
from textual.markup import escape
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Static
from textual_plot import HiResMode
from textual_plot.axis_formatter import AxisFormatter

from advisor.domain.quantities import format_rate
from advisor.tui.kit.axis import nice_end, rate_unit, ticks
from advisor.tui.kit.drawing import ASCII
from advisor.tui.kit.plot import Plot
from advisor.tui.kit.series import Level, Series, Upright, runs_of, stepped

RATE: Final = "bit/s"

_MODES: Final = {"braille": HiResMode.BRAILLE, "block": HiResMode.QUADRANT}
_LINE: Final = "──"
_UPRIGHT: Final = "╎"
_HEADROOM: Final = 1.04
_INSIDE: Final = 1 - 1e-9
"""What is at the very end of an axis would be hidden by the frame."""
_BAR_REACH: Final = 10.0
_LEVEL_REACH: Final = 3.0
"""A level this many times above the highest point does not flatten the points to show itself."""


class Chart(Widget, can_focus=True):
    """`show` may be called often: nothing is redrawn unless the data changed.

    Zero is at the bottom. The axes end at round numbers, and within one chart they only grow;
    `restart` resets them. `unit`: of the ys; rates are given in bit/s and labelled in a suitable
    multiple.
    """

    DEFAULT_CSS = """
    Chart {
        height: 1fr; min-height: 7;
        border-top: solid $foreground 30%; border-title-color: $foreground;
    }
    Chart:focus { border-title-color: $primary; border-title-style: bold reverse; }
    Chart > Plot { height: 1fr; }
    Chart > Plot > .plot--axis { color: $foreground-muted; }
    Chart > Plot > .plot--tick { color: $foreground; text-style: none; }
    Chart > Plot > .plot--label { color: $foreground; text-style: none; }
    Chart > #key { height: auto; max-height: 3; padding: 0 1; }
    """

    def __init__(
        self,
        title: str = "",
        *,
        unit: str = RATE,
        id: str | None = None,  # noqa: A002  # as every widget of Textual has it
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.border_title = title
        self._unit = unit
        self._series: tuple[Series, ...] = ()
        self._levels: tuple[Level, ...] = ()
        self._uprights: tuple[Upright, ...] = ()
        self._labels = ("", "")
        self._x_range: tuple[float, float] = (0.0, 1.0)
        self._x_ticks: tuple[tuple[float, str], ...] = ()
        self._y_top = 0.0
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
        self._x_range, self._y_top = (0.0, 1.0), 0.0

    def show(
        self,
        series: Iterable[Series],
        levels: Iterable[Level] = (),
        *,
        x_label: str,
        y_label: str,
        uprights: Iterable[Upright] = (),
        x_range: tuple[float, float] | None = None,
        y_top: float | None = None,
        x_ticks: Iterable[tuple[float, str]] = (),
    ) -> None:
        """Draw these. `x_range` and `y_top` fix an axis, instead of deriving it from the data.

        `x_ticks`: positions on the x axis from left to right with their labels, of which as many as
        fit are shown; default: round numbers.
        """
        self._series, self._levels = tuple(series), tuple(levels)
        self._uprights = tuple(uprights)
        self._labels, self._x_ticks = (x_label, y_label), tuple(x_ticks)
        self._x_range = x_range or (0.0, max(self._x_range[1], self._x_end()))
        self._y_top = y_top or max(self._y_top, self._y_end())
        self._draw()

    def _x_end(self) -> float:
        return nice_end(max((x for s in self._series for x in s.xs), default=0.0))

    def _y_end(self) -> float:
        highest = max((y for s in self._series for y in s.ys if math.isfinite(y)), default=0.0)
        bars = (y for s in self._series for y in s.highs or () if math.isfinite(y))
        # With few intervals an error bar may exceed all points: it is clipped.
        highest = max((highest, *(y for y in bars if y <= highest * _BAR_REACH)))
        within = (lv.y for lv in self._levels if lv.y <= highest * _LEVEL_REACH)
        highest = max((highest, *within))
        return nice_end(highest * _HEADROOM) if highest else 0.0

    @property
    def summary(self) -> str:
        """The chart as text."""
        x_label, y_label = self._labels
        words = [f"{y_label}, from 0 to {self._worded(self._y_top)}, over {x_label}."]
        for series in self._series:
            ys = [y for y in series.ys if math.isfinite(y)]
            if ys and series.name:
                words.append(
                    f"{series.name}: {len(ys)} values, {self._worded(min(ys))} to "
                    f"{self._worded(max(ys))}, the last {self._worded(ys[-1])}."
                )
        words += [f"Line: {lv.name}, {self._worded(lv.y)}." for lv in self._levels]
        words += [f"Vertical line: {u.name}." for u in self._uprights if u.name]
        return " ".join(words)

    @property
    def HELP(self) -> str:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """The present chart as text, for people who cannot see it."""
        return f"[b]{escape(str(self.border_title))}[/b]\n{escape(self.summary)}"

    def _worded(self, value: float) -> str:
        return format_rate(value) if self._unit == RATE else f"{value:.3g} {self._unit}"

    def _retheme(self, _: Theme) -> None:
        self._drawn = None
        self._draw()

    def _draw(self) -> None:
        wanted = (
            self._series,
            self._levels,
            self._uprights,
            self._labels,
            self._x_range,
            self._x_ticks,
            self._y_top,
            self.size,
        )
        if not self.is_mounted or wanted == self._drawn or not self.size.area:
            return
        self._drawn = wanted
        plot = self.query_one(Plot)
        with plot.drawing():
            self._plot_all(plot)
        self._show_key()

    def _show_key(self) -> None:
        key = self._key()
        rows = len(key.wrap(self.app.console, max(self.size.width - 2, 1)))
        if (key, rows) != self._key_shown:
            # Layout is expensive: only when the number of rows changes.
            self.query_one("#key", Static).update(key, layout=rows != self._key_shown[1])
            self._key_shown = (key, rows)

    def _plot_all(self, plot: Plot) -> None:
        plot.clear()
        self._draw_axes(plot)
        top = (self._y_top or 1.0) * _INSIDE
        shown = [lv for lv in self._levels if lv.y * _INSIDE <= top]
        for number, level in enumerate(shown):
            self._draw_level(plot, level, number)
        for upright in self._uprights:
            self._draw_upright(plot, upright, top)
        for series in self._series:
            if series.kind != "points":
                self._draw_line(plot, series, top)
        for series in self._series:
            if series.kind == "points" or series.mark:
                self._draw_marks(plot, series, top)

    def _draw_axes(self, plot: Plot) -> None:
        top = self._y_top or 1.0
        scale, unit = rate_unit(top) if self._unit == RATE else (1.0, self._unit)
        heights = ticks(top, max(3, self.size.height // 2))
        plot.set_ylimits(0.0, top)
        plot.set_y_formatter(_Labels(heights, [f"{y / scale:g}" for y in heights]))
        plot.set_ylabel(unit)
        left, right = self._x_range
        plot.set_xlimits(left, right if right > left else left + 1.0)
        if self._x_ticks:
            columns_each = max(self.size.width - plot.margin_left - 2, 1) / (right - left)
            marked_words = _fitting(self._x_ticks, columns_each)
            plot.set_x_formatter(
                _Labels([x for x, _ in marked_words], [word for _, word in marked_words])
            )
        elif left == 0 and right > 0:
            marked = ticks(nice_end(right), max(3, self.size.width // 8))
            plot.set_x_formatter(_Labels(marked, [f"{x:g}" for x in marked]))

    def _draw_level(self, plot: Plot, level: Level, number: int) -> None:
        """Draw it dashed, with its number at its own column: levels may coincide."""
        left, right = self._x_range
        columns = max(self.size.width - plot.margin_left - 3, 2)
        xs = [left + (right - left) * i / columns for i in range(0, columns + 1, 2)]
        style = self._style(level.colour)
        height = level.y * _INSIDE
        plot.scatter(xs, [height] * len(xs), marker="╌", marker_style=style)
        plot.scatter(
            [xs[-2 - number % (len(xs) - 1)]], [height], marker=str(number + 1), marker_style=style
        )

    def _draw_upright(self, plot: Plot, upright: Upright, top: float) -> None:
        rows = max(self.size.height, 2)
        heights = [top * row / (rows - 1) for row in range(rows)]
        xs = [self._within(upright.x)] * rows
        plot.scatter(xs, heights, marker=_UPRIGHT, marker_style=self._style(upright.colour))

    def _draw_line(self, plot: Plot, series: Series, top: float) -> None:
        style = self._style(series.colour)
        for run in runs_of(series):
            corners = stepped(run) if series.kind == "steps" else run
            xs, ys = zip(*((x, min(y, top)) for x, y in corners), strict=True)
            if len(run) > 1:
                plot.plot(xs, ys, line_style=style, hires_mode=_MODES.get(self._drawing))
            else:
                plot.scatter(xs, ys, marker="·", marker_style=style)

    def _draw_marks(self, plot: Plot, series: Series, top: float) -> None:
        style = self._style(series.colour)
        if series.lows is not None and series.highs is not None:
            bars = zip(series.xs, series.lows, series.highs, strict=True)
            self._draw_bars(plot, bars, top, style)
        points = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if math.isfinite(y)]
        if points:
            xs, ys = zip(*((self._within(x), min(y, top)) for x, y in points), strict=True)
            plot.scatter(xs, ys, marker=series.mark or "●", marker_style=style)

    def _within(self, x: float) -> float:
        left, right = self._x_range
        return min(x, left + (right - left) * _INSIDE)

    def _draw_bars(
        self, plot: Plot, ends: Iterable[tuple[float, float, float]], top: float, style: str
    ) -> None:
        """Each (x, low, high), clipped to the axis; textual-plot wants them about a middle."""
        bars = [
            (x, max(low, 0.0), min(high, top))
            for x, low, high in ends
            if math.isfinite(low) and math.isfinite(high)
        ]
        if bars:
            plot.errorbar(
                [self._within(x) for x, _, _ in bars],
                [(low + high) / 2 for _, low, high in bars],
                xerr=[math.nan] * len(bars),
                yerr=[(high - low) / 2 for _, low, high in bars],
                marker="│",
                marker_style=style,
            )

    def _key(self) -> Text:
        """The legend below the chart, where it covers nothing."""
        parts = [
            Text.assemble((series.mark or _LINE, self._style(series.colour)), f" {series.name}")
            for series in self._series
            if series.name and any(math.isfinite(y) for y in series.ys)
        ]
        top = self._y_top or 1.0
        number = 0
        for level in self._levels:
            number += level.y <= top
            mark = f"╌{number}" if level.y <= top else "↑"
            above = "" if level.y <= top else ", above"
            words = f" {level.name} {self._worded(level.y)}{above}"
            parts.append(Text.assemble((mark, self._style(level.colour)), words))
        parts += [
            Text.assemble((_UPRIGHT, self._style(upright.colour)), f" {upright.name}")
            for upright in self._uprights
            if upright.name
        ]
        parts.append(Text(f"→ {self._labels[0]}"))
        key = Text("   ").join(parts)
        return Text(key.plain.translate(ASCII)) if self._drawing == "ascii" else key

    def _style(self, colour: str) -> str:
        """The style of a theme's colour name; its foreground for an unknown name."""
        variables = self.app.theme_variables
        for word in (colour, "foreground"):
            try:
                parsed = Color.parse(variables[word])
                if parsed.a < 1:
                    parsed = Color.parse(variables["background"]) + parsed
                return str(Style(color=parsed.rich_color))
            except (KeyError, ColorParseError):
                continue
        return ""


class _Labels(AxisFormatter):
    """Given ticks with given labels."""

    def __init__(self, ticks: Sequence[float], labels: Sequence[str]) -> None:
        self._ticks, self._texts = list(ticks), list(labels)

    def get_ticks(self, min_: float, max_: float, max_ticks: int = 8) -> list[float]:
        return self._ticks

    def get_labels_for_ticks(self, ticks: Sequence[float]) -> list[str]:
        return self._texts


def _fitting(marked: Sequence[tuple[float, str]], columns_each: float) -> list[tuple[float, str]]:
    """The labels that do not touch the one before, each centred below its position."""
    shown: list[tuple[float, str]] = []
    free_from = 0.0
    for x, word in marked:
        begin = x * columns_each - len(word) / 2
        if begin >= free_from or not shown:
            shown.append((x, word))
            free_from = begin + len(word) + 1
    return shown
