"""The external load, tracked through all earlier throughputs of a destination: our own method.

The previous transfer alone gives a load with a large random error, and the mean of half an hour one
that may be outdated. Here the load is its usual value plus two deviations: one that lasts as long
as the paper's half hour, and one of a minute, as other transfers come and go. A Kalman filter
separates them from the random error of each observation. The longer ago the last observation, the
closer the load returns to its usual value.
"""

import math
from collections.abc import Iterable
from typing import Final

_SLOW_S: Final = 1800.0
_FAST_S: Final = 60.0
_SLOW: Final = 0.5
_FAST: Final = 1.0 - _SLOW
_CHANCE: Final = 0.3
"""Variances, relative to that of the load."""

REMEMBERED_S: Final = 4 * _SLOW_S
"""Older observations have a weight below 1/50."""


def filtered(observed: Iterable[tuple[float, float]], now_s: float) -> float:
    """The deviation of the load from its usual value at `now_s`.

    `observed`: in order of time, the time of each observation and its deviation.
    """
    swings = _Swings()
    seen_s = now_s
    for number, (when_s, off) in enumerate(observed):
        if number:
            swings.fade(when_s - seen_s)
        swings.see(off)
        seen_s = when_s
    swings.fade(now_s - seen_s)
    return swings.slow + swings.fast


class _Swings:
    """Both deviations, with their variances and covariance."""

    def __init__(self) -> None:
        self.slow = self.fast = 0.0
        self._slow, self._fast, self._both = _SLOW, _FAST, 0.0

    def fade(self, passed_s: float) -> None:
        """Let them decay for this time."""
        slow, fast = math.exp(-passed_s / _SLOW_S), math.exp(-passed_s / _FAST_S)
        self.slow *= slow
        self.fast *= fast
        self._slow = slow**2 * self._slow + (1 - slow**2) * _SLOW
        self._fast = fast**2 * self._fast + (1 - fast**2) * _FAST
        self._both *= slow * fast

    def see(self, off: float) -> None:
        """Update with an observation of their sum, which has a random error."""
        slow, fast = self._slow + self._both, self._fast + self._both
        uncertain = slow + fast + _CHANCE
        surprise = (off - self.slow - self.fast) / uncertain
        self.slow += slow * surprise
        self.fast += fast * surprise
        self._slow -= slow * slow / uncertain
        self._fast -= fast * fast / uncertain
        self._both -= slow * fast / uncertain
