"""Ends and ticks of axes. Pure: a scale does not depend on the drawing."""

import math
from typing import Final

_ENDS: Final = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
"""Mantissas an axis of bars may end at."""

_STEPS: Final = (1.0, 2.0, 5.0, 10.0)
"""Mantissas of the distance between two ticks."""

_ONE_STEP: Final = 1.1
"""Two ticks say less than three: they must spare this much of the axis."""

_ROOM: Final = 1.15
_LEAST_ROOM: Final = 1.02

_RATE_UNITS: Final = ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")


def nice_end(value: float) -> float:
    """The least round number that is not below `value`; 1 for zero and less."""
    if value <= 0:
        return 1.0
    decade: float = 10.0 ** math.floor(math.log10(value))
    for mantissa in _ENDS:
        # Rounding must not move a value that is such an end to the next one.
        if value <= mantissa * decade * (1 + 1e-9):
            return mantissa * decade
    return 10 * decade


def axis_end(highest: float, before: float = 0.0) -> float:
    """The end of a chart's axis: `before`, as long as it has room for `highest`.

    Otherwise 15 % above `highest`. So an axis grows in steps, not with every sample.
    """
    return before if highest * _LEAST_ROOM <= before else highest * _ROOM


def ticks(end: float, most: int) -> list[float]:
    """Equidistant round numbers from zero up to `end` at most; at most `most`, at least two."""
    decade = 10.0 ** math.floor(math.log10(end / max(most - 1, 1)))
    step = next(
        size * decade for size in _STEPS if int(end / (size * decade) * (1 + 1e-9)) + 1 <= most
    )
    return [step * i for i in range(int(end / step * (1 + 1e-9)) + 1)]


def ticks_in_rows(end: float, rows: int, most: int) -> tuple[float, list[float]]:
    """The end of an axis of this many rows and its ticks, each in the middle of a row.

    The end is `end` or a little above, so that the distance of two ticks is a number of rows.
    """
    found = [
        (step * rows / rows_each, step)
        for step in _steps_within(end)
        if end / step < most and (rows_each := int(step / end * rows))
    ]
    if not found:
        return end, ticks(end, 2)
    fitted, step = min(found, key=lambda one: one[0] * (1.0 if 2 * one[1] <= end else _ONE_STEP))
    return fitted, [step * i for i in range(int(fitted / step * (1 + 1e-9)) + 1)]


def _steps_within(end: float) -> list[float]:
    decade = 10.0 ** math.floor(math.log10(end))
    sizes = [size * decade * scale for scale in (0.1, 1.0) for size in _STEPS[:-1]]
    return [size for size in sizes if size <= end]


def rate_unit(top_bps: float) -> tuple[float, str]:
    """The unit for an axis up to `top_bps`: its size in bit/s, and its name."""
    power = min(max(int(math.log10(max(top_bps, 1.0)) // 3), 0), len(_RATE_UNITS) - 1)
    return 1000.0**power, _RATE_UNITS[power]
