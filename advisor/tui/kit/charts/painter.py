"""Draws a picture on the canvas of a chart."""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from textual_hires_canvas import HiResMode

from advisor.tui.kit.charts.axis import rate_unit, ticks, ticks_in_rows
from advisor.tui.kit.charts.frame import Frame
from advisor.tui.kit.charts.picture import RATE, Picture
from advisor.tui.kit.charts.plot import Plot
from advisor.tui.kit.charts.series import (
    VERTICAL,
    Series,
    VerticalLine,
    runs_of,
    step_line,
)

_MODES: Final = {"braille": HiResMode.BRAILLE, "block": HiResMode.QUADRANT}
_ROWS_EACH: Final = 2
_COLUMNS_EACH: Final = 9
_WIDEST_NAMES: Final = 18


class Painter:
    """`style`: the style of a theme's colour. The first row is for the unit and for names."""

    def __init__(
        self, plot: Plot, picture: Picture, style: Callable[[str], str], drawing: str
    ) -> None:
        self._plot = plot
        self._picture = picture
        self._style = style
        self._drawing = drawing
        rows = max(plot.size.height - 2, 2)
        top, heights = ticks_in_rows(picture.y_top or 1.0, rows - 1, max(3, rows // _ROWS_EACH + 1))
        scale, self._unit = rate_unit(top) if picture.unit == RATE else (1.0, picture.unit)
        self._heights = [(y, f"{y / scale:.6g}") for y in heights]
        self._within = [level for level in picture.levels if level.y <= top]
        names = max((len(level.name) + 1 for level in self._within), default=0)
        widest = min(_WIDEST_NAMES, plot.size.width // 3)
        labels = max(len(word) for _, word in [*self._heights, (0.0, self._unit)])
        self._frame = Frame(
            left=labels + 2,
            right=plot.size.width - 1 - min(names, widest),
            top=1,
            bottom=rows,
            x_range=picture.x_range,
            y_top=top,
        )

    def paint(self) -> Sequence[VerticalLine]:
        """Draw it in place of the previous one, points above lines.

        Returns the vertical lines for whose names there is no room.
        """
        self._draw_axes()
        self._draw_levels()
        unnamed = self._draw_verticals()
        for series in self._picture.series:
            if series.kind != "points":
                self._draw_line(series)
        for series in self._picture.series:
            if series.kind == "points" or series.mark:
                self._draw_marks(series)
        return unnamed

    def _draw_axes(self) -> None:
        frame, axis, words = self._frame, self._style("line"), self._style("foreground")
        left = frame.left - 1
        self._plot.write(0, 0, self._unit.rjust(left - 1), self._style("foreground-muted"))
        self._plot.set_pixels([(left, row) for row in range(frame.top, frame.bottom)], "│", axis)
        self._plot.write(left, frame.bottom, "─" * (frame.right + 1 - left), axis)
        for x, word in self._x_labels():
            column = frame.column(x)
            self._plot.set_pixel(column, frame.bottom, "┬", axis)
            begin = min(column - len(word) // 2, self._plot.size.width - len(word))
            self._plot.write(begin, frame.bottom + 1, word, words)
        for y, word in self._heights:
            self._plot.set_pixel(left, frame.row(y), "┤" if y else "┼", axis)
            self._plot.write(0, frame.row(y), word.rjust(left - 1), words)

    def _x_labels(self) -> Sequence[tuple[float, str]]:
        frame = self._frame
        left, right = frame.x_range
        if self._picture.x_ticks:
            return _fitting(self._picture.x_ticks, frame)
        if left == 0 < right:
            most = max(3, (frame.right - frame.left) // _COLUMNS_EACH)
            return [(x, f"{x:.6g}") for x in ticks(right, most)]
        return []

    def _draw_levels(self) -> None:
        """Draw them dashed, each with its name at its end; names of those above in the top row."""
        frame, named = self._frame, set[int]()
        for level in sorted(self._within, key=lambda level: -level.y):
            style, row = self._style(level.colour), frame.row(level.y)
            columns = range(frame.left + 2, frame.right + 1, 2)
            self._plot.set_pixels([(column, row) for column in columns], "╌", style)
            near = sorted(range(1, frame.bottom + 1), key=lambda other: abs(other - row))
            free = next((other for other in near if other not in named), row)
            named.add(free)
            self._plot.write(frame.right + 2, free, level.name, style)
        end = self._plot.size.width
        for level in self._picture.levels:
            if level.y > frame.y_top:
                words = f"↑ {level.name} {self._picture.value_words(level.y)}"
                end -= len(words)
                if end >= frame.left:
                    self._plot.write(end, 0, words, self._style(level.colour))
                end -= 2

    def _draw_verticals(self) -> Sequence[VerticalLine]:
        """Draw them, each with its name above it where that is free."""
        frame, unnamed = self._frame, []
        for line in self._picture.verticals:
            column, style = frame.column(line.x), self._style(line.colour)
            rows = range(frame.top, frame.bottom)
            self._plot.set_pixels([(column, row) for row in rows], VERTICAL, style)
            begin = min(column - len(line.name) // 2, self._plot.size.width - len(line.name))
            if self._is_free(begin - 1, len(line.name) + 2):
                self._plot.write(begin, 0, line.name, style)
            else:
                unnamed.append(line)
        return unnamed

    def _is_free(self, begin: int, columns: int) -> bool:
        """Whether there is nothing in these columns of the first row."""
        last = self._plot.size.width - 1
        cells = range(begin, min(begin + columns, last + 1))
        return begin >= 0 and all(self._plot.get_pixel(x, 0)[0] == " " for x in cells)

    def _draw_line(self, series: Series) -> None:
        style, mode = self._style(series.colour), _MODES.get(self._drawing)
        for run in runs_of(series):
            corners = step_line(run) if series.kind == "steps" else run
            places = [self._frame.place(x, y) for x, y in corners]
            lines = [(*one, *other) for one, other in itertools.pairwise(places)]
            if not lines:
                self._plot.set_pixel(*_cell(places[0]), "·", style)
            elif mode:
                self._plot.draw_hires_lines(lines, mode, style)
            else:
                cells = [(*_cell((x, y)), *_cell((to_x, to_y))) for x, y, to_x, to_y in lines]
                self._plot.draw_lines(cells, "*", style)

    def _draw_marks(self, series: Series) -> None:
        style = self._style(series.colour)
        if series.lows is not None and series.highs is not None:
            self._draw_bars(zip(series.xs, series.lows, series.highs, strict=True), style)
        points = [(x, y) for x, y in zip(series.xs, series.ys, strict=True) if math.isfinite(y)]
        cells = [_cell(self._frame.place(x, y)) for x, y in points]
        self._plot.set_pixels(cells, series.mark or "●", style)

    def _draw_bars(self, ends: Iterable[tuple[float, float, float]], style: str) -> None:
        """Each (x, low, high), above the axis."""
        frame = self._frame
        for x, low, high in ends:
            if math.isfinite(low) and math.isfinite(high):
                rows = range(frame.row(high), min(frame.row(low), frame.bottom - 1) + 1)
                self._plot.set_pixels([(frame.column(x), row) for row in rows], "│", style)


def _cell(place: tuple[float, float]) -> tuple[int, int]:
    x, y = place
    return int(x), int(y)


def _fitting(marked: Sequence[tuple[float, str]], frame: Frame) -> list[tuple[float, str]]:
    """The labels that do not touch the one before, each centred below its position."""
    shown: list[tuple[float, str]] = []
    free_from = 0
    for x, word in marked:
        begin = frame.column(x) - len(word) // 2
        if begin >= free_from or not shown:
            shown.append((x, word))
            free_from = begin + len(word) + 1
    return shown
