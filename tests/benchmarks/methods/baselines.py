"""Baselines without a method: a fixed setting, random settings, and all settings."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from advisor import registry
from advisor.api.method import Knowledge, Lattice, Memory, MethodPlugin, Search, SearchPlugin
from advisor.api.values import Setting, Space
from tests.benchmarks.methods.searching import WithConstants

FIXED: Mapping[str, Mapping[str, int]] = {
    "always 2 × 8 (Globus's default), not probed": {
        "concurrency": 2,
        "parallelism": 8,
        "pipelining": 1,
    },
    "always 32 × 8, pipelining 2, not probed": {
        "concurrency": 32,
        "parallelism": 8,
        "pipelining": 2,
    },
}


class _Memory(Memory, kw_only=True):
    """Which point is asked."""

    point: tuple[int, ...]


class _Random(Search[_Memory]):
    """Any point of the lattice, each as likely; without end."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        _knowledge: Knowledge,
        _constants: Mapping[str, float],
    ) -> None:
        self._lattice = Lattice.of_steps(space)
        super().__init__(space, rng, _Memory(point=self._lattice.top))
        self._draw()

    def _draw(self) -> None:
        number = int(self._rng.integers(self._lattice.size))
        self.memory.point = self._lattice.number(number)

    def _setting(self) -> Setting:
        return self._lattice.setting(self.memory.point)

    def _take(self, bps: float) -> None:
        self.memory.iteration += 1
        self._draw()


RANDOM = SearchPlugin(name="random", summary="the best of as many at random", make=_Random)


def exhaustive() -> list[tuple[MethodPlugin, int]]:
    """A sweep of all 6 × 6 × 6 settings of a grid, once and three times, with its budget."""
    sweep = registry.method("sweep")
    return [
        (WithConstants(sweep, {"points": 6, "repeats": repeats}), 216 * repeats)
        for repeats in (1, 3)
    ]
