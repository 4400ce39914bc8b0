"""How far a destination's rates are from what its model expects, as a logarithm.

One part holds at all concurrencies, as that of the load; the other at these alone: the model's own
error there. A Kalman filter follows both through the epochs. An epoch shows their sum, and at other
concurrencies only the first is left, as far as these are apart.
"""

import math
from typing import Final, TypeAlias

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
        self._common = self._own = 0.0
        self._common_variance = _COMMON * spread**2
        self._own_variance = self._own_usual = (1 - _COMMON) * spread**2
        self._both = 0.0
        self._levels: Levels | None = None

    def at(self, levels: Levels) -> float:
        """What is expected at these concurrencies."""
        return self._common + self._likeness(levels) * self._own

    @property
    def variance(self) -> float:
        """That of what is expected at the concurrencies of the last epoch."""
        return self._common_variance + self._own_variance + 2 * self._both

    def observe(self, off: float, levels: Levels, *, error: float, slope: float) -> None:
        """Learn from an epoch at these concurrencies, which was `off` from the model.

        `error`: the standard error of that. `slope`: that of the model's exponent.
        """
        self._move(levels, slope)
        uncertain = self.variance + error**2
        farthest = _FARTHEST * math.sqrt(uncertain)
        surprise = max(-farthest, min(farthest, off - self._common - self._own)) / uncertain
        common, own = self._common_variance + self._both, self._own_variance + self._both
        self._common += common * surprise
        self._own += own * surprise
        self._common_variance -= common * common / uncertain
        self._own_variance -= own * own / uncertain
        self._both -= common * own / uncertain

    def _move(self, levels: Levels, slope: float) -> None:
        alike = self._likeness(levels)
        self._own *= alike
        self._both *= alike
        self._own_variance = alike**2 * self._own_variance + (1 - alike**2) * self._own_usual
        if self._levels is not None:
            self._own_variance += (slope * math.log(levels[0] / self._levels[0])) ** 2
        self._common_variance += _PER_EPOCH
        self._levels = levels

    def _likeness(self, levels: Levels) -> float:
        """How much of the model's error at the last concurrencies holds at these: 0 to 1."""
        if self._levels is None:
            return 1.0
        pairs = zip(levels, self._levels, strict=True)
        return math.exp(-sum(abs(math.log(new / old)) for new, old in pairs) / _REACH)
