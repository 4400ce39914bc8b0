"""Throughput as a smooth surface with a prior, for groups too small for the paper's regression.

The paper's groups have 216 entries. With a few dozen, which polynomial passes its check, and so the
advice, depends on which entries happen to be held out. Groups below FEW entries are fitted as

    log rate = level + Σ w·φ(levels),

φ being the place t of each level on a scale of octaves (−1 for 1, 1 for 32), its Legendre square,
and the products. w has a normal prior: more concurrency and more streams are faster, with
diminishing returns, which is as wide as little knowledge of a path allows.

All small groups of a request are pooled. A group's w is a common one plus its own deviation, so a
group's prior is what the others show, as far as loads resemble each other; the level is its own.
This is how `bayes` learns from other conditions. The noise of a group is the most likely of a few
values by its own entries alone: disagreement with the others is not noise.

The check is leave-one-out cross-validation, which for such a model has a closed form: every entry
is held out once and nothing is drawn at random. A group whose held-out entries are predicted no
better than by their mean is flat.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np

from advisor.domain.evidence import SurfaceKind
from advisor.models.harp.entries import Floats
from advisor.models.harp.fitted import FittedSurface
from advisor.models.harp.surface import Outlier

FEW: Final = 40
"""Below this number of entries a group gets a smooth surface instead of a polynomial."""

_OCTAVES: Final = 5.0
_RISE: Final = ((0.3, 0.45), (0.3, 0.45), (0.0, 0.45))
"""Mean and standard deviation of the coefficients of t, for the three levels in nats …"""
_BEND: Final = (-0.1, 1.0)
"""… of the squares, wide enough for a collapse within two octaves …"""
_MIXED: Final = (0.0, 0.1)
"""… and of the products."""
_BETWEEN_LOADS: Final = 1 / 3
"""The standard deviation between groups, over that of the prior."""
_LEVEL_SD: Final = 10.0
_NOISES: Final = (0.02, 0.05, 0.1, 0.2, 0.4)

_PAIRS: Final = tuple(combinations(range(3), 2))
_PRIOR: Final = np.array([*_RISE, *(_BEND for _ in range(3)), *(_MIXED for _ in _PAIRS)])

Measured: TypeAlias = tuple[Floats, Floats]
"""Levels, one row of three per entry, and throughputs in bit/s, above zero."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SmoothSurface(FittedSurface):
    """The surface of a small group. `level`: log of bit/s; `coefficients`: w.

    The coefficients of determination are those of the logarithm of the rate; `validation_r2` is
    that of leave-one-out cross-validation.
    """

    level: float
    coefficients: Floats

    @property
    def kind(self) -> SurfaceKind:
        """Always smooth."""
        return "smooth"

    @property
    def is_flat(self) -> bool:
        """Whether held-out entries were predicted no better than by their mean."""
        return self.validation_r2 <= 0

    def at(self, levels: Floats) -> Floats:
        """The throughputs at levels, one row each, in bit/s."""
        places = _places(self.clipped(np.atleast_2d(levels)))
        rates: Floats = np.exp(self.level + _features(places) @ self.coefficients)
        return rates

    def slope(self, levels: Floats) -> Floats:
        """The three derivatives at one setting within the bounds, in bit/s per level."""
        within = self.clipped(levels)
        t, w = _places(within), self.coefficients
        slopes = w[:3] + 3 * t * w[3:6]
        for (i, j), mixed in zip(_PAIRS, w[6:], strict=True):
            slopes[i] += mixed * t[j]
            slopes[j] += mixed * t[i]
        per_level = 2 / (_OCTAVES * math.log(2) * within)
        return np.where(self.varied, self.at(within)[0] * slopes * per_level, 0.0)


