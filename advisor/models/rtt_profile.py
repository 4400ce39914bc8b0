"""Throughput against the round-trip time: where a profile turns from concave to convex.

Rao et al. 2016 (depth-width), section IV: a throughput profile is concave up to a transition RTT,
where long connections still reach nearly what short ones do, and convex beyond, where throughput
falls as with 1/RTT. More flows move the transition to longer RTTs. Where UDT's profile crosses that
of TCP, UDT is the better choice from there on.

The transition is found by regression under constraints of shape: the means are fitted by a line
with a knot at each inner RTT, whose slopes may only fall at the first k knots and only rise at the
others. Of all k the best fit counts; the transition lies between the last concave and the first
convex knot. Its interval comes from a bootstrap over the repeats at each RTT.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np
import numpy.typing as npt

FEWEST_RTTS: Final = 4
"""With fewer there are not two knots, so that a change of curvature cannot be seen."""

RESAMPLES: Final = 500
CONFIDENCE: Final = 0.90
_LEAST_SPREAD: Final = 0.01
_CLEAR_SHARE: Final = 0.5

_Floats: TypeAlias = npt.NDArray[np.float64]
Repeats = Mapping[float, Sequence[float]]
"""The throughputs in bit/s measured at each round-trip time in seconds."""


class Transition(msgspec.Struct, frozen=True, kw_only=True):
    """A round-trip time in seconds with its 90 % interval, both between measured ones.

    0 stands for a profile that is convex throughout, infinity for one that is concave throughout.
    """

    rtt_s: float
    interval_s: tuple[float, float]


class Crossover(msgspec.Struct, frozen=True, kw_only=True):
    """The RTT in seconds beyond which one profile is above another, with its 90 % interval.

    0: it is above at every measured RTT. `share`: of the resampled profiles that have a crossover.
    """

    rtt_s: float
    interval_s: tuple[float, float]
    share: float

    @property
    def is_clear(self) -> bool:
        """Whether it is in as many of the resampled profiles as an interval holds."""
        return self.share >= CONFIDENCE


def transition(repeats: Repeats, seed: int = 0, resamples: int = RESAMPLES) -> Transition | None:
    """The RTT at which the profile turns from concave to convex; None with too few RTTs.

    `resamples`: the number of bootstrap samples that the interval comes from, at least 1.
    """
    if len(repeats) < FEWEST_RTTS:
        return None
    rtts_s = sorted(repeats)
    samples = _Resampled([repeats[rtt_s] for rtt_s in rtts_s], seed, resamples)
    weights = np.sqrt(samples.counts) / samples.spreads
    shapes = _shapes(rtts_s)
    found, *again = (
        _transition_of(rtts_s, shapes, *one)
        for one in zip(weights, samples.means * weights, strict=True)
    )
    return Transition(rtt_s=found, interval_s=_interval(again))


def crossover(above: Repeats, below: Repeats, seed: int = 0) -> Crossover | None:
    """The RTT beyond which `above` is above `below`; None where that is not so at the longest."""
    rtts_s = sorted(set(above) & set(below))
    if not rtts_s:
        return None
    logs = [np.log(one[rtt_s]) for one in (above, below) for rtt_s in rtts_s]
    found, *again = (
        _crossover_of(rtts_s, *np.split(means, 2))
        for means in _Resampled(logs, seed, RESAMPLES).means
    )
    if found is None:
        return None
    crossed = [one for one in again if one is not None]
    share = len(crossed) / RESAMPLES
    if share < _CLEAR_SHARE:
        return None
    return Crossover(rtt_s=found, interval_s=_interval(crossed), share=share)


class _Resampled:
    """The repeats at each RTT as they are, and then resampled this many times: a row for each.

    `counts`: the number of repeats at each RTT. `means`: of each row, at each RTT.
    """

    def __init__(
        self, repeats: Sequence[Sequence[float] | _Floats], seed: int, resamples: int
    ) -> None:
        self.counts = np.array([len(one) for one in repeats])
        self._starts = np.cumsum(self.counts) - self.counts
        values = np.concatenate([np.asarray(one, dtype=float) for one in repeats])
        drawn = np.random.default_rng(seed).integers(
            0, self._at_each(self.counts), (resamples, len(values))
        )
        self._rows = np.vstack([values, values[self._at_each(self._starts) + drawn]])
        self.means: _Floats = np.add.reduceat(self._rows, self._starts, axis=1) / self.counts

    def _at_each(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What belongs to an RTT, for each of its repeats."""
        return np.repeat(values, self.counts, axis=-1)

    @property
    def spreads(self) -> _Floats:
        """The standard deviations at each RTT: the pooled relative one of each row, since ten
        repeats are few."""
        degrees = int(np.sum(self.counts - 1))
        relative = self._rows / self._at_each(self.means) - 1
        pooled = np.sqrt(np.sum(relative**2, axis=1) / degrees) if degrees else np.zeros(1)
        return np.asarray(np.maximum(pooled, _LEAST_SPREAD)[:, None] * self.means)


def _interval(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values)
    outside = (1 - CONFIDENCE) / 2
    last = len(ordered) - 1
    return ordered[math.floor(outside * last)], ordered[math.ceil((1 - outside) * last)]


def _shapes(rtts_s: Sequence[float]) -> list[_Floats]:
    """The basis of each number of concave knots, for coefficients that are not negative."""
    x = np.asarray(rtts_s) / rtts_s[-1]
    line = np.column_stack([np.ones_like(x), x])
    bends = np.column_stack([np.maximum(0, x - knot) for knot in x[1:-1]])
    # What may have either sign is the difference of two.
    return [
        np.column_stack([line, -line, -bends[:, :concave], bends[:, concave:]])
        for concave in range(bends.shape[1] + 1)
    ]


def _transition_of(
    rtts_s: Sequence[float], shapes: Sequence[_Floats], weights: _Floats, weighted: _Floats
) -> float:
    from scipy.optimize import nnls  # Imported late: it takes long.

    errors = [float(nnls(basis * weights[:, None], weighted)[1]) for basis in shapes]
    # Equal fits differ by straight parts alone, which belong to the concave region: it still has
    # the throughput of shorter connections.
    best = max(k for k, error in enumerate(errors) if error <= min(errors) * (1 + 1e-6) + 1e-9)
    edges = [0.0, *rtts_s[1:-1], math.inf]
    return _between(edges[best], edges[best + 1])


def _between(low_s: float, high_s: float) -> float:
    """The middle of two RTTs; 0 or infinity at the ends."""
    if low_s == 0 or math.isinf(high_s):
        return low_s if low_s == 0 else high_s
    return math.sqrt(low_s * high_s)


def _crossover_of(
    rtts_s: Sequence[float],
    above: _Floats,
    below: _Floats,
) -> float | None:
    """Where the logarithms of both are equal, along the line between two RTTs."""
    ahead = above - below
    if ahead[-1] <= 0:
        return None
    behind = [place for place, value in enumerate(ahead) if value <= 0]
    if not behind:
        return 0.0
    last = behind[-1]
    share = -ahead[last] / (ahead[last + 1] - ahead[last])
    return float(rtts_s[last] + share * (rtts_s[last + 1] - rtts_s[last]))
