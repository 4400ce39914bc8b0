"""Destinations of a made-up network on a clock of its own, for the real meter of epochs."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from advisor.models.slicing import FileEntry
from advisor.transfer.engine.file_group import FileGroup
from tests.benchmarks.shares.cases import HOSTS
from tests.benchmarks.shares.virtual.networks import Levels, Network, Others, Variation
from tests.virtual_clock import VirtualClock

STEP_S: Final = 1.0
_RAMP_S: Final = 4.0
"""The time constant in which a destination comes to its share after a change."""


class VirtualDestination:
    """One destination with a file that is larger than can be moved."""

    def __init__(self, name: str, parallelism: int) -> None:
        self.group: FileGroup | None = FileGroup(name, [FileEntry("endless", 10**18, 0)])
        self.concurrency = 1
        self.parallelism = parallelism
        self.moved = 0.0

    @property
    def carried_bytes(self) -> int:
        return int(self.moved)


class VirtualSource(VirtualClock):
    """Moves files to all destinations over the network."""

    def __init__(self, network: Network, parallelism: int, rng: np.random.Generator) -> None:
        super().__init__()
        self.network = network
        self.destinations = {name: VirtualDestination(name, parallelism) for name in HOSTS}
        self._others = Others(network, STEP_S, rng)
        self._noise = {name: Variation(network.noise_s, STEP_S, rng) for name in HOSTS}
        self._rates_bps: dict[str, float] = {}

    def step(self) -> None:
        levels = {n: (one.concurrency, one.parallelism) for n, one in self.destinations.items()}
        factors = {
            name: math.exp(self.network.spread(files * streams) * self._noise[name].next())
            for name, (files, streams) in levels.items()
        }
        got_bps = self.network.rates_bps(levels, self._others.next(), factors)
        keeps = math.exp(-STEP_S / _RAMP_S)
        for name, one in self.destinations.items():
            before_bps = self._rates_bps.get(name, got_bps[name])
            self._rates_bps[name] = keeps * before_bps + (1 - keeps) * got_bps[name]
            one.moved += self._rates_bps[name] * STEP_S / 8
        self.now_s += STEP_S

    def mean_bps(self, levels: Levels) -> dict[str, float]:
        """What each gets at these levels under the present load, without chance."""
        return self.network.rates_bps(levels, self._others.now, dict.fromkeys(HOSTS, 1.0))

    def wait(self, seconds: float) -> None:
        """Let time pass with what is set."""
        end_s = self.now_s + seconds
        while self.now_s < end_s:
            self.step()
