"""An axis for ages from minutes to years: logarithmic, the oldest on the left. Pure."""

import math
from collections.abc import Sequence
from typing import Final

_MINUTE_S: Final = 60.0
_HOUR_S: Final = 3600.0
_DAY_S: Final = 24 * _HOUR_S
_YEAR_S: Final = 365.25 * _DAY_S
_TICKS: Final = (
    (_MINUTE_S, "1 min"),
    (10 * _MINUTE_S, "10 min"),
    (_HOUR_S, "1 h"),
    (6 * _HOUR_S, "6 h"),
    (_DAY_S, "1 d"),
    (7 * _DAY_S, "1 week"),
    (_YEAR_S / 12, "1 month"),
    (_YEAR_S / 4, "3 months"),
    (_YEAR_S, "1 year"),
    (2 * _YEAR_S, "2 years"),
    (5 * _YEAR_S, "5 years"),
    (10 * _YEAR_S, "10 years"),
    (30 * _YEAR_S, "30 years"),
)


class AgeAxis:
    """The axis for these ages, in seconds. `ticks`: places with labels; `end`: the last place."""

    def __init__(self, ages_s: Sequence[float]) -> None:
        known_s = [age_s for age_s, _ in _TICKS]
        below = [age_s for age_s in known_s if age_s < min(ages_s)]
        above = [age_s for age_s in known_s if age_s >= max(ages_s)]
        self._newest_s = max(below, default=known_s[0])
        self._oldest_s = min(above, default=max(ages_s))
        if self._oldest_s == self._newest_s:
            self._oldest_s = known_s[1]
        self.end = self.place(self._newest_s)
        self.ticks = [
            (self.place(age_s), label)
            for age_s, label in reversed(_TICKS)
            if self._newest_s <= age_s <= self._oldest_s
        ]

    def place(self, age_s: float) -> float:
        """Where an age is, from 0 for the oldest; younger than the axis is at its end."""
        return math.log10(self._oldest_s / max(age_s, self._newest_s))
