"""Which settings of one profile reach another throughput in a second one.

Each setting that both measured at least twice is tested with Welch's t-test of the logarithms: the
spread of throughputs is proportional to their mean, and the two profiles may vary by different
amounts. Among hundreds of settings some differ by chance, so the p-values are adjusted by
Benjamini and Hochberg's procedure: of the settings that are said to have changed, at most 5 % are
expected to be chance.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
import numpy as np

from advisor.domain.advice import Estimate
from advisor.domain.grid import Cell
from advisor.models.comparison import LEAST_SPREAD, student

FALSE_DISCOVERIES: Final = 0.05
"""The expected share of chance among the settings that are said to have changed."""

FEWEST_REPEATS: Final = 2


class CellChange(msgspec.Struct, frozen=True, kw_only=True):
    """One setting in both profiles, with the geometric mean of each.

    `ratio`: second to first, with its 90 % interval; `adjusted_p`: the
    adjusted p-value. Both None where a profile did not measure it twice.
    """

    cell: Cell
    first_bps: float
    second_bps: float
    ratio: Estimate | None = None
    adjusted_p: float | None = None

    @property
    def changed(self) -> bool:
        """Whether the difference is clear, also among this many."""
        return self.adjusted_p is not None and self.adjusted_p <= FALSE_DISCOVERIES


class ProfileComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two profiles setting by setting, in the order of the first.

    `overall`: the mean ratio of the settings of each subject with its 90 % interval over the
    settings; subjects with a single common setting are left out.
    """

    cells: list[CellChange]
    overall: dict[str, Estimate]
    only_first: int
    only_second: int


def compare_profiles(
    first: Mapping[Cell, Sequence[float]], second: Mapping[Cell, Sequence[float]]
) -> ProfileComparison:
    """Compare the throughputs in bit/s, all above zero, of the settings that both have."""
    from scipy.stats import false_discovery_control  # Imported late: it takes long.

    common = [cell for cell in first if cell in second]
    tested = [cell for cell in common if min(len(first[cell]), len(second[cell])) >= FEWEST_REPEATS]
    tests = {cell: _welch(first[cell], second[cell]) for cell in tested}
    adjusted = false_discovery_control([p for _, p in tests.values()]) if tests else []
    adjusted_p = dict(zip(tested, map(float, adjusted), strict=True))
    return ProfileComparison(
        cells=[
            CellChange(
                cell=cell,
                first_bps=_geometric_mean(first[cell]),
                second_bps=_geometric_mean(second[cell]),
                ratio=tests[cell][0] if cell in tests else None,
                adjusted_p=adjusted_p.get(cell),
            )
            for cell in common
        ],
        overall=_overall(common, first, second),
        only_first=len(first) - len(common),
        only_second=len(second) - len(common),
    )


def _geometric_mean(rates: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(rates))))


def _welch(first: Sequence[float], second: Sequence[float]) -> tuple[Estimate, float]:
    """The ratio of the geometric means, and the p-value of there being no difference."""
    difference = 0.0
    parts: list[tuple[float, int]] = []
    for sign, rates in ((-1, first), (1, second)):
        logs = np.log(rates)
        spread = max(LEAST_SPREAD, float(logs.std(ddof=1)))
        difference += sign * float(logs.mean())
        parts.append((spread**2 / len(logs), len(logs) - 1))
    variance = sum(part for part, _ in parts)
    degrees = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    return _tested(difference, math.sqrt(variance), degrees)


def _tested(difference: float, error: float, degrees: float) -> tuple[Estimate, float]:
    """The ratio of a difference of logarithms, and the two-sided p-value of Student's test."""
    from scipy.special import stdtr  # Imported late: it takes long.

    half = student(degrees) * error
    interval = (math.exp(difference - half), math.exp(difference + half))
    p = 2 * float(stdtr(degrees, -abs(difference) / error))
    return Estimate(math.exp(difference), interval), p


def _overall(
    common: Sequence[Cell],
    first: Mapping[Cell, Sequence[float]],
    second: Mapping[Cell, Sequence[float]],
) -> dict[str, Estimate]:
    found: dict[str, list[float]] = {}
    for cell in common:
        ratio = float(np.mean(np.log(second[cell])) - np.mean(np.log(first[cell])))
        found.setdefault(cell[0], []).append(ratio)
    return {
        subject: _tested(
            float(np.mean(ratios)),
            max(LEAST_SPREAD, float(np.std(ratios, ddof=1))) / math.sqrt(len(ratios)),
            len(ratios) - 1,
        )[0]
        for subject, ratios in found.items()
        if len(ratios) > 1
    }
