"""How far a destination's rates are from what its model expects, as a logarithm.

One part holds at all concurrencies, as that of the load; the other at these alone: the model's own
error there. A Kalman filter follows both through the epochs. An epoch shows their sum, and at other
concurrencies only the first is left, as far as these are apart.
"""

import math
from typing import Final, TypeAlias

from advisor.models.shares.two_parts import TwoParts

_COMMON: Final = 0.7
"""The part of the initial variance that all concurrencies have in common."""

_REACH: Final = 0.5
"""Of the model's own error, in logarithms of concurrencies: from two files to three and from ten in
all to eleven it has lost two thirds."""

_PER_EPOCH: Final = 0.05**2
"""The variance added per epoch, as loads come and go."""

_FARTHEST: Final = 2.0
"""Standard deviations; what is observed farther off, as when clients stall, is clipped to this."""

Levels: TypeAlias = tuple[float, float]
"""The concurrency of the destination, and that of all."""


class Deviation:
    """The deviation of one destination; `spread`: its initial standard deviation, above 0."""

    def __init__(self, spread: float) -> None:
        # The common part, and that of these concurrencies.
        self._parts = TwoParts((_COMMON * spread**2, (1 - _COMMON) * spread**2))
        self._levels: Levels | None = None

    def at(self, levels: Levels) -> float:
        """What is expected at these concurrencies."""
        return self._parts.first + self._likeness(levels) * self._parts.second

    @property
    def variance(self) -> float:
        """That of what is expected at the concurrencies of the last epoch."""
        return self._parts.variance

    def observe(self, off: float, levels: Levels, *, error: float, slope: float) -> None:
        """Learn from an epoch at these concurrencies, which was `off` from the model.

        `error`: the standard error of that. `slope`: that of the model's exponent.
        """
        self._parts.fade(1.0, self._likeness(levels))
        apart = math.log(levels[0] / self._levels[0]) if self._levels else 0.0
        self._parts.unsettle(_PER_EPOCH, (slope * apart) ** 2)
        self._levels = levels
        self._parts.observe(off, error**2, _FARTHEST)

    def _likeness(self, levels: Levels) -> float:
        """How much of the model's error at the last concurrencies holds at these: 0 to 1."""
        if self._levels is None:
            return 1.0
        pairs = zip(levels, self._levels, strict=True)
        return math.exp(-sum(abs(math.log(new / old)) for new, old in pairs) / _REACH)
