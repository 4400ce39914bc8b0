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
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

FEWEST_RTTS: Final = 4
"""With fewer there are not two knots, so that a change of curvature cannot be seen."""

RESAMPLES: Final = 500
CONFIDENCE: Final = 0.90
_LEAST_SPREAD: Final = 0.01
_CLEAR_SHARE: Final = 0.5

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
    found = _transition_of(rtts_s, [np.asarray(repeats[rtt_s]) for rtt_s in rtts_s])
    rng = np.random.default_rng(seed)
    again = [
        _transition_of(rtts_s, [_resampled(repeats[rtt_s], rng) for rtt_s in rtts_s])
        for _ in range(resamples)
    ]
    return Transition(rtt_s=found, interval_s=_interval(again))


def crossover(above: Repeats, below: Repeats, seed: int = 0) -> Crossover | None:
    """The RTT beyond which `above` is above `below`; None where that is not so at the longest."""
    rtts_s = sorted(set(above) & set(below))
    if not rtts_s:
        return None
    found = _crossover_of(rtts_s, *(_means(one, rtts_s, None) for one in (above, below)))
    if found is None:
        return None
    rng = np.random.default_rng(seed)
    again = [
        _crossover_of(rtts_s, *(_means(one, rtts_s, rng) for one in (above, below)))
        for _ in range(RESAMPLES)
    ]
    crossed = [one for one in again if one is not None]
    share = len(crossed) / RESAMPLES
    if share < _CLEAR_SHARE:
        return None
    return Crossover(rtt_s=found, interval_s=_interval(crossed), share=share)


def _resampled(rates: Sequence[float], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    return rng.choice(np.asarray(rates, dtype=float), len(rates))


def _interval(values: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(values)
    outside = (1 - CONFIDENCE) / 2
    last = len(ordered) - 1
    return ordered[math.floor(outside * last)], ordered[math.ceil((1 - outside) * last)]


def _transition_of(rtts_s: Sequence[float], rates: Sequence[npt.NDArray[np.float64]]) -> float:
    from scipy.optimize import nnls  # Imported late: it takes long.

    x = np.asarray(rtts_s) / rtts_s[-1]
    means = np.array([one.mean() for one in rates])
    counts = np.array([len(one) for one in rates])
    weights = np.sqrt(counts) / _spreads(rates, means)
    line = np.column_stack([np.ones_like(x), x])
    bends = np.column_stack([np.maximum(0, x - knot) for knot in x[1:-1]])
    knots = bends.shape[1]
    errors = []
    for concave in range(knots + 1):
        signs = np.array([-1.0] * concave + [1.0] * (knots - concave))
        # Non-negative least squares: what may have either sign is the difference of two.
        basis = np.column_stack([line, -line, bends * signs])
        errors.append(float(nnls(basis * weights[:, None], means * weights)[1]))
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


def _spreads(
    rates: Sequence[npt.NDArray[np.float64]], means: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """The standard deviation at each RTT: the pooled relative one, since ten repeats are few."""
    relative = [one / mean - 1 for one, mean in zip(rates, means, strict=True)]
    degrees = sum(len(one) - 1 for one in relative)
    squares = sum(float(np.sum(one**2)) for one in relative)
    pooled = math.sqrt(squares / degrees) if degrees else _LEAST_SPREAD
    return np.asarray(max(pooled, _LEAST_SPREAD) * means)


def _means(
    repeats: Repeats, rtts_s: Sequence[float], rng: np.random.Generator | None
) -> npt.NDArray[np.float64]:
    found = [_resampled(repeats[rtt_s], rng) if rng else repeats[rtt_s] for rtt_s in rtts_s]
    return np.array([float(np.mean(np.log(one))) for one in found])


def _crossover_of(
    rtts_s: Sequence[float],
    above: npt.NDArray[np.float64],
    below: npt.NDArray[np.float64],
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
