"""The scale of horizontal bars: from zero, in one unit for figures and ticks. Pure."""

import math
from collections.abc import Sequence
from typing import Final

from advisor.tui.kit.charts.axis import rate_unit

_BEYOND: Final = 1.15
_FARTHEST: Final = 1.5
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)
_TICK_COLUMNS: Final = 10


def axis_end(values_bps: Sequence[float], reaches_bps: Sequence[float]) -> float:
    """Where an axis ends, in bit/s: a little beyond the longest bar and its interval.

    An interval that reaches much farther than all bars does not flatten them: it is cut off.
    """
    longest_bps = max(values_bps, default=0.0)
    reach_bps = min(max(reaches_bps, default=0.0), _FARTHEST * longest_bps)
    return max(_BEYOND * longest_bps, reach_bps) or 1.0


class BarScale:
    """Rates in bit/s as columns of a bar, 0 to `columns` - 1, and as figures in `unit`.

    `unit_of_bps` decides the unit and the decimals, `top_bps` is the end of the axis.
    """

    def __init__(self, unit_of_bps: float, top_bps: float, columns: int) -> None:
        self.top_bps = top_bps
        self.columns = columns
        self._per_unit, self.unit = rate_unit(unit_of_bps)
        in_units = unit_of_bps / self._per_unit
        # Three significant figures for that rate, and as many decimals for all others.
        self._digits = 0 if in_units >= 100 else (1 if in_units >= 10 else 2)

    def figure(self, rate_bps: float) -> str:
        """The rate in the unit of the scale; `<1` where it would be rounded to nothing."""
        least = 10.0**-self._digits
        value = rate_bps / self._per_unit
        if 0 < value < least / 2:
            return f"<{least:.{self._digits}f}"
        return f"{value:.{self._digits}f}"

    def column(self, rate_bps: float) -> int:
        """The column of a rate; the last one for what is beyond the axis."""
        return min(self.columns - 1, round(rate_bps / self.top_bps * (self.columns - 1)))

    def ticks(self) -> list[tuple[int, str]]:
        """Columns of round rates with their figures, as many as fit, zero first."""
        top = self.top_bps / self._per_unit
        step = _round_step(top / max(2, self.columns // _TICK_COLUMNS))
        return [
            (self.column(n * step * self._per_unit), f"{n * step:g}")
            for n in range(int(top / step * (1 + 1e-9)) + 1)
        ]


def _round_step(least: float) -> float:
    """The least round number that is not below this."""
    decade = 10.0 ** math.floor(math.log10(least))
    return next(step * decade for step in _STEPS if step * decade >= least * (1 - 1e-9))
