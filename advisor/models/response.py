"""How throughput responds to the number of flows, and what any setting could still gain.

A session may stop when no setting is likely to be faster than the best one measured. This model
answers that from a few probes. One flow reaches `r`, which depends on the other parameters (its
buffer, its congestion control), and together the flows reach at most their share of the path:

    R(n) = [(n·r)^-k + (C·n / (n + m))^-k]^(-1/k) · n^-q

- C: the capacity of the path, or of the hosts; m: the competing flows that share it, so that n
  flows get n / (n + m) of it, the share that equal TCP flows have of a bottleneck;
- k: how sharp the transition is from flows that limit themselves to a full path;
- q: how much every further flow costs where many of them disturb each other.

Settings that differ in the number of flows alone form a family with one r; C, m, k and q are those
of the path. All of it is a grid of hypotheses, weighted by how well each explains the probes
(Bayes' rule; normal errors on the logarithm of the rate, with a small share of outliers). Two
consequences carry the early stop: if one flow and sixteen reach the same rate, then C limits both,
and neither more flows nor larger buffers help; if sixteen reach sixteen times as much, C is unknown
and the search must continue.

The priors are wide: C up to many times what was seen, r any value. They are assumptions about TCP
in general, not fitted to any path.
"""

import functools
import math
import statistics
from collections.abc import Hashable, Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.float64]

_DISCREPANCY: Final = 0.02
"""How far the model itself is off, as a standard deviation of the log rate."""

_OF_ONE_FLOW: Final = 0.1
"""How far one flow that limits itself (by its losses, its window) is off its mean in a short probe;
the sum of n is off by 1/√n of it. A full path varies less."""

_OUTLIERS: Final = 0.01
"""The share of probes that something else disturbed, and the deviation of these."""
_OUTLIER_SPREAD: Final = 0.5

