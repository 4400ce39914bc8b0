"""Destinations whose throughput is known to follow a law: what forecasts and plans are held to."""

from collections.abc import Iterator, Mapping
from itertools import cycle, islice

import numpy as np

from advisor.domain.shares import Served
from advisor.models.shares.forecast import Forecast, Modelling
from advisor.models.shares.variation import steps

NOW_S = 1e9

LAWS: Mapping[str, tuple[float, float, float]] = {
    "kraken": (0.5, -0.3, 120e6),
    "gordon": (0.9, -0.8, 400e6),
    "mason": (0.2, -0.1, 60e6),
}
"""Exponents of DC and SC, and what there is with one file at a time in all, in bit/s."""


def truth_bps(name: str, concurrency: float, total: float) -> float:
    of_dc, of_sc, one_bps = LAWS[name]
    return float(one_bps * concurrency**of_dc * total**of_sc)


def served(
    number: int, *, noise: float = 0.02, seed: int = 1, different: int | None = None
) -> dict[str, list[Served]]:
    """What this many steps, a minute each, of an experiment see of them.

    `different`: this many steps differ, and are repeated; None if all do.
    """
    rng = np.random.default_rng(seed)
    found: dict[str, list[Served]] = {name: [] for name in LAWS}
    for at_s, levels in _times(number, different or number):
        for name, level in levels.items():
            total = sum(levels.values())
            rate_bps = truth_bps(name, level, total) * float(np.exp(rng.normal(0, noise)))
            one = Served(
                concurrency=level,
                source_concurrency=total,
                throughput_bps=rate_bps,
                parallelism=8,
                source_streams=8 * total,
                when_s=at_s,
            )
            found[name].append(one)
    return found


def _times(number: int, different: int) -> Iterator[tuple[float, dict[str, int]]]:
    every = list(islice(steps(tuple(LAWS), 8, (8, 8), 1), different))
    for count, step in enumerate(islice(cycle(every), number)):
        yield NOW_S - 60.0 * (number - count), step.concurrency


def forecasts(number: int = 36, modelling: Modelling | None = None) -> dict[str, Forecast]:
    return {
        name: Forecast(some, NOW_S, modelling or Modelling())
        for name, some in served(number).items()
    }
