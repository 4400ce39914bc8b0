"""Computes the figures of the page from the results. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Final

from tests.benchmarks.truth.results import Advised, Done, Results, Truth
from tests.benchmarks.wan.results import key_of

DIFFERENT: Final = 0.1
WITHIN: Final = 0.02
FULL: Final = 0.98
"""The share of what a path can carry from which on a setting is said to fill it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A session, and what its setting reached. Rates in bit/s.

    `advised_bps`: each long run of the advised setting. `cheapest_flows`: of the sweep's settings
    within 2 % of its best.
    """

    session: Advised
    advised_bps: list[float]
    default_bps: list[float]
    best_bps: float
    best_of_transport_bps: dict[str, float]
    cheapest_flows: int

    @property
    def inside(self) -> list[bool]:
        """Whether each long run was inside the 90 % interval."""
        low, high = self.session.interval_bps
        return [low <= bps <= high for bps in self.advised_bps]

    @property
    def true_gain(self) -> float | None:
        if not self.default_bps or not mean(self.default_bps):
            return None
        return mean(self.advised_bps) / mean(self.default_bps)

    @property
    def gain_reached(self) -> bool | None:
        """Whether the true gain reached the lower end; None where the default was advised."""
        gain, true = self.session.gain, self.true_gain
        if gain is None or true is None or gain[1] == gain[2] == 1:
            return None
        return true >= gain[1]

    @property
    def fraction(self) -> float:
        """Of the best setting that was run, that of the sweep or the advised one."""
        return mean(self.advised_bps) / self.best_bps if self.best_bps else 0.0

    @property
    def flows(self) -> int:
        return int((self.session.setting or {}).get("streams", 1))

    @property
    def right_transport(self) -> bool | None:
        """Whether the faster transport was advised; None if they differ by less than 10 %."""
        rates = self.best_of_transport_bps
        if len(rates) < 2:
            return None
        best = max(rates, key=lambda name: rates[name])
        others = max(bps for name, bps in rates.items() if name != best)
        if rates[best] < (1 + DIFFERENT) * others:
            return None
        return self.session.transport == best


def outcomes(results: Results, version: str) -> list[Outcome]:
    """Those of all complete paths."""
    found = (_outcome(results, done, version) for done in results.all(Done))
    return [one for one in found if one]


def _outcome(results: Results, done: Done, version: str) -> Outcome | None:
    sessions = [a for a in results.all(Advised, done.case) if a.version == version]
    if not sessions or sessions[-1].setting is None:
        return None
    session = sessions[-1]
    truths = results.all(Truth, done.case)
    rates = {t.key: [u.bps for u in truths if u.key == t.key] for t in truths}
    means = {key: mean(each) for key, each in rates.items()}
    swept_bps = max(means[key] for key in done.swept)
    key = key_of(session.transport, session.setting or {})
    by_transport: dict[str, float] = {}
    for name, bps in means.items():
        transport = name.partition(":")[0]
        by_transport[transport] = max(bps, by_transport.get(transport, 0.0))
    return Outcome(
        session=session,
        advised_bps=rates[key],
        default_bps=rates.get(done.default, []),
        best_bps=max(swept_bps, means[key]),
        best_of_transport_bps=by_transport,
        cheapest_flows=_cheapest(done.swept, means, swept_bps),
    )


def _cheapest(keys: Sequence[str], means: dict[str, float], best_bps: float) -> int:
    near = (key for key in keys if means[key] >= (1 - WITHIN) * best_bps)
    return min(int(key.rpartition("streams=")[2]) for key in near)


def share(values: Iterable[bool | None]) -> tuple[int, int]:
    """How many are true, of how many that are known."""
    known = [value for value in values if value is not None]
    return sum(known), len(known)
