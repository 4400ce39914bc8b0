"""How precisely a destination's rate is known while it is measured.

The paper measures for 90 s whatever that shows. Rates of successive seconds are alike, as windows
grow and shrink over many round trips, so the standard error of their mean is that of independent
ones, multiplied by √((1 + ρ) / (1 − ρ)), ρ being the correlation of neighbours (Law, "Simulation
modeling and analysis", section 4.4). A few rates may be alike by chance: the spread counts as if it
had been seen in `_DEGREES` more of them, and so does the correlation.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Final

FEWEST: Final = 8
"""Rates of which a standard error says something."""

_SPREAD: Final = 0.2
_DEGREES: Final = 4
_CORRELATION: Final = 0.5
_MOST_CORRELATION: Final = 0.9


def relative_error(rates: Sequence[float]) -> float:
    """The standard error of the mean of equally long intervals, as a fraction of it.

    Infinite for fewer than FEWEST, and where the mean is 0.
    """
    mean = math.fsum(rates) / len(rates) if rates else 0.0
    if len(rates) < FEWEST or mean <= 0:
        return math.inf
    off = [rate / mean - 1 for rate in rates]
    squares = math.fsum(one * one for one in off)
    products = math.fsum(one * other for one, other in itertools.pairwise(off))
    supposed = _DEGREES * _SPREAD**2
    correlation = (products + _CORRELATION * supposed) / (squares + supposed)
    correlation = max(0.0, min(_MOST_CORRELATION, correlation))
    variance = (squares + supposed) / (len(rates) - 1 + _DEGREES)
    return math.sqrt(variance / len(rates) * (1 + correlation) / (1 - correlation))


def largest_error(rates: Iterable[Sequence[float]]) -> float:
    """The largest of several destinations' errors."""
    return max((relative_error(some) for some in rates), default=math.inf)
