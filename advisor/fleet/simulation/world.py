"""A made-up network for a fleet: rates with noise, hosts that go down, and changes that happen."""

import math
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

import numpy as np

from advisor.fleet.plan.fleet import DAY_S, Fleet, signatures

_BLOCK: Final = 65_536
_USUAL_SHARE: Final = 0.9
"""What a pair reaches of the slower link while nothing has changed."""
_NOISE: Final = 0.08
_SLOWED: Final = 0.05
_BETWEEN_FAILURES_S: Final = 60 * DAY_S
_DOWN_S: Final = DAY_S / 2
_BETWEEN_HOST_CHANGES_S: Final = 365 * DAY_S
_PAIR_CHANGES_PER_YEAR: Final = 0.01
_LASTS_S: Final = 90 * DAY_S
_FACTORS: Final = (0.8, 0.5)


class Draws:
    """Single random numbers, drawn in blocks."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._uniform: list[float] = []
        self._normal: list[float] = []

    def uniform(self) -> float:
        """In [0, 1)."""
        if not self._uniform:
            self._uniform = self._rng.random(_BLOCK).tolist()
        return self._uniform.pop()

    def normal(self) -> float:
        """Standard normal."""
        if not self._normal:
            self._normal = self._rng.standard_normal(_BLOCK).tolist()
        return self._normal.pop()

    def exponential(self, mean: float) -> float:
        """With this mean."""
        return -mean * math.log(1.0 - self.uniform())

    def below(self, number: int) -> int:
        """A whole number from 0 to below this."""
        return int(self.uniform() * number)


class Happening(NamedTuple):
    """Something that happens to a host, or to a pair. `end`: whether it is the end of it."""

    at_s: float
    kind: Literal["down", "host change", "pair change"]
    host: int
    other: int
    factor: float
    end: bool


class World:
    """What measurements would find. Times are in Unix time and never go back."""

    def __init__(self, fleet: Fleet, draws: Draws) -> None:
        self._draws = draws
        number = len(fleet.hosts)
        self._rates = [host.bandwidth_bps * _USUAL_SHARE for host in fleet.hosts]
        self.is_down = [False] * number
        self._host_factor = [1.0] * number
        self._pair_factor: dict[tuple[int, int], float] = {}
        self._host_changes = [0] * number
        self._pair_changes: dict[tuple[int, int], int] = {}
        places = {one: (draws.uniform(), draws.uniform()) for one in signatures(fleet)}
        self._place = [places[one] for one in signatures(fleet)]

    def rate_bps(self, source: int, destination: int) -> float:
        """What a measurement finds now."""
        draws = self._draws
        usual = min(self._rates[source], self._rates[destination])
        factor = self._host_factor[source] * self._host_factor[destination]
        factor *= self._pair_factor.get((source, destination), 1.0)
        if draws.uniform() < _SLOWED:
            factor *= 0.4 + 0.5 * draws.uniform()
        return min(usual / _USUAL_SHARE, usual * factor * math.exp(_NOISE * draws.normal()))

    def rtt_s(self, source: int, destination: int) -> float:
        """Half a millisecond at one site, up to 0.14 s between two."""
        return 0.0005 + 0.1 * math.dist(self._place[source], self._place[destination])

    def changes(self, source: int, destination: int) -> int:
        """How many changes have touched a pair."""
        own = self._pair_changes.get((source, destination), 0)
        return own + self._host_changes[source] + self._host_changes[destination]

    def apply(self, one: Happening) -> None:
        """Let it happen."""
        factor = 1.0 if one.end else one.factor
        if one.kind == "down":
            self.is_down[one.host] = not one.end
        elif one.kind == "host change":
            self._host_factor[one.host] = factor
            self._host_changes[one.host] += 1
        else:
            pair = one.host, one.other
            self._pair_factor[pair] = factor
            self._pair_changes[pair] = self._pair_changes.get(pair, 0) + 1


def happenings(fleet: Fleet, start_s: float, end_s: float, draws: Draws) -> Iterator[Happening]:
    """All that happens, in no order.

    Hosts go down every 60 days for half a day, and change once a year; in a hundred years a pair
    changes once by itself. Changes leave 80 or 50 % of the rate, and are mended after 90 days. All
    at random times, at these means.
    """
    for host in range(len(fleet.hosts)):
        yield from _of_host(host, start_s, end_s, draws)
    pairs = [pair for task in fleet.tasks if task.what != "path" for pair in task.pairs()]
    mean_s = 365 * DAY_S / _PAIR_CHANGES_PER_YEAR / max(1, len(pairs))
    at_s = start_s + draws.exponential(mean_s)
    taken: set[tuple[int, int]] = set()
    while pairs and at_s < end_s:
        pair = pairs[draws.below(len(pairs))]
        if pair not in taken:
            taken.add(pair)
            factor = _FACTORS[draws.below(len(_FACTORS))]
            yield Happening(at_s, "pair change", *pair, factor, end=False)
            yield Happening(at_s + _LASTS_S, "pair change", *pair, factor, end=True)
        at_s += draws.exponential(mean_s)


def _of_host(host: int, start_s: float, end_s: float, draws: Draws) -> Iterator[Happening]:
    at_s = start_s + draws.exponential(_BETWEEN_FAILURES_S)
    while at_s < end_s:
        up_s = at_s + draws.exponential(_DOWN_S)
        yield Happening(at_s, "down", host, -1, 0.0, end=False)
        yield Happening(up_s, "down", host, -1, 0.0, end=True)
        at_s = up_s + draws.exponential(_BETWEEN_FAILURES_S)
    at_s = start_s + draws.exponential(_BETWEEN_HOST_CHANGES_S)
    while at_s < end_s:
        factor = _FACTORS[draws.below(len(_FACTORS))]
        yield Happening(at_s, "host change", host, -1, factor, end=False)
        yield Happening(at_s + _LASTS_S, "host change", host, -1, factor, end=True)
        at_s += _LASTS_S + draws.exponential(_BETWEEN_HOST_CHANGES_S)
