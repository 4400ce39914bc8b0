"""Curves as paths of SVG."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from advisor.fleet.changes import Change

Points = Sequence[tuple[float, float]]
"""(Unix time, value), the oldest first."""

SPARK_WIDTH: Final = 150
SPARK_HEIGHT: Final = 26
CHART_WIDTH: Final = 460
CHART_HEIGHT: Final = 120
_PAD: Final = 3
_LEFT: Final = 70
_BOTTOM: Final = 18


class Curve(msgspec.Struct, frozen=True, kw_only=True):
    """Attributes `d` of paths. `dots`: to be drawn with round ends; `marks`: changes, upright.

    `levels`: the means before and after each change. `top`, `bottom`, `left`, `right`: of the plot.
    """

    line: str
    dots: str
    marks: str
    levels: str
    left: int
    right: int
    top: int
    bottom: int


class _Scale:
    """From times and values, from zero up to the highest, to points in a box."""

    def __init__(
        self, span_s: tuple[float, float], highest: float, box: tuple[int, int, int, int]
    ) -> None:
        self._from_s, self._to_s = span_s
        self._highest = highest
        self.left, self.right, self.top, self.bottom = box

    def x(self, at_s: float) -> float:
        length_s = self._to_s - self._from_s
        share = (at_s - self._from_s) / length_s if length_s > 0 else 1.0
        return round(self.left + (self.right - self.left) * min(1.0, max(0.0, share)), 1)

    def y(self, value: float) -> float:
        share = min(1.0, value / self._highest) if self._highest else 0.0
        return round(self.bottom - (self.bottom - self.top) * share, 1)


def spark(points: Points, changes: Sequence[Change], span_s: tuple[float, float]) -> Curve:
    """A small curve without axes, from zero to its highest value."""
    box = _PAD, SPARK_WIDTH - _PAD, _PAD, SPARK_HEIGHT - _PAD
    return _drawn(points, changes, _Scale(span_s, _highest(points, ()), box))


def chart(points: Points, changes: Sequence[Change], span_s: tuple[float, float]) -> Curve:
    """A curve with room for axes, and the means before and after each change."""
    box = _LEFT, CHART_WIDTH - 8, 12, CHART_HEIGHT - _BOTTOM
    return _drawn(points, changes, _Scale(span_s, _highest(points, changes), box))


def _highest(points: Points, changes: Sequence[Change]) -> float:
    means = [rate for one in changes for rate in (one.before_bps, one.after_bps)]
    return max([*(value for _, value in points), *means], default=0.0)


def _drawn(points: Points, changes: Sequence[Change], scale: _Scale) -> Curve:
    at = [f"{scale.x(at_s):g} {scale.y(value):g}" for at_s, value in points]
    times = [scale.x(one.since_s) for one in changes]
    return Curve(
        line=f"M{'L'.join(at)}" if len(at) > 1 else "",
        dots="".join(f"M{one}h0" for one in at),
        marks="".join(f"M{x:g} {scale.top}V{scale.bottom}" for x in times),
        levels="".join(_levels(changes, scale)),
        left=scale.left,
        right=scale.right,
        top=scale.top,
        bottom=scale.bottom,
    )


def _levels(changes: Sequence[Change], scale: _Scale) -> Iterator[str]:
    """Each change ends what was before it, as far back as the one before."""
    bounds = [scale.left, *(scale.x(one.since_s) for one in changes), scale.right]
    for number, one in enumerate(changes):
        yield f"M{bounds[number]:g} {scale.y(one.before_bps):g}H{bounds[number + 1]:g}"
    if changes:
        yield f"M{bounds[-2]:g} {scale.y(changes[-1].after_bps):g}H{bounds[-1]:g}"
