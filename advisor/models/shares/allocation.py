"""The concurrencies that meet the destinations' requests (section V, algorithm 1).

The algorithm iterates over the possible total concurrencies SC; for each it takes the DC at which
the model is nearest to the target, and keeps those whose sum is about SC and whose errors are
smallest. The listing leaves open, and this module decides:

- "DC_i ← the n-th root" is the a-th root, a being the exponent of DC: with so few whole numbers the
  nearest one is looked up instead, which works with every form of model.
- Errors are evaluated with the actual sum of the concurrencies, so no δ is needed; and the errors
  of all destinations need not fall together: their mean and the largest one count.
- Of nearly equal candidates the one with the highest total throughput wins: twice as much is worth
  `_DOUBLED_IS_WORTH` of error.
- Besides shares there are rates, and concurrencies that are held. Shares refer to what all
  destinations with shares get together.
- From the best candidate, steps of one in either direction are tried until none is better.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

MOST_CONCURRENCY: Final = 20
"""Per destination: "reasonable because some of the destinations had a cap of 30"."""

HAD: Final = 0.15
"""A target counts as met if the expected rate is within this error: the paper's errors are."""

WORTH_A_STEP: Final = 0.02
"""The least gain of a step from where transfers are, in the sum of mean and largest error."""

_STEPS_EACH: Final = 2
_DOUBLED_IS_WORTH: Final = 0.02
_LEAST_WORTH: Final = 1e-12


_Levels: TypeAlias = tuple[int, ...]
_Floats: TypeAlias = NDArray[np.float64]
_Integers: TypeAlias = NDArray[np.int64]


class Predicts(Protocol):
    """Predicts the rate of one destination, in bit/s."""

    def __call__(self, concurrency: float, source_concurrency: float, /) -> float:
        """The rate with this DC and SC."""


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """What is requested for one destination; exactly one of the first three.

    `share`: relative to the other shares, any number above 0. `rate_bps`: in bit/s. `held`: this
    fixed concurrency. `most`: maximum concurrency.
    """

    share: float | None = None
    rate_bps: float | None = None
    held: int | None = None
    most: int = MOST_CONCURRENCY

    def __post_init__(self) -> None:
        asked = [one for one in (self.share, self.rate_bps, self.held) if one is not None]
        if len(asked) != 1 or not 0 < asked[0] < math.inf or self.most < 1:
            raise ValueError("ask for a share, a rate or a concurrency, each above 0")


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """By destination. `errors`: relative deviation of the expected rate from the requested one.

    `asked_bps`: for shares, that fraction of what all shares are expected to get together.
    """

    concurrency: dict[str, int]
    expected_bps: dict[str, float]
    asked_bps: dict[str, float]
    errors: dict[str, float]

    @property
    def missed(self) -> list[str]:
        """The destinations whose request will not be met."""
        return [name for name, error in self.errors.items() if abs(error) > HAD]


def allocate(models: Mapping[str, Predicts], targets: Mapping[str, Target]) -> Allocation:
    """The concurrencies that come nearest to the targets, each of which has a model.

    Raises ValueError without any target.
    """
    if not targets:
        raise ValueError("nothing is requested for any destination")
    search = _Search([models[name] for name in targets], list(targets.values()))
    best = search.improved(min(set(search.candidates()), key=lambda one: (search.score(one), one)))
    return _allocation(list(targets), search, best)


def approached(
    models: Mapping[str, Predicts], targets: Mapping[str, Target], levels: Mapping[str, int]
) -> list[Allocation]:
    """After each of at most two steps of one per destination from these concurrencies.

    Each step is the one that gains most, and `WORTH_A_STEP` at least. Predictions for distant
    concurrencies are less certain, and changing all of them takes longer to be in effect.
    """
    search = _Search([models[name] for name in targets], list(targets.values()))
    found = []
    best = tuple(levels[name] for name in targets)
    for _ in range(_STEPS_EACH * len(targets)):
        step = search.improved(best, 1, WORTH_A_STEP)
        if step == best:
            break
        best = step
        found.append(_allocation(list(targets), search, best))
    return found


def scores(targets: Sequence[Target], rates_bps: _Floats) -> _Floats:
    """For each column of rates, one row per target: mean plus largest error. Lower is better."""
    asked_bps = np.array([asked_of(targets, column.tolist()) for column in rates_bps.T]).T
    errors = np.abs(rates_bps / asked_bps - 1)
    return np.asarray(errors.mean(axis=0) + errors.max(axis=0), dtype=np.float64)


