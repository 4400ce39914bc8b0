"""Draws a picture on the canvas of a chart."""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from textual.geometry import Size
from textual_plot import HiResMode
from textual_plot.axis_formatter import AxisFormatter

from advisor.tui.kit.charts.axis import nice_end, rate_unit, ticks
from advisor.tui.kit.charts.drawing import VERTICAL
from advisor.tui.kit.charts.picture import RATE, Picture
from advisor.tui.kit.charts.plot import Plot
from advisor.tui.kit.charts.series import Level, Series, VerticalLine, runs_of, step_line

_MODES: Final = {"braille": HiResMode.BRAILLE, "block": HiResMode.QUADRANT}
_INSIDE: Final = 1 - 1e-9
"""What is at the very end of an axis would be hidden by the frame."""


class Painter:
    """`size`: that of the whole chart. `style`: the style of a theme's colour."""

    def __init__(
        self, plot: Plot, picture: Picture, size: Size, style: Callable[[str], str], drawing: str
    ) -> None:
        self._plot = plot
        self._picture = picture
        self._size = size
        self._style = style
        self._drawing = drawing
        self._top = (picture.y_top or 1.0) * _INSIDE

    def paint(self) -> None:
        """Draw it in place of the previous one, points above lines."""
        self._plot.clear()
        self._draw_axes()
        shown = [lv for lv in self._picture.levels if lv.y * _INSIDE <= self._top]
        for number, level in enumerate(shown):
            self._draw_level(level, number)
        for vertical in self._picture.verticals:
            self._draw_vertical(vertical)
        for series in self._picture.series:
            if series.kind != "points":
                self._draw_line(series)
        for series in self._picture.series:
            if series.kind == "points" or series.mark:
                self._draw_marks(series)

    def _draw_axes(self) -> None:
        top = self._picture.y_top or 1.0
        scale, unit = rate_unit(top) if self._picture.unit == RATE else (1.0, self._picture.unit)
        heights = ticks(top, max(3, self._size.height // 2))
        self._plot.set_ylimits(0.0, top)
        self._plot.set_y_formatter(_Labels(heights, [f"{y / scale:g}" for y in heights]))
        self._plot.set_ylabel(unit)
        left, right = self._picture.x_range
        self._plot.set_xlimits(left, right if right > left else left + 1.0)
        if self._picture.x_ticks:
            columns_each = max(self._size.width - self._plot.margin_left - 2, 1) / (right - left)
            marked_words = _fitting(self._picture.x_ticks, columns_each)
            self._plot.set_x_formatter(
                _Labels([x for x, _ in marked_words], [word for _, word in marked_words])
            )
        elif left == 0 and right > 0:
            marked = ticks(nice_end(right), max(3, self._size.width // 8))
            self._plot.set_x_formatter(_Labels(marked, [f"{x:g}" for x in marked]))

    def _draw_level(self, level: Level, number: int) -> None:
        """Draw it dashed, with its number at its own column: levels may coincide."""
        left, right = self._picture.x_range
        columns = max(self._size.width - self._plot.margin_left - 3, 2)
        xs = [left + (right - left) * i / columns for i in range(0, columns + 1, 2)]
        style = self._style(level.colour)
        height = level.y * _INSIDE
        self._plot.scatter(xs, [height] * len(xs), marker="╌", marker_style=style)
        self._plot.scatter(
            [xs[-2 - number % (len(xs) - 1)]], [height], marker=str(number + 1), marker_style=style
        )

    def _draw_vertical(self, vertical: VerticalLine) -> None:
        rows = max(self._size.height, 2)
        heights = [self._top * row / (rows - 1) for row in range(rows)]
        xs = [self._within(vertical.x)] * rows
        self._plot.scatter(xs, heights, marker=VERTICAL, marker_style=self._style(vertical.colour))

    def _draw_line(self, series: Series) -> None:
        style = self._style(series.colour)
        for run in runs_of(series):
            corners = step_line(run) if series.kind == "steps" else run
            xs, ys = zip(*((x, min(y, self._top)) for x, y in corners), strict=True)
            if len(run) > 1:
                self._plot.plot(xs, ys, line_style=style, hires_mode=_MODES.get(self._drawing))
            else:
                self._plot.scatter(xs, ys, marker="·", marker_style=style)

    def _draw_marks(self, series: Series) -> None:
        style = self._style(series.colour)
        if series.lows is not None and series.highs is not None:
            bars = zip(series.xs, series.lows, series.highs, strict=True)
            self._draw_bars(bars, style)
        points = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if math.isfinite(y)]
        if points:
            xs, ys = zip(*((self._within(x), min(y, self._top)) for x, y in points), strict=True)
            self._plot.scatter(xs, ys, marker=series.mark or "●", marker_style=style)

    def _within(self, x: float) -> float:
        left, right = self._picture.x_range
        return min(x, left + (right - left) * _INSIDE)

    def _draw_bars(self, ends: Iterable[tuple[float, float, float]], style: str) -> None:
        """Each (x, low, high), clipped to the axis; textual-plot takes centres and half-lengths."""
        bars = [
            (x, max(low, 0.0), min(high, self._top))
            for x, low, high in ends
            if math.isfinite(low) and math.isfinite(high)
        ]
        if bars:
            self._plot.errorbar(
                [self._within(x) for x, _, _ in bars],
                [(low + high) / 2 for _, low, high in bars],
                xerr=[math.nan] * len(bars),
                yerr=[(high - low) / 2 for _, low, high in bars],
                marker="│",
                marker_style=style,
            )


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
