"""Which differences between measured settings are real, and what to expect of the best one.

The spread of throughputs is proportional to their mean, so they are compared as logarithms. The
spread is pooled over the compared settings: with three probes each, a setting's own spread is too
poor an estimate for an interval. Intervals are Student's at 90 %.
"""

import math
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from advisor.domain.advice import NINE_OF_TEN, Estimate

CONFIDENCE: Final = 0.90


class AssumedSpread(msgspec.Struct, frozen=True):
    """A relative spread that is known from elsewhere than repeats, with its `degrees` of freedom:
    its weight."""

    value: float
    degrees: float


MEMORY_TO_MEMORY: Final = AssumedSpread(0.05, 1)
"""For probes of a network, on a path that is not known. With one degree the quartiles of what is
assumed are 4 and 16 %: from quiet paths up to the 8 to 23 % of published measurements. Three
repeats outweigh it, and one alone has an interval of ±30 %."""

TYPICAL_SPREAD: Final = 0.15
"""Coefficient of variation to assume where nothing was repeated: the middle of the 8 to 23 % by
which repeats of one GridFTP setting differ in published measurements of wide-area paths."""

LEAST_SPREAD: Final = 0.003
"""Two or three probes that agree by chance to the byte do not determine a setting exactly."""

EXACT: Final = AssumedSpread(LEAST_SPREAD, 0)
"""The lower bound for probes that each measure what is compared."""

SLICE_SPREAD: Final = AssumedSpread(0.03, 0)
"""The lower bound where a slice of a dataset represents the whole: slices agree with each other
more closely than they predict the whole."""

_SUPPOSED_DEGREES: Final = 4

_FEW_DEGREES: Final = 3
"""With fewer degrees a spread is unreliable: two probes may differ or agree by chance. The missing
degrees are filled up with the typical spread."""


class Sameness(msgspec.Struct, frozen=True):
    """Which differences are not worth more streams, memory or another protocol, as fractions.

    `practically`: even when they are real. `perhaps`: unless the data show that they are real. It
    bounds what noise may hide: with few probes, even settings that differ by a third show no clear
    difference.
    """

    practically: float
    perhaps: float


SAME_STREAMS: Final = Sameness(0.03, 0.05)
SAME_FILES: Final = Sameness(0.02, 0.02)
"""For tools: a large dataset takes hours, and more files at a time cost little beside that."""


def student(degrees: float) -> float:
    """The two-sided quantile of Student's distribution at `CONFIDENCE`."""
    from scipy.special import stdtrit  # Imported late: it takes longer than all the rest.

    return float(stdtrit(degrees, 0.5 + CONFIDENCE / 2))


class _Spread:
    """The pooled spread of one group, on a logarithmic scale, with its degrees of freedom."""

    def __init__(
        self, logs: Sequence[Sequence[float]], least: AssumedSpread, assumed: AssumedSpread | None
    ) -> None:
        self.degrees = float(sum(len(s) - 1 for s in logs))
        squares = math.fsum((v - math.fsum(s) / len(s)) ** 2 for s in logs for v in s)
        if assumed:
            # The conjugate prior of a normal variance: the posterior of a mean is Student's.
            squares += assumed.degrees * assumed.value**2
            self.degrees += assumed.degrees
        elif 0 < self.degrees < _FEW_DEGREES:
            squares += (_FEW_DEGREES - self.degrees) * TYPICAL_SPREAD**2
            self.degrees = _FEW_DEGREES
        measured = math.sqrt(squares / self.degrees) if self.degrees else TYPICAL_SPREAD
        self.value = max(least.value, measured)
        if least.value > measured:
            self.degrees = max(self.degrees, least.degrees)
        # With nothing repeated the spread is an assumption; a few degrees reflect how weak it is.
        self.degrees = self.degrees or _SUPPOSED_DEGREES


