"""A slice through a group of past transfers along one level: fitted surface and points."""

import math
from typing import Final, get_args

from textual.content import Content

from advisor.domain.evidence import Evidence, Level, SimilarGroup, SurfaceSlice
from advisor.tui.kit.charts.axis import axis_end
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.charts.series import Level as Line
from advisor.tui.kit.charts.series import Series, VerticalLine

LEVELS: Final[tuple[Level, ...]] = get_args(Level)
MEANINGS: Final[dict[Level, str]] = {
    "concurrency": "files at once",
    "parallelism": "streams for each file",
    "pipelining": "files requested ahead",
}
"""What each level counts."""

_FREE_OCTAVES: Final = 0.2
"""Octaves left free at both ends, so that no point lies on the frame."""
_FLAT_BELOW: Final = 0.25
"""A group below this share of the common axis gets its own axis."""


class SliceChart(Chart):
    """`show_slice` a group's surface along `level`, which is fixed."""

    def __init__(self, level: Level) -> None:
        super().__init__(f"By {level}", id=f"by-{level}")
        self.level = level

    def show_slice(self, evidence: Evidence, group: SimilarGroup) -> None:
        """Draw curve, points, the advised value, and the sample's throughput; see `slice_of`."""
        along = slice_of(group, self.level)
        if along is None:
            return
        answer: int = getattr(evidence.levels, self.level)
        ends = (along.fitted[0][0], along.fitted[-1][0], answer)
        values = sorted({*ends[:2], *(value for value, _ in along.measured)})
        held = (f"{name} {getattr(along.held, name)}" for name in LEVELS if name != self.level)
        self.set_title(f"By {self.level}, at {' and '.join(held)}")
        self.show(
            _series_along(along),
            _sample_line(evidence),
            verticals=[VerticalLine(f"answer: {answer}", math.log2(answer), "advised")],
            x_label=f"{self.level}: {MEANINGS[self.level]}",
            y_label="throughput",
            x_range=(math.log2(min(ends)) - _FREE_OCTAVES, math.log2(max(ends)) + _FREE_OCTAVES),
            x_ticks=[(math.log2(value), f"{value:g}") for value in values],
            y_top=surface_top_bps(evidence, group),
        )

    @property
    def HELP(self) -> Content:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """An explanation of the chart, and its values as text."""
        return self.explained(
            "The points are past transfers of the "
            "chosen group, measured on its day. The curve is a slice of the surface fitted to "
            "the whole group, at the values of the other two levels in the title: those of the "
            "group that are nearest to the answer's. The vertical line is the value that is "
            "advised, the dashed one what the sample gave just now. Where the points lie far "
            "from the curve, the group is a weak predictor; where the curve is flat, this level "
            "matters little. Along the axis each factor of two is as wide as the next.",
            self.picture.summary,
        )


def slice_of(group: SimilarGroup, level: Level) -> SurfaceSlice | None:
    """The group's slice along this level; None if all its transfers share one value."""
    return next((one for one in group.slices if one.level == level), None)


def surface_top_bps(evidence: Evidence, group: SimilarGroup) -> float:
    """The end of the axis: the same for all groups, unless this one would be flat."""
    heights = {id(one): _highest_bps(one) for one in (*evidence.groups, group)}
    highest_bps, own_bps = max(heights.values()), heights[id(group)]
    shown_bps = own_bps if own_bps < _FLAT_BELOW * highest_bps else highest_bps
    return axis_end(shown_bps)


def _highest_bps(group: SimilarGroup) -> float:
    return max(
        (rate for one in group.slices for _, rate in (*one.fitted, *one.measured)), default=0.0
    )


def _series_along(along: SurfaceSlice) -> list[Series]:
    # A polynomial may be negative, which no throughput can.
    return [
        Series(
            "fitted",
            [math.log2(value) for value, _ in along.fitted],
            [max(0.0, rate_bps) for _, rate_bps in along.fitted],
        ),
        Series(
            "measured then",
            [math.log2(value) for value, _ in along.measured],
            [rate_bps for _, rate_bps in along.measured],
            "points",
            mark="●",
            colour="violet",
        ),
    ]


def _sample_line(evidence: Evidence) -> list[Line]:
    """The rate of the sample, which the text above the table says too."""
    sample = evidence.sample
    return [Line("sample now", sample.throughput_bps, "act")] if sample else []
