"""Detects a throughput change at a fixed setting: a change of conditions, not chance.

The papers treat any change of more than 5 % between epochs as such, and search again (Balaprakash
et al. 2016, algorithm 2, line 18). Epochs differ by that much by chance, and the search then costs
more than it gains. Here two consecutive epochs must deviate to the same side, and by more.
"""

from statistics import fmean
from typing import Final

LEAST_CHANGE: Final = 0.25
"""As a fraction of the previous rate: the gain of a search must be worth its epochs."""

_REFERENCE: Final = 3
_IN_A_ROW: Final = 2


class Changing:
    """Watches one setting. The first three epochs establish its rate."""

    def __init__(self, least_change: float = LEAST_CHANGE) -> None:
        self._least_change = least_change
        self._reference: list[float] = []
        self._off: list[float] = []

    @property
    def reference_bps(self) -> float:
        """The established rate, 0 before the first epoch."""
        return fmean(self._reference) if self._reference else 0.0

    def sees(self, bps: float) -> bool:
        """Process the rate of one more epoch, 0 for none; whether conditions have changed."""
        if len(self._reference) < _REFERENCE and not self._is_off(bps):
            self._reference.append(bps)
            return False
        if not self._is_off(bps):
            self._off.clear()
            return False
        if self._off and (bps > self.reference_bps) != (self._off[-1] > self.reference_bps):
            self._off.clear()
        self._off.append(bps)
        return len(self._off) >= _IN_A_ROW

    def _is_off(self, bps: float) -> bool:
        reference_bps = self.reference_bps
        if not self._reference:
            return False
        return abs(bps - reference_bps) > self._least_change * reference_bps