# log C relative to the best rate seen. The prior falls by e for every factor of e: a path may
# carry many times what was seen, but most settings that a session tries are not that far off.
_U: Final = np.concatenate([np.arange(-0.08, 0.12, 0.02), np.geomspace(0.12, 3.0, 26)])
_OTHERS: Final = ((0.0, 0.7), (2.0, 0.1), (16.0, 0.2))
_SHARPNESS: Final = ((2.5, 0.4), (12.0, 0.6))
_DISTURBANCE: Final = ((0.0, 0.85), (0.06, 0.09), (0.3, 0.04), (0.7, 0.02))
_EDGES: Final = np.concatenate([np.arange(-0.2, 0.2, 0.01), np.geomspace(0.2, 4.0, 24)])
_SEEN: Final = np.concatenate([np.arange(-0.3, 0.3, 0.005), np.geomspace(0.3, 4.5, 40)])
_R_STEP: Final = 0.08
_R_BEYOND: Final = 1.0
"""r is considered up to this many nats above what one flow could use: beyond, nothing changes."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """The measured rate of a setting.

    `family`: what all settings share that differ in the number of flows alone. `log_rate`: natural
    logarithm of bit/s. `error`: its standard error.
    """

    family: Hashable
    flows: int
    log_rate: float
    error: float


class Response:
    """The hypotheses on one subject, weighted by its probes, of which there is at least one.

    `most_flows`: what the space allows. `most_log_rate`: natural logarithm of an upper bound of any
    rate in bit/s; infinite where none is known.
    """

    def __init__(
        self, points: Sequence[Point], most_flows: int, most_log_rate: float = math.inf
    ) -> None:
        if not points:
            raise ValueError("a response needs at least one point")
        self.most_flows = max(most_flows, *(p.flows for p in points))
        self._top = max(p.log_rate for p in points)
        self._noise = math.hypot(_DISCREPANCY, statistics.median(p.error for p in points))
        u, m, k, q = np.meshgrid(
            _U,
            *([v for v, _ in axis] for axis in (_OTHERS, _SHARPNESS, _DISTURBANCE)),
            indexing="ij",
        )
        self._log_capacity = u.ravel()
        # q, the last axis, is apart: most of the work is the same for each.
        self._u, self._m, self._k = (a[..., 0].reshape(-1, 1, 1) for a in (u, m, k))
        self._q = q[0, 0, 0][:, None]
        weight = np.log(np.gradient(_U))[:, None, None, None] - np.maximum(u, 0.0)
        for axis, number in ((_OTHERS, 1), (_SHARPNESS, 2), (_DISTURBANCE, 3)):
            shape = [1] * 4
            shape[number] = len(axis)
            weight = weight + np.log([w for _, w in axis]).reshape(shape)
        log_weight = weight.ravel()
        # A bound below what was measured would leave nothing.
        highest = max(most_log_rate - self._top, float(_U[0]))
        log_weight = np.where(self._log_capacity <= highest + 0.02, log_weight, -np.inf)
        self._r: dict[Hashable, Array] = {}
        self._known: dict[tuple[Hashable, int], Array] = {}
        self._given: dict[Hashable, Array] = {}
        for family in {p.family: None for p in points}:
            own = [p for p in points if p.family == family]
            lowest = min(p.log_rate - self._top - math.log(p.flows) for p in own) - 0.3
            r = np.arange(lowest, _R_BEYOND, _R_STEP)
            fit = np.zeros((len(log_weight), len(r)))
            for point in own:
                fit += self._log_likelihood(point, r[None, :])
            top = fit.max(axis=1, keepdims=True)
            likelihood = np.exp(fit - top)
            total = likelihood.sum(axis=1, keepdims=True)
            log_weight = log_weight + top[:, 0] + np.log(total[:, 0] / len(r))
            self._r[family] = r
            self._given[family] = likelihood / total
        self._weight: Array = np.exp(log_weight - log_weight.max())
        self._weight /= self._weight.sum()

    def _log_likelihood(self, point: Point, r: Array) -> Array:
        log_rate, log_own = self._rate_and_log_own(point.flows, r)
        off = log_rate - (point.log_rate - self._top)
        ours = _OF_ONE_FLOW**2 * np.exp(2 * log_own) / point.flows
        variance = ours + point.error**2 + _DISCREPANCY**2
        usual = (1 - _OUTLIERS) * np.exp(-0.5 * off**2 / variance) / np.sqrt(variance)
        rare = _OUTLIERS * np.exp(-0.5 * (off / _OUTLIER_SPREAD) ** 2) / _OUTLIER_SPREAD
        return self._by_hypothesis(np.log(usual + rare + 1e-12))

    def _rate(self, flows: float, r: Array | float) -> Array:
        """log R(n) relative to the best rate seen, for every hypothesis and every r."""
        return self._by_hypothesis(self._rate_and_log_own(flows, r)[0])

    def _by_hypothesis(self, apart: Array) -> Array:
        """An array whose first axes are (C, m, k) and q, with one of hypotheses instead."""
        return apart.reshape(len(self._log_capacity), -1)

    def _rates_of(self, family: Hashable, flows: int) -> Array:
        """The same for a setting: for every hypothesis, and every r of its family."""
        found = self._known.get((family, flows))
        if found is None:
            found = self._known[family, flows] = self._rate(flows, self._r[family][None, :])
        return found

    def _rate_and_log_own(self, flows: float, r: Array | float) -> tuple[Array, Array]:
        """log R(n), and the logarithm of its derivative to log r.

        The derivative is 1 where the flows limit themselves, and the same for every q.
        """
        limited = math.log(flows) + r
        share = self._u + np.log(flows / (flows + self._m))
        apart = self._k * (limited - share)
        # log(1 + exp(apart)), in half the time that np.logaddexp takes.
        held: Array = np.maximum(apart, 0.0) + np.log1p(np.exp(-np.abs(apart)))
        return limited - held / self._k - self._q * math.log(flows), -held

    @functools.cached_property
    def _best_there_is(self) -> Array:
        """The highest log rate of any setting under every hypothesis, with r as large as needed."""
        counts = {*(2**i for i in range(self.most_flows.bit_length())), self.most_flows}
        rates: Array = np.stack([self._rate(n, 20.0) for n in sorted(counts)])
        best: Array = rates.max(axis=0)
        return best

    def possible_gain(self, family: Hashable, flows: int, least: float) -> float:
        """What one more probe can be expected to gain over this setting, as a log rate.

        The part beyond `least` counts, a log rate too. It supposes that the probe is of the best
        setting there is, so it is an upper bound. A probe has the error of the probes so far, so it
        reveals less than there is: the knowledge gradient of Frazier, Powell and Dayanik (2009).
        """
        ours, weight = self._log_rates(family, flows)
        return revealed_gain(self._best_there_is - ours, weight, least, self._noise)

    def gain_of_other(
        self,
        best: tuple[Hashable, int],
        other: tuple[Hashable, int],
        least: float,
    ) -> float:
        """What a probe can gain by finding that one setting is better than another by `least`."""
        ours, weight = self._log_rates(*best)
        theirs = self._rates_of(*other) if best[0] == other[0] else self._mean_over_r(*other)
        return revealed_gain(theirs - ours, weight, least, self._noise)

    def expected(self, family: Hashable, flows: int) -> float:
        """The mean of a setting's log rate."""
        rates, weight = self._log_rates(family, flows)
        return float((weight * rates).sum()) + self._top

    def _log_rates(self, family: Hashable, flows: int) -> tuple[Array, Array]:
        """The log rate of a setting relative to the best seen, and the weight of each."""
        rates = self._rates_of(family, flows)
        return rates, self._weight[:, None] * self._given[family]

    def _mean_over_r(self, family: Hashable, flows: int) -> Array:
        rates = self._rates_of(family, flows)
        mean: Array = (self._given[family] * rates).sum(axis=1, keepdims=True)
        return mean

    def chance_as_good(
        self, family: Hashable, flows: int, best: tuple[Hashable, int], within: float
    ) -> float:
        """The probability that a setting is at most `within` (a log rate) below the best one."""
        ours, weight = self._log_rates(family, flows)
        theirs = self._rates_of(*best) if family == best[0] else self._mean_over_r(*best)
        return float((weight * (ours >= theirs - within)).sum())

    def chance_full(self, family: Hashable, flows: int, within: float) -> float:
        """The probability that this setting is at most `within` below what the path carries."""
        ours, weight = self._log_rates(family, flows)
        return float((weight * (ours >= self._best_there_is - within)).sum())

    def capacity_gain(self, log_rate: float, least: float) -> float:
        """What a probe can gain over a rate, as in `possible_gain`, if it fills the path alone."""
        gain = self._log_capacity + self._top - log_rate
        return revealed_gain(gain, self._weight, least, self._noise)


def revealed_gain(gain: Array, weight: Array, least: float, noise: float) -> float:
    """E[max(0, E[gain - least | probe])], over the outcomes of one probe with this error.

    `weight`: the probability of each value of `gain`.
    """
    # As np.histogram does, which sorts all of it first.
    bins = np.clip(np.digitize(gain, _EDGES) - 1, 0, len(_EDGES) - 2)
    mass = np.bincount(bins.ravel(), np.broadcast_to(weight, bins.shape).ravel(), len(_EDGES) - 1)
    middle = (_EDGES[1:] + _EDGES[:-1]) / 2
    seen = (_SEEN[:, None] - middle) / noise
    joint = mass * np.exp(-0.5 * seen**2) / (noise * math.sqrt(2 * math.pi))
    worth = np.maximum(joint @ (middle - least), 0.0)
    return float((worth[1:] + worth[:-1]) / 2 @ np.diff(_SEEN))


def normal_gain(mean: float, spread: float, noise: float) -> float:
    """The same where the gain is normal with this mean and standard deviation."""
    effect = spread**2 / math.hypot(spread, noise)
    z = mean / effect
    density = math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    return mean * 0.5 * math.erfc(-z / math.sqrt(2)) + effect * density