def fit_pooled(groups: Sequence[Measured], least_entries: int) -> list[SmoothSurface | Outlier]:
    """The surface of each small group, informed by the others, or why it is left out.

    `least_entries`: the number that all groups together need.
    """
    entries = sum(len(levels) for levels, _ in groups)
    found: list[SmoothSurface | Outlier] = []
    shown = [_shown(one) for one in groups]
    for place, (levels, throughput_bps) in enumerate(groups):
        if entries < least_entries:
            count = f"{len(levels)} {'entry' if len(levels) == 1 else 'entries'}"
            found.append(Outlier(f"it has {count}, too few to fit and to check a fit"))
        elif (levels == levels[0]).all():
            found.append(Outlier("it has one setting"))
        else:
            others = [one for other, one in enumerate(shown) if other != place]
            found.append(_fitted(levels, throughput_bps, *_prior_beside(others)))
    return found


def _places(levels: Floats) -> Floats:
    places: Floats = 2 * np.log2(levels) / _OCTAVES - 1
    return places


def _features(t: Floats) -> Floats:
    mixed = [t[:, i] * t[:, j] for i, j in _PAIRS]
    features: Floats = np.column_stack((t, 1.5 * t**2 - 0.5, *mixed))
    return features


def _between() -> Floats:
    return np.diag((_PRIOR[:, 1] * _BETWEEN_LOADS) ** 2)


def _shown(group: Measured) -> tuple[Floats, Floats]:
    """What a group says of another group's w: information, and information × value."""
    phi, y = _features(_places(group[0])), np.log(group[1])
    noise = _noise(phi, y)
    phi, y = phi - phi.mean(axis=0), y - y.mean()
    information = phi.T @ phi / noise**2
    blur = np.linalg.inv(np.eye(phi.shape[1]) + information @ _between())
    return blur @ information, blur @ phi.T @ y / noise**2


def _prior_beside(others: Sequence[tuple[Floats, Floats]]) -> Measured:
    """Mean and covariance of one group's w, from the prior and the other groups."""
    precision = np.diag(1 / _PRIOR[:, 1] ** 2)
    shift = precision @ _PRIOR[:, 0]
    for information, value in others:
        precision, shift = precision + information, shift + value
    covariance = np.linalg.inv(precision)
    return covariance @ shift, covariance + _between()


def _covariance_of(phi: Floats, covariance: Floats, noise: float) -> Floats:
    total: Floats = _LEVEL_SD**2 + phi @ covariance @ phi.T + noise**2 * np.eye(len(phi))
    return total


def _noise(phi: Floats, y: Floats) -> float:
    """The spread of an entry's log rate with the highest marginal likelihood, by the prior."""
    covariance = np.diag(_PRIOR[:, 1] ** 2) + _between()
    off = y - phi @ _PRIOR[:, 0]
    off = off - off.mean()

    def unlikelihood(noise: float) -> float:
        total = _covariance_of(phi, covariance, noise)
        return float(off @ np.linalg.solve(total, off) + np.linalg.slogdet(total)[1])

    return min(_NOISES, key=unlikelihood)


def _fitted(
    levels: Floats, throughput_bps: Floats, mean: Floats, covariance: Floats
) -> SmoothSurface:
    phi, y = _features(_places(levels)), np.log(throughput_bps)
    noise = _noise(phi, y)
    off = y - phi @ mean
    precision = np.linalg.inv(_covariance_of(phi, covariance, noise))
    scores = precision @ (off - off.mean())
    coefficients = mean + covariance @ phi.T @ scores
    level = float(off.mean() + _LEVEL_SD**2 * scores.sum())
    spread = ((y - y.mean()) ** 2).sum() or np.inf
    held_out = scores / np.diag(precision)
    # The mean that a held-out entry is compared with is that of the others, too.
    held_out_spread = spread * (len(y) / (len(y) - 1)) ** 2
    return SmoothSurface(
        degree=2,
        lower=levels.min(axis=0),
        upper=levels.max(axis=0),
        least_bps=float(throughput_bps.min()),
        most_bps=float(throughput_bps.max()),
        training_r2=float(1 - ((y - level - phi @ coefficients) ** 2).sum() / spread),
        validation_r2=float(1 - (held_out**2).sum() / held_out_spread),
        level=level,
        coefficients=coefficients,
    )
