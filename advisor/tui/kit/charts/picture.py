"""What a chart shows: its data, axes and labels, and the same as text. Pure."""

import math
from typing import Final

import msgspec

from advisor.domain.quantities import format_rate
from advisor.tui.kit.charts.axis import axis_end
from advisor.tui.kit.charts.series import Level, Series, VerticalLine

RATE: Final = "bit/s"

_BAR_REACH: Final = 10.0
_LEVEL_REACH: Final = 3.0
"""A level this many times above the highest point does not flatten the points to show itself."""


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """`unit`: of the ys. `x_ticks`: positions with their labels; without them, round numbers.

    `y_top`: the end of the y axis, 0 as long as there are no data.
    """

    unit: str = RATE
    series: tuple[Series, ...] = ()
    levels: tuple[Level, ...] = ()
    verticals: tuple[VerticalLine, ...] = ()
    x_label: str = ""
    y_label: str = ""
    x_range: tuple[float, float] = (0.0, 0.0)
    x_ticks: tuple[tuple[float, str], ...] = ()
    y_top: float = 0.0

    def x_end(self, before: float = 0.0) -> float:
        """The end of the x axis, which ended at `before`."""
        return axis_end(max((x for s in self.series for x in s.xs), default=0.0), before)

    def y_end(self, before: float = 0.0) -> float:
        """The end of the y axis, which ended at `before`; 0 without data."""
        highest = max((y for s in self.series for y in s.ys if math.isfinite(y)), default=0.0)
        bars = (y for s in self.series for y in s.highs or () if math.isfinite(y))
        # With few intervals an error bar may exceed all points: it is clipped.
        highest = max((highest, *(y for y in bars if y <= highest * _BAR_REACH)))
        within = (lv.y for lv in self.levels if lv.y <= highest * _LEVEL_REACH)
        return axis_end(max((highest, *within)), before)

    def value_words(self, value: float) -> str:
        """A y with its unit."""
        return format_rate(value) if self.unit == RATE else f"{value:.3g} {self.unit}"

    @property
    def summary(self) -> str:
        """The chart as text."""
        top = self.value_words(self.y_top)
        words = [f"{self.y_label}, from 0 to {top}, over {self.x_label}."]
        for series in self.series:
            ys = [y for y in series.ys if math.isfinite(y)]
            if ys and series.name:
                words.append(
                    f"{series.name}: {len(ys)} values, {self.value_words(min(ys))} to "
                    f"{self.value_words(max(ys))}, the last {self.value_words(ys[-1])}."
                )
        words += [f"Line: {lv.name}, {self.value_words(lv.y)}." for lv in self.levels]
        words += [f"Vertical line: {u.name}." for u in self.verticals if u.name]
        return " ".join(words)
