"""Keeps shares while conditions change: the models feed forward, measured rates feed back.

The models say how rates follow concurrencies. How high they are just now, the measured rates say:
of each destination what was measured over what was expected is a factor on its model, followed by a
Kalman filter. A single epoch is off by chance as far as those were that the model was validated
with, so it is believed the less the more they scattered; what goes on being so is believed.

After each epoch concurrencies are changed by a few steps, and only where that is worth it; they are
found anew where others are served, or something else is asked.

The paper has the first half (algorithm 1 with the load of the last half hour), and ends there.
"""

import math
from collections.abc import Mapping
from typing import Final

from advisor.domain.shares import Asked
from advisor.models.shares.allocation import Allocation, Predicts, allocate, asked_of, nearby
from advisor.models.shares.forecast import Forecast
from advisor.models.shares.planning import capped, targets_of

_AT_FIRST: Final = 0.2**2
"""Variance of the logarithm of that factor before anything was measured: by a fifth either way."""

_PER_EPOCH: Final = 0.07**2
"""By which it grows again, as loads come and go."""

_FARTHEST: Final = 2.0
"""Standard deviations; what is further off, as where clients stalled, counts as no further."""

_STEPS: Final = 2
"""After each epoch: all at once would be in effect late, and be known to be right even later."""

_WORTH_A_STEP: Final = 0.05
"""The gain in mean and largest error; below it chance would change concurrencies."""

Levels = Mapping[str, int]


class Steering:
    """Of what is `asked`, which may be replaced at any time; it and `models` are by destination."""

    def __init__(self, models: Mapping[str, Forecast], asked: Mapping[str, Asked]) -> None:
        self.asked = dict(asked)
        self._models = models
        self._surprise = dict.fromkeys(models, 0.0)
        self._variance = dict.fromkeys(models, _AT_FIRST)
        self._asked_before = dict(asked)

    def expected_bps(self, name: str, concurrency: float, source_concurrency: float) -> float:
        """What one is expected to get, by its model and what was measured."""
        model_bps = self._models[name](concurrency, source_concurrency)
        return model_bps * math.exp(self._surprise[name])

    def learn(self, levels: Levels, measured_bps: Mapping[str, float]) -> None:
        """What those got in an epoch that were served at these concurrencies."""
        total = sum(levels.values())
        for name, rate_bps in measured_bps.items():
            if rate_bps > 0 and name in levels:
                expected_bps = self.expected_bps(name, levels[name], total)
                self._correct(name, math.log(rate_bps / expected_bps))

    def _correct(self, name: str, off: float) -> None:
        """By how much an epoch was off, as a logarithm."""
        variance = self._variance[name]
        uncertain = variance + self._models[name].scatter ** 2
        farthest = _FARTHEST * math.sqrt(uncertain)
        gain = variance / uncertain
        self._surprise[name] += gain * max(-farthest, min(farthest, off))
        self._variance[name] = (1 - gain) * variance + _PER_EPOCH

    def wanted(self, levels: Levels) -> Allocation | None:
        """Other concurrencies for these destinations, where they are worth it.

        `levels`: those of the destinations that are served now. Where others are served than the
        last time, or something else is asked, they are found anew; else a few steps away.
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
        """What those that got this were to get of it."""
        asked = {name: self.asked[name] for name in rates_bps}
        targets = targets_of(asked, self._corrected(asked))
        found = asked_of(list(targets.values()), [rates_bps[name] for name in targets])
        return dict(zip(targets, found, strict=True))

    def _corrected(self, asked: Mapping[str, Asked]) -> dict[str, Predicts]:
        return capped(asked, {name: self._model(name) for name in asked})

    def _model(self, name: str) -> Predicts:
        return lambda concurrency, total: self.expected_bps(name, concurrency, total)
