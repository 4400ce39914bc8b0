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

from advisor.models.shares.two_parts import TwoParts

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
    swings = TwoParts((_SLOW, _FAST))
    seen_s = now_s
    for number, (when_s, off) in enumerate(observed):
        if number:
            _pass(swings, when_s - seen_s)
        swings.observe(off, _CHANCE)
        seen_s = when_s
    _pass(swings, now_s - seen_s)
    return swings.first + swings.second


def _pass(swings: TwoParts, passed_s: float) -> None:
    """Let them decay for this time."""
    swings.fade(math.exp(-passed_s / _SLOW_S), math.exp(-passed_s / _FAST_S))
