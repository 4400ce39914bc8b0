"""Throughput against the round-trip time: a line for each number of flows, a box at each RTT."""

import math
from collections.abc import Iterator, Sequence
from typing import Final

from textual.content import Content

from advisor.domain.quantities import format_duration
from advisor.report.rtt_profile import Curves, RttProfile, rtt_lines
from advisor.traits import subject_name
from advisor.tui.features.advising.widgets.boxes import Box, outline, place_of
from advisor.tui.kit.charts.chart import Chart
from advisor.tui.kit.charts.series import Series, VerticalLine

BEST: Final = "best of all settings"
_COLOURS: Final = ("blue", "orange", "advised", "violet", "act", "failed")
_MARKS: Final = "●◆▲■○◇"
_BESIDE: Final = 0.8
"""The part of an RTT's room on the axis that its boxes share."""
_WIDTH: Final = 0.4
"""Half the width of a box, as a part of its own room."""


class RttChart(Chart):
    """`show_panel` one subject and congestion control, or the best of each transport.

    The RTTs are equally far apart on the axis, each with its label.
    """

    def __init__(self) -> None:
        super().__init__("Throughput against the RTT")
        self._lines: Sequence[str] = ()

    def show_panel(self, profile: RttProfile, title: str) -> None:
        """Draw the curves of this panel: of BEST, those over all settings."""
        curves = panels_of(profile)[title]
        rtts_s = profile.rtts_s
        self._lines = list(rtt_lines(profile))
        self.restart()
        self.set_title(title)
        self.show(
            list(curve_series(curves, rtts_s, title)),
            x_label="round-trip time",
            y_label="throughput",
            verticals=list(_verticals(profile, curves, rtts_s, title)),
            x_range=(0.0, float(len(rtts_s))),
            x_ticks=[(place_of(i), format_duration(rtt_s)) for i, rtt_s in enumerate(rtts_s)],
        )

    @property
    def HELP(self) -> Content:  # type: ignore[override]  # noqa: N802  # F1 looks for this name
        """How it is read, and what it shows as text."""
        return self.explained(
            "A line for each number of flows, each with its best setting: the medians. Half "
            "of the probes lie in a box, and the whiskers reach to the furthest within 1.5 "
            "box heights. Left of a dashed line a curve is concave, so that long connections "
            "reach nearly as much as short ones; right of it throughput falls as with 1/RTT.",
            self.picture.summary,
            *self._lines,
        )


def panels_of(profile: RttProfile) -> dict[str, Curves]:
    """The curves by number of flows, and those over all settings."""
    best = {name: repeats for name, repeats in profile.curves.items() if name.flows is None}
    return profile.panels | ({BEST: best} if best else {})


def curve_series(curves: Curves, rtts_s: Sequence[float], title: str) -> Iterator[Series]:
    """A line through the medians and the boxes of each curve, side by side at each RTT."""
    share = _BESIDE / max(len(curves), 1)
    for number, (name, repeats) in enumerate(curves.items()):
        aside = (number - (len(curves) - 1) / 2) * share
        colour, mark = _COLOURS[number % len(_COLOURS)], _MARKS[number % len(_MARKS)]
        boxes = [
            (place_of(i) + aside, Box(name.flows or 0, tuple(repeats[rtt_s])))
            for i, rtt_s in enumerate(rtts_s)
            if rtt_s in repeats
        ]
        yield Series(
            str(name).removeprefix(f"{title}, "),
            [x for x, _ in boxes],
            [box.median_bps for _, box in boxes],
            mark=mark,
            colour=colour,
        )
        drawn = [point for x, box in boxes for point in outline(x, box, _WIDTH * share)]
        yield Series("", [x for x, _ in drawn], [y for _, y in drawn], colour=colour)


def _verticals(
    profile: RttProfile, curves: Curves, rtts_s: Sequence[float], title: str
) -> Iterator[VerticalLine]:
    """Where each curve turns convex; or, of the best ones, where a transport passes another."""
    if title == BEST:
        for subject, crossover in profile.crossovers.items():
            words = f"{subject_name(subject)} ahead{'' if crossover.is_clear else '?'}"
            yield VerticalLine(words, place_on_axis(crossover.rtt_s, rtts_s), "act")
        return
    for number, name in enumerate(curves):
        found = profile.transitions.get(name)
        if found and found.rtt_s and math.isfinite(found.rtt_s):
            words = f"{name.flows}: {format_duration(found.rtt_s)}"
            colour = _COLOURS[number % len(_COLOURS)]
            yield VerticalLine(words, place_on_axis(found.rtt_s, rtts_s), colour)


def place_on_axis(rtt_s: float, rtts_s: Sequence[float]) -> float:
    """The place of an RTT among the measured ones: linear in its logarithm between two."""
    after = next((i for i, one in enumerate(rtts_s) if one >= rtt_s), len(rtts_s) - 1)
    if after == 0:
        return place_of(0)
    low, high = rtts_s[after - 1], rtts_s[after]
    share = math.log(rtt_s / low) / math.log(high / low)
    return place_of(after - 1) + min(1.0, share)