class Comparison:
    """Repeated throughputs of several settings, in bit/s, all above zero.

    `groups` names the group (the transport) of each setting: the spread is pooled within a group,
    since UDT on a busy host varies several times as much as TCP. Without it all settings form one
    group. `least_spread`: lower bound of the spread; where it is above what the repeats show, its
    degrees of freedom count too. `alike`: settings that the path limits to the same rate: each is a
    repeat of the others. `assumed`: what is supposed of the spread, None for the rules of
    `TYPICAL_SPREAD`. `same`: when the cheaper setting is chosen.
    """

    def __init__(
        self,
        samples: Sequence[Sequence[float]],
        groups: Sequence[str] | None = None,
        least_spread: AssumedSpread = EXACT,
        *,
        alike: Collection[int] = (),
        assumed: AssumedSpread | None = None,
        same: Sameness = SAME_STREAMS,
    ) -> None:
        self.same = same
        if not samples or any(not s or min(s) <= 0 for s in samples):
            raise ValueError("every setting needs at least one throughput above zero")
        self._logs = [[math.log(v) for v in s] for s in samples]
        self._means = [math.fsum(s) / len(s) for s in self._logs]
        self._groups = list(groups) if groups is not None else [""] * len(samples)
        self._spreads = {
            group: _Spread(self._repeats(group, alike), least_spread, assumed)
            for group in self._groups
        }

    def _repeats(self, group: str, alike: Collection[int]) -> list[list[float]]:
        """The log rates of a group, those of the same rate together."""
        own = [i for i, name in enumerate(self._groups) if name == group]
        same = [value for i in own if i in alike for value in self._logs[i]]
        return [self._logs[i] for i in own if i not in alike] + ([same] if same else [])

    def _spread(self, index: int) -> _Spread:
        return self._spreads[self._groups[index]]

    def mean(self, index: int) -> Estimate:
        """The setting's mean throughput (geometric) with the interval of that mean."""
        spread = self._spread(index)
        half = student(spread.degrees) * spread.value / math.sqrt(len(self._logs[index]))
        return _back(self._means[index], half)

    def next_one(self, index: int) -> Estimate:
        """The setting's mean throughput with the prediction interval of one more measurement."""
        spread = self._spread(index)
        half = student(spread.degrees) * spread.value * math.sqrt(1 + 1 / len(self._logs[index]))
        return _back(self._means[index], half)

    def ratio(self, index: int, to: int) -> Estimate:
        """The mean throughput of a setting relative to that of `to`.

        Across groups the degrees of freedom are Welch's and Satterthwaite's.
        """
        return self._ratio(index, to, 0)

    def next_ratio(self, index: int, to: int) -> Estimate:
        """The same, with the prediction interval of one more measurement of each."""
        return self._ratio(index, to, 1)

    def _ratio(self, index: int, to: int, more: int) -> Estimate:
        """`more`: 1 where one more measurement of each is predicted, 0 for the means."""
        ours, theirs = self._spread(index), self._spread(to)
        our_part = ours.value**2 * (more + 1 / len(self._logs[index]))
        their_part = theirs.value**2 * (more + 1 / len(self._logs[to]))
        variance = our_part + their_part
        degrees = float(ours.degrees)
        if ours is not theirs:
            weighed = our_part**2 / ours.degrees + their_part**2 / theirs.degrees
            degrees = variance**2 / weighed
        half = student(degrees) * math.sqrt(variance)
        return _back(self._means[index] - self._means[to], half)

    def clearly_different(self, index: int, other: int) -> bool:
        """Whether there is a clear difference: the interval of the ratio excludes 1."""
        lower, upper = self.ratio(index, other).interval
        return lower > 1 or upper < 1

    def settled(self, index: int, other: int) -> bool:
        """Whether more repeats would change nothing: clearly different, or about the same."""
        lower, upper = self.ratio(index, other).interval
        near = lower > 1 - self.same.practically and upper < 1 + self.same.practically
        return near or lower > 1 or upper < 1

    def order(self) -> list[int]:
        """The settings' indices, best mean first."""
        return sorted(range(len(self._means)), key=lambda i: -self._means[i])

    def same_as_best(self) -> list[int]:
        """The best setting and those to be treated as equal to it: see `Sameness`."""
        best = self.order()[0]
        return [i for i in range(len(self._means)) if self._is_same(i, best)]

    def _is_same(self, index: int, best: int) -> bool:
        behind = 1 - math.exp(self._means[index] - self._means[best])
        return behind <= self.same.practically or (
            behind <= self.same.perhaps and not self.clearly_different(index, best)
        )


def widened(estimate: Estimate, spread: float) -> Estimate:
    """An estimate with a further relative error of this standard deviation, of known size."""
    log_half = math.hypot(
        math.log(estimate.interval[1] / estimate.interval[0]) / 2, NINE_OF_TEN * spread
    )
    return _back(math.log(estimate.value), log_half)


def scaled(estimate: Estimate, factor: float) -> Estimate:
    """An estimate and its interval, times a factor that is known exactly."""
    lower, upper = estimate.interval
    return Estimate(estimate.value * factor, (lower * factor, upper * factor))


def ratio_of_means(one: Estimate, other: Estimate) -> Estimate:
    """The ratio of two means from their intervals alone.

    The same as `Comparison.ratio` within a group; across groups an approximation of it.
    """
    half = math.hypot(*(math.log(e.interval[1] / e.interval[0]) / 2 for e in (one, other)))
    return _back(math.log(one.value / other.value), half)


def _back(log_value: float, log_half: float) -> Estimate:
    return Estimate(
        math.exp(log_value), (math.exp(log_value - log_half), math.exp(log_value + log_half))
    )
