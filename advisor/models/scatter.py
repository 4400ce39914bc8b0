"""By how much single measurements scatter around a smooth curve, without repeats of any point.

Each is compared with the line through its two neighbours (Gasser, Sroka and Jennen-Steinmetz,
"Residual variance and residual pattern in nonlinear regression", Biometrika 73(3), 1986). Of the
sizes the median is taken here, and not the mean square: a curve of rates has one real bend, where
the link is full.
"""

import math
import statistics
from collections.abc import Iterable
from typing import Final

_FEWEST: Final = 4
_NORMAL: Final = 0.6745
"""The median size of a normal deviate of variance 1."""


_Point = tuple[float, float]


def scatter(points: Iterable[_Point]) -> float:
    """The standard deviation of a single y, in its unit; 0 with fewer than four points.

    `points`: x and y, in any order; several may have the same x.
    """
    ordered = sorted(points, key=lambda point: point[0])
    if len(ordered) < _FEWEST:
        return 0.0
    triples = zip(ordered, ordered[1:], ordered[2:], strict=False)
    return statistics.median(abs(_residual(*triple)) for triple in triples) / _NORMAL


def _residual(before: _Point, point: _Point, after: _Point) -> float:
    """The distance from the line between the neighbours, of the variance of a single y."""
    width = after[0] - before[0]
    weight = (point[0] - before[0]) / width if width > 0 else 0.5
    expected = before[1] * (1 - weight) + after[1] * weight
    return (point[1] - expected) / math.sqrt(1 + weight**2 + (1 - weight) ** 2)
