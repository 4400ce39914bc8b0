"""The external load, followed through all that a destination got before: our own way.

The previous transfer alone tells a load that is off by chance, and the mean of half an hour one
that may be over. Here the load is what it usually is and two swings about that: one that lasts as
long as the paper's half hour, and one of a minute, as others' transfers come and go. A Kalman
filter parts them from what each observation is off by chance. The longer ago the last one was, the
nearer the load is to the usual one again.
"""

import math
from collections.abc import Iterable
from typing import Final

_SLOW_S: Final = 1800.0
_FAST_S: Final = 60.0
_SLOW: Final = 0.5
_FAST: Final = 1.0 - _SLOW
_CHANCE: Final = 0.3
"""Variances, that of the load being 1."""

REMEMBERED_S: Final = 4 * _SLOW_S
"""What is older counts less than a fiftieth."""


def filtered(observed: Iterable[tuple[float, float]], now_s: float) -> float:
    """How far the load is off the usual one at `now_s`.

    `observed`: in the order of time, when it was seen, and how far it was off then.
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
    """Both, with their variances and what these have in common."""

    def __init__(self) -> None:
        self.slow = self.fast = 0.0
        self._slow, self._fast, self._both = _SLOW, _FAST, 0.0

    def fade(self, passed_s: float) -> None:
        """After this time."""
        slow, fast = math.exp(-passed_s / _SLOW_S), math.exp(-passed_s / _FAST_S)
        self.slow *= slow
        self.fast *= fast
        self._slow = slow**2 * self._slow + (1 - slow**2) * _SLOW
        self._fast = fast**2 * self._fast + (1 - fast**2) * _FAST
        self._both *= slow * fast

    def see(self, off: float) -> None:
        """The sum of both was seen, off by chance."""
        slow, fast = self._slow + self._both, self._fast + self._both
        uncertain = slow + fast + _CHANCE
        surprise = (off - self.slow - self.fast) / uncertain
        self.slow += slow * surprise
        self.fast += fast * surprise
        self._slow -= slow * slow / uncertain
        self._fast -= fast * fast / uncertain
        self._both -= slow * fast / uncertain
