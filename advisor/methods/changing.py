"""Detects a throughput change at a fixed setting: a change of conditions, not chance.

The papers treat any change of more than 5 % between epochs as such, and search again (Balaprakash
et al. 2016, algorithm 2, line 18). Epochs differ by that much by chance, and the search then costs
more than it gains. Here two consecutive epochs must deviate to the same side, and by more: on hosts
that also compute by more than the epochs at the setting differ among themselves.
"""

from collections import deque
from statistics import fmean, stdev
from typing import Final

LEAST_CHANGE: Final = 0.25
"""As a fraction of the previous rate: the gain of a search must be worth its epochs."""

_REFERENCE: Final = 3
_IN_A_ROW: Final = 2
_KEPT: Final = 100
"""Epochs by which their spread is known; a transfer may last for days."""
_CERTAINLY: Final = 2.0
"""In standard deviations of an epoch."""


class Changing:
    """Watches one setting. The first three epochs establish its rate."""

    def __init__(self, least_change: float = LEAST_CHANGE) -> None:
        self._least_change = least_change
        self._reference: list[float] = []
        self._usual: deque[float] = deque(maxlen=_KEPT)
        self._off: list[float] = []

    @property
    def reference_bps(self) -> float:
        """The established rate, 0 before the first epoch."""
        return fmean(self._reference) if self._reference else 0.0

    def sees(self, bps: float, stderr_bps: float = 0.0) -> bool:
        """Process the rate of one more epoch, 0 for none; whether conditions have changed.

        `stderr_bps`: its standard error as far as it shows within the epoch.
        """
        if not self._is_off(bps, stderr_bps):
            if len(self._reference) < _REFERENCE:
                self._reference.append(bps)
            self._take_as_usual()
            self._usual.append(bps)
            return False
        if self._off and (bps > self.reference_bps) != (self._off[-1] > self.reference_bps):
            self._take_as_usual()
        self._off.append(bps)
        return len(self._off) >= _IN_A_ROW

    def _take_as_usual(self) -> None:
        """An epoch that was off alone was so by chance: it says how far chance goes."""
        self._usual += self._off
        self._off.clear()

    def _is_off(self, bps: float, stderr_bps: float) -> bool:
        if not self._reference:
            return False
        spread_bps = stdev(self._usual) if len(self._usual) >= _REFERENCE else 0.0
        by_chance_bps = _CERTAINLY * max(spread_bps, stderr_bps)
        change_bps = abs(bps - self.reference_bps)
        return change_bps > max(self._least_change * self.reference_bps, by_chance_bps)
