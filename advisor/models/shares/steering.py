"""Keeps shares while conditions change: the models feed forward, measured rates feed back.

The models describe how rates depend on concurrencies; the measured rates show how high they are
now. For each destination the ratio of measured to expected rate is a factor on its model, tracked
by a Kalman filter. A single epoch has the random error that the model showed in validation, so the
larger that scatter, the less weight it gets; a lasting deviation is followed.

After each epoch concurrencies change by a few steps, and only where that is worth it; they are
recomputed when the set of destinations or a request changes.

The paper has the first half (algorithm 1 with the load of the last half hour), and ends there.
"""

import math
from collections.abc import Mapping
from typing import Final

from advisor.domain.shares import Asked, Concurrencies
from advisor.models.shares.allocation import Allocation, Predicts, allocate, asked_of, nearby
from advisor.models.shares.forecast import Forecast
from advisor.models.shares.planning import capped, targets_of

_AT_FIRST: Final = 0.2**2
"""Initial variance of the logarithm of that factor: a fifth in either direction."""

_PER_EPOCH: Final = 0.07**2
"""The variance added per epoch, as loads come and go."""

_FARTHEST: Final = 2.0
"""Standard deviations; larger deviations, as when clients stall, are clipped to this."""

_STEPS: Final = 2
"""Per epoch: changing all at once would take effect late, and be evaluated even later."""

_WORTH_A_STEP: Final = 0.05
"""The gain in the sum of mean and largest error; below it chance would change concurrencies."""


class Steering:
    """Steers to what is `asked`, which may be replaced; it and `models` are by destination."""

    def __init__(self, models: Mapping[str, Forecast], asked: Mapping[str, Asked]) -> None:
        self.asked = dict(asked)
        self._models = models
        self._surprise = dict.fromkeys(models, 0.0)
        self._variance = dict.fromkeys(models, _AT_FIRST)
        self._asked_before = dict(asked)

    def expected_bps(self, name: str, concurrency: float, source_concurrency: float) -> float:
        """The expected rate of one destination, by its model and the measurements."""
        model_bps = self._models[name](concurrency, source_concurrency)
        return model_bps * math.exp(self._surprise[name])

    def learn(self, levels: Concurrencies, measured_bps: Mapping[str, float]) -> None:
        """Process the measured rates of an epoch served at these concurrencies."""
        total = sum(levels.values())
        for name, rate_bps in measured_bps.items():
            if rate_bps > 0 and name in levels:
                expected_bps = self.expected_bps(name, levels[name], total)
                self._correct(name, math.log(rate_bps / expected_bps))

    def _correct(self, name: str, off: float) -> None:
        """Update with the deviation of an epoch, as a logarithm."""
        variance = self._variance[name]
        uncertain = variance + self._models[name].scatter ** 2
        farthest = _FARTHEST * math.sqrt(uncertain)
        gain = variance / uncertain
        self._surprise[name] += gain * max(-farthest, min(farthest, off))
        self._variance[name] = (1 - gain) * variance + _PER_EPOCH

    def wanted(self, levels: Concurrencies) -> Allocation | None:
        """Better concurrencies for these destinations, where the change is worth it.

        `levels`: those of the destinations being served. If the set of destinations or a request
        has changed, they are recomputed; otherwise they change by a few steps.
        """
        asked = {name: self.asked[name] for name in levels}
        models = self._corrected(asked)
        targets = targets_of(asked, models)
        is_new, self._asked_before = asked != self._asked_before, asked
        if is_new:
            found = allocate(models, targets)
        else:
            found = nearby(models, targets, levels, steps=_STEPS, worth=_WORTH_A_STEP)
        return None if found.concurrency == dict(levels) else found

    def asked_bps(self, rates_bps: Mapping[str, float]) -> dict[str, float]:
        """The rates requested for these destinations, given what they got."""
        asked = {name: self.asked[name] for name in rates_bps}
        targets = targets_of(asked, self._corrected(asked))
        found = asked_of(list(targets.values()), [rates_bps[name] for name in targets])
        return dict(zip(targets, found, strict=True))

    def _corrected(self, asked: Mapping[str, Asked]) -> dict[str, Predicts]:
        return capped(asked, {name: self._model(name) for name in asked})

    def _model(self, name: str) -> Predicts:
        return lambda concurrency, total: self.expected_bps(name, concurrency, total)
