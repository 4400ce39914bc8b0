"""Throughput by the number of flows or threads, as box plots over probes. Pure.

Rao et al. 2016, figures 7, 9 and 11: a box for each number of flows, over all its probes.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Final

import msgspec

from advisor.domain.space import Setting, flows_of
from advisor.traits import flow_names
from advisor.tui.features.advising.session_model import SessionModel
from advisor.tui.kit.charts.series import Series

BOX_FROM: Final = 3
"""Fewer probes have no meaningful quartiles: they are shown as points."""

_HALF_WIDTH: Final = 0.3
_WHISKER: Final = 1.5
_MEDIAN_AT: Final = tuple(i / 50 for i in range(-13, 14))
_BESIDE_BOX: Final = 0.4


class Box(msgspec.Struct, frozen=True):
    """All probes with one number of flows or threads: their throughputs in bit/s, at least one."""

    at_once: int
    rates_bps: tuple[float, ...]

    @property
    def median_bps(self) -> float:
        """The median of the probes."""
        return statistics.median(self.rates_bps)

    @property
    def quartiles_bps(self) -> tuple[float, float] | None:
        """The first and third quartile; None for fewer than three probes."""
        if len(self.rates_bps) < BOX_FROM:
            return None
        low, _, high = statistics.quantiles(self.rates_bps, n=4, method="inclusive")
        return low, high

    @property
    def whiskers_bps(self) -> tuple[float, float] | None:
        """The furthest probes within 1.5 box heights of the box; None without a box."""
        if self.quartiles_bps is None:
            return None
        low, high = self.quartiles_bps
        reach = _WHISKER * (high - low)
        within = [rate for rate in self.rates_bps if low - reach <= rate <= high + reach]
        return min(within), max(within)


def at_once(setting: Setting) -> int:
    """The number of threads on a disk, or of flows on the network."""
    threads = setting.get("threads")
    return threads if isinstance(threads, int) else flows_of(setting, flow_names())


def boxes_of(model: SessionModel, subject: str) -> list[Box]:
    """One box for each probed number of this subject, in ascending order."""
    rates: dict[int, list[float]] = {}
    for probe in model.probes:
        if probe.subject == subject and probe.throughput_bps is not None:
            rates.setdefault(at_once(probe.setting), []).append(probe.throughput_bps)
    return [Box(number, tuple(rates[number])) for number in sorted(rates)]


def place_of(index: int) -> float:
    """The position of a box on the x axis, which is labelled with its number."""
    return index + 0.5


def box_series(boxes: Sequence[Box], colour: str) -> list[Series]:
    """Series for boxes, whiskers, medians, and the probes beside their boxes."""
    outlines: list[tuple[float, float]] = []
    medians: list[tuple[float, float]] = []
    probes: list[tuple[float, float]] = []
    for index, box in enumerate(boxes):
        x = place_of(index)
        outlines += outline(x, box)
        medians += [(x + aside, box.median_bps) for aside in _MEDIAN_AT]
        probes += [(x + _BESIDE_BOX, rate) for rate in box.rates_bps]
    return [
        _box_series("middle half", outlines, "", colour),
        _box_series("probe", probes, "○", "foreground-muted"),
        _box_series("median", medians, "─", "advised"),
    ]


def outline(x: float, box: Box, half_width: float = _HALF_WIDTH) -> Iterable[tuple[float, float]]:
    """The outline of box and whiskers, its parts separated by gaps."""
    if box.quartiles_bps is None or box.whiskers_bps is None:
        return
    (low, high), (least, most) = box.quartiles_bps, box.whiskers_bps
    left, right, gap = x - half_width, x + half_width, (x, math.nan)
    yield from ((left, low), (right, low), (right, high), (left, high), (left, low), gap)
    yield from ((x, least), (x, low), gap, (x, high), (x, most), gap)


def _box_series(name: str, points: list[tuple[float, float]], mark: str, colour: str) -> Series:
    return Series(
        name,
        [x for x, _ in points],
        [y for _, y in points],
        "points" if mark else "line",
        mark=mark,
        colour=colour,
    )
