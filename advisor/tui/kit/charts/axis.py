"""Ends and ticks of axes. Pure: a scale does not depend on the drawing."""

import math
from typing import Final

_ENDS: Final = {1.0: 5, 1.5: 3, 2.0: 4, 2.5: 5, 3.0: 3, 4.0: 4, 5.0: 5, 6.0: 3, 8.0: 4}
"""Mantissas an axis may end at, each with the number of parts it divides well into."""

_RATE_UNITS: Final = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")


def nice_end(value: float) -> float:
    """The least round number that is not below `value`; 1 for zero and less."""
    if value <= 0:
        return 1.0
    decade: float = 10.0 ** math.floor(math.log10(value))
    for mantissa in (*_ENDS, 10.0):
        # Rounding must not move a value that is such an end to the next one.
        if value <= mantissa * decade * (1 + 1e-9):
            return mantissa * decade
    return 10 * decade


def ticks(end: float, most: int) -> list[float]:
    """Equidistant ticks from zero to `end`, both included: at most `most` parts (at least two)."""
    decade = 10.0 ** math.floor(math.log10(end) + 1e-9)
    parts = _ENDS.get(round(end / decade, 6), 5)
    if parts + 1 > most:
        parts = 2 if most >= 3 and parts % 2 == 0 else 1
    return [end * i / parts for i in range(parts + 1)]


def rate_unit(top_bps: float) -> tuple[float, str]:
    """The unit for an axis up to `top_bps`: its size in bit/s, and its name."""
    power = min(max(int(math.log10(max(top_bps, 1.0)) // 3), 0), len(_RATE_UNITS) - 1)
    return 1000.0**power, _RATE_UNITS[power]
