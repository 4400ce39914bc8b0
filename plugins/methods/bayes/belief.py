"""The normal distribution of every candidate's log rate, before and after probes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from advisor.api.values import Setting

from .surface import FLOOR, OCTAVES, OWN, REMAINDER, Array, Surface

Coefficients: TypeAlias = tuple[Array, Array]
"""Mean and covariance of w."""

_WIDE_REMAINDER: Final = 0.2  # standard deviation of the smooth remainder without the table
# The prior probability that a path is unlike all known ones. The general rows apply to such a
# path instead of the table; the marginal likelihood of the probes shows which kind it is.
_STRANGE: Final = 0.3
_REACH: Final = 1.5 / OCTAVES  # length scale of the remainder
_LEVEL: Final = 1.0  # standard deviation of the path's level around its estimate
_SURPRISE: Final = 3.0
_AGED: Final = 16.0
_NOISE_WEIGHT: Final = 4.0  # weight of the assumed noise, in repeats


class Belief:
    """The candidates' log rates: prior, measured rates, posterior.

    `surfaces`: that of a path like the known ones, and that of one unlike all of them. `noise`: the
    assumed spread of a probe. `probed`: the candidate of each probe and its bit/s, 0 for a failure.
    `changed_at`: how many of them were made before the path changed.
    """

    def __init__(
        self, settings: Sequence[Setting], surfaces: tuple[Surface, Surface], noise: float
    ) -> None:
        self._settings = settings
        self._surfaces = surfaces
        self._assumed_noise = noise
        self.probed: list[tuple[int, float]] = []
        self._errors: list[float] = []
        self.changed_at = 0
        self._surprises: list[float] = []
        # The posterior, with the number of probes it was computed from.
        self._weighed: tuple[tuple[int, int], tuple[Array, Array]] | None = None
        self._lay_out([surface.belief() for surface in surfaces])

    def _lay_out(self, coefficients: list[Coefficients]) -> None:
        """Prior mean and covariance of every candidate, without the level, from those of w."""
        self._coefficients = coefficients
        self._priors: list[tuple[Array, Array]] = []
        for surface, (mean, covariance) in zip(self._surfaces, coefficients, strict=True):
            u = surface.places(self._settings)
            phi = surface.features(u)
            phi = phi - phi.mean(axis=0)
            remainder = REMAINDER if surface.known else _WIDE_REMAINDER
            self._priors.append(
                (
                    phi @ mean,
                    _LEVEL**2
                    + phi @ covariance @ phi.T
                    + remainder**2 * _smooth(u, u)
                    + OWN**2 * np.eye(len(u)),
                )
            )
        usual, strange = self._priors[0][0], self._priors[1][0]
        self.prior_mean: Array = (1 - _STRANGE) * usual + _STRANGE * strange

    def expect(self, rates_bps: Sequence[float]) -> None:
        """Replace the prior means by the candidates' rates that a model expects.

        The covariances stay: what the model gets wrong is taken to be as smooth over the space as
        the difference between paths.
        """
        mean = np.log(np.asarray(rates_bps, dtype=np.float64))
        self._priors = [(mean - mean.mean(), covariance) for _, covariance in self._priors]
        self.prior_mean = mean - mean.mean()
        self._weighed = None

    def tell(self, index: int, bps: float, error: float = 0.0) -> None:
        """Take the rate of a probe of a candidate, 0 for a failure, and its relative error."""
        self._watch_for_change(index, bps, error)
        self.probed.append((index, bps))
        self._errors.append(error)

    def _watch_for_change(self, index: int, bps: float, error: float) -> None:
        if len(self.probed) - self.changed_at < 2 or bps <= 0:
            return
        mean, covariance = self.posterior()
        spread = math.sqrt(covariance[index, index] + max(self.noise(), error) ** 2)
        surprise = (math.log(bps) - float(mean[index])) / spread
        self._surprises = [*self._surprises[-1:], surprise]
        if len(self._surprises) == 2 and all(
            abs(s) > _SURPRISE and s * surprise > 0 for s in self._surprises
        ):
            self.changed_at = len(self.probed) - 1
            self._surprises = []

    def noise(self) -> float:
        """Spread of one probe: the assumed one, until this search's own repeats outweigh it."""
        groups: dict[int, list[float]] = {}
        for index, bps in self.probed[self.changed_at :]:
            if bps > 0:
                groups.setdefault(index, []).append(math.log(bps))
        squares = sum(_squares(group) for group in groups.values() if len(group) > 1)
        freedom = sum(len(g) - 1 for g in groups.values())
        assumed = self._assumed_noise
        return math.sqrt((_NOISE_WEIGHT * assumed**2 + squares) / (_NOISE_WEIGHT + freedom))

    def posterior(self) -> tuple[Array, Array]:
        """Mean and covariance of log bit/s of every candidate, over both kinds of path."""
        known = (len(self.probed), self.changed_at)
        if self._weighed is None or self._weighed[0] != known:
            self._weighed = (known, self._weigh())
        return self._weighed[1]

    def _weigh(self) -> tuple[Array, Array]:
        rates = [bps for _, bps in self.probed]
        top = math.log(max(rates)) if any(rates) else 0.0
        y = np.array([max(math.log(bps), top - FLOOR) if bps else top - FLOOR for bps in rates])
        at = [index for index, _ in self.probed]
        # A probe that knows its result less well than probes differ counts less.
        noise = np.maximum(self._errors, self.noise()) ** 2
        noise[: self.changed_at] *= _AGED
        good = [k for k, bps in enumerate(rates) if bps] or list(range(len(rates)))
        evidence, means, covariances = [], [], []
        for (prior_mean, prior), chance in zip(self._priors, (1 - _STRANGE, _STRANGE), strict=True):
            level = float(np.mean(y[good] - prior_mean[at][good]))
            off = y - prior_mean[at] - level
            spread = prior[np.ix_(at, at)] + np.diag(noise)
            gain = np.linalg.solve(spread, prior[at]).T
            fit = off @ np.linalg.solve(spread, off) + np.linalg.slogdet(spread)[1]
            evidence.append(math.log(chance) - 0.5 * float(fit))
            means.append(prior_mean + level + gain @ off)
            covariances.append(prior - gain @ prior[at])
        weights = np.exp(np.array(evidence) - max(evidence))
        weights /= weights.sum()
        mean: Array = weights[0] * means[0] + weights[1] * means[1]
        apart = means[1] - means[0]
        covariance: Array = (
            weights[0] * covariances[0]
            + weights[1] * covariances[1]
            + weights[0] * weights[1] * np.outer(apart, apart)
        )
        return mean, covariance

    def state(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            # Stored, because history may have grown by the time the search is resumed.
            "beliefs": [[mean.tolist(), cov.tolist()] for mean, cov in self._coefficients],
            # Settings, not their indices: new history may change the space meanwhile.
            "told": [[self._settings[index], bps] for index, bps in self.probed],
            "errors": list(self._errors),
            "changed_at": self.changed_at,
            "surprises": list(self._surprises),
        }

    def restore(self, state: Mapping[str, Any], probed: Sequence[tuple[int, float]]) -> None:
        """Resume from the value of `state`; `probed`: its probes, as candidates."""
        beliefs = [(np.array(mean), np.array(cov)) for mean, cov in state["beliefs"]]
        # An older version saved fewer terms: then the present table applies.
        if beliefs[0][0].shape == self._coefficients[0][0].shape:
            self._lay_out(beliefs)
        self.probed = list(probed)
        self._errors = [float(e) for e in state.get("errors", [0.0] * len(probed))]
        self._weighed = None
        self.changed_at = int(state["changed_at"])
        self._surprises = [float(s) for s in state["surprises"]]


def _smooth(a: Array, b: Array) -> Array:
    squares = ((a[:, None, :] - b[None, :, :]) / _REACH) ** 2
    covariance: Array = np.exp(-0.5 * squares.sum(axis=2))
    return covariance


def _squares(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)