def asked_of(targets: Sequence[Target], rates_bps: Sequence[float]) -> list[float]:
    """The rate requested for each, given all rates; for held ones, the given rate."""
    shared = [(t.share, bps) for t, bps in zip(targets, rates_bps, strict=True) if t.share]
    shares, shared_bps = sum(share for share, _ in shared), sum(bps for _, bps in shared)
    return [
        target.rate_bps or (target.share * shared_bps / shares if target.share else bps)
        for target, bps in zip(targets, rates_bps, strict=True)
    ]


class _Search:
    """Targets and models by index."""

    def __init__(self, models: Sequence[Predicts], targets: Sequence[Target]) -> None:
        self.targets = targets
        self._models = models
        self._known: dict[tuple[int, int, int], float] = {}

    def expected_bps(self, number: int, concurrency: int, total: int) -> float:
        key = (number, concurrency, total)
        if key not in self._known:
            self._known[key] = max(1.0, self._models[number](concurrency, total))
        return self._known[key]

    def range_of(self, number: int) -> range:
        target = self.targets[number]
        if target.held is not None:
            return range(target.held, target.held + 1)
        return range(1, target.most + 1)

    def candidates(self) -> Iterator[_Levels]:
        """For each total, and each unit of shares, the nearest concurrencies."""
        numbers = range(len(self.targets))
        least = sum(self.range_of(number)[0] for number in numbers)
        most = sum(self.range_of(number)[-1] for number in numbers)
        for total in range(least, most + 1):
            units_bps = np.array(sorted(self._units_bps(total)))
            nearest = [self._nearest(number, total, units_bps) for number in numbers]
            yield from zip(*(levels.tolist() for levels in nearest), strict=True)

    def _units_bps(self, total: int) -> set[float]:
        """The possible rates of a share of 1: those at which one destination is met exactly."""
        found = {
            self.expected_bps(number, concurrency, total) / target.share
            for number, target in enumerate(self.targets)
            if target.share
            for concurrency in self.range_of(number)
        }
        return found or {1.0}

    def _nearest(self, number: int, total: int, units_bps: _Floats) -> _Integers:
        """The concurrency nearest to the target, for each unit."""
        target, levels = self.targets[number], np.array(self.range_of(number))
        wanted_bps = units_bps * (target.share or 0.0)
        if not target.share:
            wanted_bps = np.full_like(units_bps, target.rate_bps or 1.0)
        expected_bps = np.array([self.expected_bps(number, int(dc), total) for dc in levels])
        off = np.abs(np.log(expected_bps[:, np.newaxis] / wanted_bps[np.newaxis, :]))
        return np.asarray(levels[off.argmin(axis=0)], dtype=np.int64)

    def rates_bps(self, levels: _Levels) -> list[float]:
        total = sum(levels)
        return [self.expected_bps(number, dc, total) for number, dc in enumerate(levels)]

    def score(self, levels: _Levels) -> float:
        """Lower is better."""
        rates_bps = self.rates_bps(levels)
        asked_bps = asked_of(self.targets, rates_bps)
        errors = [abs(got / asked - 1) for got, asked in zip(rates_bps, asked_bps, strict=True)]
        free = sum(bps for t, bps in zip(self.targets, rates_bps, strict=True) if t.share)
        gain = _DOUBLED_IS_WORTH * math.log2(free) if free else 0.0
        return sum(errors) / len(errors) + max(errors) - gain

    def improved(self, levels: _Levels, steps: int = 1000, worth: float = _LEAST_WORTH) -> _Levels:
        best = levels
        for _ in range(steps):
            step = min(self._steps(best), key=self.score, default=best)
            if self.score(step) > self.score(best) - worth:
                break
            best = step
        return best

    def _steps(self, levels: _Levels) -> Iterator[_Levels]:
        for number, dc in enumerate(levels):
            for other in (dc - 1, dc + 1):
                if other in self.range_of(number):
                    yield (*levels[:number], other, *levels[number + 1 :])


def _allocation(names: Sequence[str], search: _Search, levels: _Levels) -> Allocation:
    rates_bps = search.rates_bps(levels)
    asked_bps = asked_of(search.targets, rates_bps)
    return Allocation(
        concurrency=dict(zip(names, levels, strict=True)),
        expected_bps=dict(zip(names, rates_bps, strict=True)),
        asked_bps=dict(zip(names, asked_bps, strict=True)),
        errors={
            name: got / asked - 1
            for name, got, asked in zip(names, rates_bps, asked_bps, strict=True)
        },
    )
