"""Which differences between measured settings are real, and what to expect of the best one.

Throughputs vary by a share of themselves, so everything is compared as logarithms, and the spread
is pooled over the settings compared: with three probes each, one setting's own spread is too poor
an estimate to build an interval on. Intervals are Student's at 90 %.
"""

import math
from collections.abc import Sequence
from typing import Final

from advisor.domain.advice import Estimate

CONFIDENCE: Final = 0.90
TYPICAL_SPREAD: Final = 0.15
"""Coefficient of variation to suppose where nothing was repeated: the middle of the 8 to 23 % by
which repeats of one GridFTP setting differ in published measurements of wide-area paths."""

LEAST_SPREAD: Final = 0.003
"""Two or three probes that happen to agree to the byte do not make a setting known exactly."""

SLICE_SPREAD: Final = 0.03
"""The least where a slice of a dataset stands for the whole: slices repeat themselves better than
they foretell it."""

_SUPPOSED_DEGREES: Final = 4

_FEW_DEGREES: Final = 3
"""Below so many a spread is luck: two probes that differ by chance, or agree by chance. What is
lacking is filled up with the typical one."""

PRACTICALLY_SAME: Final = 0.03
"""A difference that is not worth more streams, memory or another protocol even when it is real."""

PERHAPS_SAME: Final = 0.05
"""A difference that is not worth them as long as the data do not show that it is real. It bounds
what noise may hide: with few probes, settings that differ by a third are not told apart either."""


def _student(degrees: float) -> float:
    """The two-sided quantile of Student's distribution at `CONFIDENCE`."""
    from scipy.special import stdtrit  # Imported late: it takes longer than all the rest.

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))


class _Spread:
    """The pooled spread of one group, on the scale of logarithms, and what it stands on."""

    def __init__(self, logs: Sequence[Sequence[float]], least: float) -> None:
        self.degrees = sum(len(s) - 1 for s in logs)
        squares = math.fsum((v - math.fsum(s) / len(s)) ** 2 for s in logs for v in s)
        if 0 < self.degrees < _FEW_DEGREES:
            squares += (_FEW_DEGREES - self.degrees) * TYPICAL_SPREAD**2
            self.degrees = _FEW_DEGREES
        measured = math.sqrt(squares / self.degrees) if self.degrees else TYPICAL_SPREAD
        self.value = max(least, measured)
        # With nothing repeated the spread is a supposition; a handful of degrees says how weak.
        self.degrees = self.degrees or _SUPPOSED_DEGREES


class Comparison:
    """Repeated throughputs of several settings, in bit/s, all above zero.

    `groups` names what each setting belongs to (its transport): the spread is pooled within a
    group, since UDT on a busy host varies several times as much as TCP. Without it all are one.
    `least_spread`: as a share, what the spread is taken for at the least.
    """

    def __init__(
        self,
        samples: Sequence[Sequence[float]],
        groups: Sequence[str] | None = None,
        least_spread: float = LEAST_SPREAD,
    ) -> None:
        if not samples or any(not s or min(s) <= 0 for s in samples):
            raise ValueError("every setting needs at least one throughput above zero")
        self._logs = [[math.log(v) for v in s] for s in samples]
        self._means = [math.fsum(s) / len(s) for s in self._logs]
        self._groups = list(groups) if groups is not None else [""] * len(samples)
        members = list(zip(self._logs, self._groups, strict=True))
        self._spreads = {
            group: _Spread([s for s, g in members if g == group], least_spread)
            for group in self._groups
        }

    def _spread(self, index: int) -> _Spread:
        return self._spreads[self._groups[index]]

    def mean(self, index: int) -> Estimate:
        """The setting's mean throughput (geometric) and where that mean lies."""
        spread = self._spread(index)
        half = _student(spread.degrees) * spread.value / math.sqrt(len(self._logs[index]))
        return _back(self._means[index], half)

    def next_one(self, index: int) -> Estimate:
        """The setting's mean throughput and where one further measurement is expected."""
        spread = self._spread(index)
        half = _student(spread.degrees) * spread.value * math.sqrt(1 + 1 / len(self._logs[index]))
        return _back(self._means[index], half)

    def ratio(self, index: int, to: int) -> Estimate:
        """How many times the throughput of `to` the setting reaches.

        Across groups the degrees of freedom are Welch's and Satterthwaite's.
        """
        ours, theirs = self._spread(index), self._spread(to)
        our_part = ours.value**2 / len(self._logs[index])
        their_part = theirs.value**2 / len(self._logs[to])
        variance = our_part + their_part
        degrees = float(ours.degrees)
        if ours is not theirs:
            weighed = our_part**2 / ours.degrees + their_part**2 / theirs.degrees
            degrees = variance**2 / weighed
        half = _student(degrees) * math.sqrt(variance)
        return _back(self._means[index] - self._means[to], half)

    def told_apart(self, index: int, other: int) -> bool:
        """Whether the interval of the ratio leaves out 1."""
        lower, upper = self.ratio(index, other).interval
        return lower > 1 or upper < 1

    def settled(self, index: int, other: int) -> bool:
        """Whether more repeats would change nothing: told apart, or known to be about the same."""
        lower, upper = self.ratio(index, other).interval
        near = lower > 1 - PRACTICALLY_SAME and upper < 1 + PRACTICALLY_SAME
        return near or lower > 1 or upper < 1

    def order(self) -> list[int]:
        """The settings' indices, best mean first."""
        return sorted(range(len(self._means)), key=lambda i: -self._means[i])

    def same_as_best(self) -> list[int]:
        """The best, and those to be taken for it.

        They are at most 3 % behind in mean, or at most 5 % and not told apart.
        """
        best = self.order()[0]
        return [i for i in range(len(self._means)) if self._is_same(i, best)]

    def _is_same(self, index: int, best: int) -> bool:
        behind = 1 - math.exp(self._means[index] - self._means[best])
        return behind <= PRACTICALLY_SAME or (
            behind <= PERHAPS_SAME and not self.told_apart(index, best)
        )


def _back(log_value: float, log_half: float) -> Estimate:
    return Estimate(
        math.exp(log_value), (math.exp(log_value - log_half), math.exp(log_value + log_half))
    )
