"""What a chart shows: series of points, levels and vertical lines. Pure."""

import math
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

SeriesKind = Literal["line", "points", "steps"]

VERTICAL: Final = "╎"
"""The character of vertical lines."""


class Series(msgspec.Struct, frozen=True):
    """Points drawn with one mark and colour. NaN among `ys` are gaps.

    `lows` and `highs`: the ends of each point's error bar, None where it has none. `mark`: one
    character; a line has one only if its points are marked. `colour`: a word of the theme.
    `legend`: its name in the legend where that is shorter, "" for none; None for `name`.
    """

    name: str
    xs: Sequence[float]
    ys: Sequence[float]
    kind: SeriesKind = "line"
    lows: Sequence[float] | None = None
    highs: Sequence[float] | None = None
    mark: str = ""
    colour: str = "blue"
    legend: str | None = None

    @property
    def in_legend(self) -> str:
        """Its name in the legend; "" if it has no place there."""
        return self.name if self.legend is None else self.legend


class Level(msgspec.Struct, frozen=True):
    """A horizontal line through the whole chart, named at its end."""

    name: str
    y: float
    colour: str = "foreground"


class VerticalLine(msgspec.Struct, frozen=True):
    """A vertical line through the whole chart, named above it or in the legend.

    One without a name shares that of the next that has one.
    """

    name: str
    x: float
    colour: str = "foreground"


def runs_of(series: Series) -> list[list[tuple[float, float]]]:
    """The parts of a line between its gaps."""
    runs: list[list[tuple[float, float]]] = [[]]
    for x, y in zip(series.xs, series.ys, strict=True):
        if math.isfinite(y):
            runs[-1].append((x, y))
        elif runs[-1]:
            runs.append([])
    return [run for run in runs if run]


def step_line(run: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """A step line: each value holds until the next one."""
    corners = [run[0]]
    for x, y in run[1:]:
        corners += [(x, corners[-1][1]), (x, y)]
    return corners
