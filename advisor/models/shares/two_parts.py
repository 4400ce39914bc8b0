"""Two quantities of which only the sum is observed, with a random error: a Kalman filter."""

import math


class TwoParts:
    """Both are 0 on average, with these `variances` as long as nothing is known of them.

    `first`, `second`: what is expected of each.
    """

    def __init__(self, variances: tuple[float, float]) -> None:
        self._usual = variances
        self.first = self.second = 0.0
        self._first, self._second = variances
        self._both = 0.0

    @property
    def variance(self) -> float:
        """That of their sum."""
        return self._first + self._second + 2 * self._both

    def fade(self, first: float, second: float) -> None:
        """Of each this part is left, 0 to 1; the rest is as unknown as at first."""
        self.first *= first
        self.second *= second
        self._first = first**2 * self._first + (1 - first**2) * self._usual[0]
        self._second = second**2 * self._second + (1 - second**2) * self._usual[1]
        self._both *= first * second

    def unsettle(self, first: float, second: float) -> None:
        """They may have changed, with these variances."""
        self._first += first
        self._second += second

    def observe(self, total: float, error_variance: float, farthest: float = math.inf) -> None:
        """Learn from an observation of the sum, at most `farthest` standard deviations away."""
        uncertain = self.variance + error_variance
        most = farthest * math.sqrt(uncertain)
        surprise = max(-most, min(most, total - self.first - self.second)) / uncertain
        first, second = self._first + self._both, self._second + self._both
        self.first += first * surprise
        self.second += second * surprise
        self._first -= first * first / uncertain
        self._second -= second * second / uncertain
        self._both -= first * second / uncertain
