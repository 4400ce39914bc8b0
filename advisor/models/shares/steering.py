"""Keeps shares while conditions change: the models feed forward, measured rates feed back.

The models describe how rates depend on concurrencies; the measured rates show how high they are
now. For each destination the ratio of measured to expected rate is a factor on its model, see
`Deviation`. What an epoch says is weighted by the standard error of its own rate: at the same
concurrencies an error of the model stays the same, so that the next epoch is predicted as well as
this one was measured. At other concurrencies a part of it does not hold, and the rate is predicted
as well as the model's slope is known: that is what a change risks.

So concurrencies change only where the data support it: of steps of one that bring the expected
rates nearer to the requested ones, as many are taken as improve on the present concurrencies with a
probability of `SURE`, by the uncertainty of factors and slopes. They are recomputed when the set of
destinations or a request changes.

The paper has the first half (algorithm 1 with the load of the last half hour), and ends there.
"""

import math
from collections.abc import Mapping
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from advisor.domain.shares import Asked, Concurrencies
from advisor.models.shares.allocation import (
    Allocation,
    Predicts,
    Target,
    allocate,
    approached,
    asked_of,
    scores,
)
from advisor.models.shares.deviation import Deviation
from advisor.models.shares.forecast import Forecast
from advisor.models.shares.planning import capped, held_back, targets_of

SURE: Final = 0.95
"""The probability at which an improvement counts as one."""

_AT_FIRST: Final = 0.2
"""The least initial standard deviation of the logarithm of that factor."""

_LEAST_ERROR: Final = 0.02
"""No rate is known better than this: other epochs meet other moments of the load."""

_SLOPE: Final = 0.1
"""The least standard deviation of an exponent: the form of the model is not the truth."""

_DRAWS: Final = 400
_SEED: Final = 2014

_Floats: TypeAlias = NDArray[np.float64]


class Steering:
    """Steers to what is `asked`, which may be replaced; it and `models` are by destination.

    `base_bps`: the measured rates that factors refer to; empty to take the models' word.
    """

    def __init__(self, models: Mapping[str, Forecast], asked: Mapping[str, Asked]) -> None:
        self.asked = dict(asked)
        self.base_bps: dict[str, float] = {}
        self._models = models
        self._deviations = {
            name: Deviation(max(_AT_FIRST, model.scatter)) for name, model in models.items()
        }
        self._asked_before = dict(asked)

    def expected_bps(self, name: str, concurrency: float, source_concurrency: float) -> float:
        """The expected rate of one destination, by its model and the measurements."""
        model_bps = self._models[name](concurrency, source_concurrency)
        return model_bps * math.exp(self._deviations[name].at((concurrency, source_concurrency)))

    def learn(
        self,
        levels: Concurrencies,
        measured_bps: Mapping[str, float],
        errors: Mapping[str, float] | None = None,
    ) -> None:
        """Process the measured rates of an epoch served at these concurrencies.

        `errors`: their relative standard errors; where one is missing or infinite, the scatter of
        the model's predictions takes its place. A rate at its limit says only what the destination
        gets at the least: it is learned from where that is more than expected.
        """
        total = sum(levels.values())
        limited = held_back(self.asked, measured_bps)
        for name, rate_bps in measured_bps.items():
            if rate_bps > 0 and name in levels:
                model = self._models[name]
                off = math.log(rate_bps / model(levels[name], total))
                if name in limited and off <= self._deviations[name].at((levels[name], total)):
                    continue
                error = (errors or {}).get(name, math.inf)
                self._deviations[name].observe(
                    off,
                    (levels[name], total),
                    error=max(_LEAST_ERROR, error if math.isfinite(error) else model.scatter),
                    slope=self._slope(name),
                )

    def _slope(self, name: str) -> float:
        return min(1.0, max(_SLOPE, self._models[name].model.slope_error))

    def wanted(self, levels: Concurrencies) -> Allocation | None:
        """Better concurrencies for these destinations, where the data support the change.

        `levels`: those of the destinations being served. If the set of destinations or a request
        has changed, they are recomputed.
        """
        asked = {name: self.asked[name] for name in levels}
        models = self._corrected(asked)
        targets = targets_of(asked, models, self.base_bps)
        is_new, self._asked_before = asked != self._asked_before, asked
        if is_new:
            found = allocate(models, targets)
            return None if found.concurrency == dict(levels) else found
        better = [
            one
            for one in approached(models, targets, levels)
            if self._probability(levels, one.concurrency, targets) >= SURE
        ]
        return better[-1] if better else None

    def _probability(
        self, old: Concurrencies, new: Concurrencies, targets: Mapping[str, Target]
    ) -> float:
        """That the new concurrencies bring the rates nearer to the requests than the old ones."""
        rng = np.random.default_rng(_SEED)
        before, after = [], []
        for name in old:
            factor = rng.normal(0.0, math.sqrt(self._deviations[name].variance), _DRAWS)
            slope = rng.normal(0.0, self._slope(name), _DRAWS)
            apart = math.log(new[name] / old[name])
            before.append(self._drawn_bps(name, old, factor))
            after.append(self._drawn_bps(name, new, factor + slope * apart))
        some = list(targets.values())
        gains = scores(some, np.array(before)) - scores(some, np.array(after))
        return float(np.mean(gains > 0))

    def _drawn_bps(self, name: str, levels: Concurrencies, off: _Floats) -> _Floats:
        """The possible rates of a destination, which are off by these logarithms: up to its limit.

        So one that is expected far above its limit is known to get that.
        """
        expected_bps = self.expected_bps(name, levels[name], sum(levels.values()))
        return np.minimum(self.asked[name].ceiling_bps or math.inf, expected_bps * np.exp(off))

    def asked_bps(self, rates_bps: Mapping[str, float]) -> dict[str, float]:
        """The rates requested for these destinations, given what they got."""
        asked = {name: self.asked[name] for name in rates_bps}
        targets = targets_of(asked, self._corrected(asked), self.base_bps)
        found = asked_of(list(targets.values()), [rates_bps[name] for name in targets])
        return dict(zip(targets, found, strict=True))

    def replan(self) -> None:
        """Recompute all concurrencies the next time, whatever they are now."""
        self._asked_before = {}

    def _corrected(self, asked: Mapping[str, Asked]) -> dict[str, Predicts]:
        return capped(asked, {name: self._model(name) for name in asked})

    def _model(self, name: str) -> Predicts:
        return lambda concurrency, total: self.expected_bps(name, concurrency, total)
