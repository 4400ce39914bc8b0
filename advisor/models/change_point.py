"""Whether the rate of a pair has changed: a sequential test of each pair against its own history.

A self-starting cumulative sum (Hawkins, 1987: Self-starting CUSUM charts for location and scale) on
the logarithm of the rate, where a relative spread is the same for all pairs. It needs no period of
learning: record n + 1 is compared with the n before it by Student's predictive distribution, and
what comes out is standard normal while nothing changes, however few records there are:

    z = Φ⁻¹(T_ν((x − mean) / (s √(1 + 1/n))))
    falls = max(0, falls − z − K),    rises = max(0, rises + z − K)

A change is called when a sum reaches LIMIT, suspected from SUSPICION on. Against heavy tails each z
counts up to ±CLIP, so that a single record can raise a suspicion and no alarm, and a record enters
mean and spread no further out than TUNING spreads (Huber, 1981: Robust Statistics, proposal 2). Of
the spread of a pair with few records ASSUMED is part.
"""

import math
from enum import StrEnum
from typing import Final

import msgspec

from advisor.models.comparison import AssumedSpread

K: Final = 0.5
"""Half the shift, in spreads, that the sum is quickest for (Page, 1954)."""

CLIP: Final = 3.0
LIMIT: Final = 9.0
"""One false alarm in 26,000 records of normal noise whose spread is known (Siegmund, 1985: with
b = LIMIT + 1.166, (exp(2 K b) − 2 K b − 1) / (2 K²) for one of two sums). That it is not known, and
heavier tails, make it one in 3,700 to 73,000: docs/benchmarks-fleet-simulated.md. Four records at
CLIP reach it."""

SUSPICION: Final = 2.0
"""Reached by one record at CLIP, or by two or three that are clearly off."""

TUNING: Final = 2.0
_CONSISTENCY: Final = 0.9205
"""The mean of the squares of normal noise that is cut off at ±TUNING."""

ASSUMED: Final = AssumedSpread(0.10, 3)
"""Advice of one path differs by about this much from day to day: more than repeats in a session."""

_LEAST_SPREAD: Final = 0.02
"""Differences below a few per cent are of no interest, however alike records are."""


class Verdict(StrEnum):
    """What a record says."""

    NONE = "none"
    SUSPECTED = "suspected"
    CHANGED = "changed"


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """A change that was called. `records`: how many lie at or after it, the last one included.

    Rates in bit/s: geometric means before the change and since then.
    """

    records: int
    before_bps: float
    after_bps: float

    @property
    def factor(self) -> float:
        """The rate since the change as a multiple of that before it."""
        return self.after_bps / self.before_bps


class _Sum:
    """One of the two sums; `log_rates`: of the records since it was last zero, the oldest first.

    `before`: the mean of the records before those.
    """

    __slots__ = ("before", "log_rates", "sign", "value")

    def __init__(self, sign: float) -> None:
        self.sign = sign
        self.value = self.before = 0.0
        self.log_rates: list[float] = []

    def clear(self) -> None:
        self.value = 0.0
        self.log_rates = []

    def add(self, z: float, log_rate: float, mean: float) -> None:
        """A record; `mean`: of those before it."""
        value = self.value + self.sign * z - K
        if value <= 0.0:
            if self.value > 0.0:
                self.clear()
            return
        if not self.log_rates:
            self.before = mean
        self.value = value
        self.log_rates.append(log_rate)

    def since_change(self) -> list[float]:
        """Those that the change lies before, most likely: chance may have begun the sum earlier.

        The likelihood of a shift of the mean is greatest where the number of records after it,
        times the square of their distance from the mean before, is.
        """
        best, total = (0.0, 0), 0.0
        for number in range(1, len(self.log_rates) + 1):
            total += self.log_rates[-number] - self.before
            if total * self.sign > 0:
                best = max(best, (total * total / number, number))
        return self.log_rates[-best[1] :]


class ChangeTest:
    """The test of one pair; give it each rate in the order of time.

    After a change the records since then are its new history.
    """

    __slots__ = ("_falls", "_mean", "_records", "_rises", "_squares", "shift")

    def __init__(self) -> None:
        self._records = 0
        self._mean = 0.0
        self._squares = 0.0
        self._falls = _Sum(-1.0)
        self._rises = _Sum(1.0)
        self.shift: Shift | None = None
        """The last change that was called."""

    def tell(self, rate_bps: float) -> Verdict:
        """One more record; its rate is above zero."""
        log_rate = math.log(rate_bps)
        if not self._records:
            self._records, self._mean = 1, log_rate
            return Verdict.NONE
        degrees = ASSUMED.degrees + self._records - 1
        squares = ASSUMED.degrees * ASSUMED.value**2 + self._squares
        spread = math.sqrt(squares / degrees)
        scale = max(spread, _LEAST_SPREAD) * math.sqrt(1.0 + 1.0 / self._records)
        z = _normal_score((log_rate - self._mean) / scale, degrees)
        self._falls.add(z, log_rate, self._mean)
        self._rises.add(z, log_rate, self._mean)
        self._learn(log_rate, TUNING * scale)
        highest = max(self._falls, self._rises, key=lambda one: one.value)
        if highest.value >= LIMIT:
            self._change(highest)
            return Verdict.CHANGED
        return Verdict.SUSPECTED if highest.value >= SUSPICION else Verdict.NONE

    def _learn(self, log_rate: float, furthest: float) -> None:
        apart = min(max(log_rate - self._mean, -furthest), furthest)
        self._records += 1
        self._mean += apart / self._records
        self._squares += apart * apart * (self._records - 1) / self._records / _CONSISTENCY

    def _change(self, since: _Sum) -> None:
        records = since.since_change()
        mean = math.fsum(records) / len(records)
        self.shift = Shift(
            records=len(records), before_bps=math.exp(since.before), after_bps=math.exp(mean)
        )
        self._records, self._mean = len(records), mean
        self._squares = math.fsum((one - mean) ** 2 for one in records)
        self._falls.clear()
        self._rises.clear()


def _normal_score(t: float, degrees: float) -> float:
    """The standard normal quantile of Student's distribution at `t`, within ±CLIP."""
    from scipy.special import ndtri, stdtr  # Imported late: it takes longer than all the rest.

    # By the lower tail, whose digits are exact.
    z = float(ndtri(stdtr(degrees, -abs(t))))
    return math.copysign(min(-z, CLIP), t)
