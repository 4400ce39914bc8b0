"""Sweep: every setting of a grid, repeated, in random order. The reference for all others.

The papers measure their curves in this way: Rao et al. (2016) each of 10 flow counts 10 times, HARP
(2018) all of {1, 2, 4, 8, 16, 32}³ at least 5 times, ProbData (2017) the whole profile for
comparison.

- The grid: `points` values of every parameter, even on its scale, with both bounds; values that
  fall together count once. It has points^parameters settings.
- A round measures each of them once, in a newly drawn order, so that a change of the path during
  the sweep affects all settings alike; the papers do not state their order.
- After `repeats` rounds it stops.

The best is the setting with the highest single measurement, as for every method. With noise this
selects a lucky one more often than the mean would; the stored measurements allow ranking by mean.
"""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from advisor.api.method import (
    Constant,
    Knowledge,
    Lattice,
    Memory,
    MethodTraits,
    Search,
    SearchPlugin,
    generator_state,
    set_generator,
)
from advisor.api.values import Setting, Space, StopGauge, format_rate

CONSTANTS: Final = (
    Constant(
        name="points",
        default=5,
        lower=2,
        upper=256,
        meaning="values of every parameter",
        integer=True,
    ),
    Constant(
        name="repeats",
        default=3,
        lower=1,
        upper=1000,
        meaning="measurements of every setting",
        integer=True,
    ),
)


class _Memory(Memory, kw_only=True):
    """`before_round`: the generator's state before the order of this round was drawn.

    `place`: the number of this round's settings already measured.
    """

    before_round: dict[str, Any]
    place: int = 0


class Sweep(Search[_Memory]):
    """One sweep. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        _knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        super().__init__(space, rng, _Memory(before_round=generator_state(rng), label="round 1"))
        self._grid = Lattice.spread(space, int(constants["points"]))
        self._repeats = int(constants["repeats"])
        self._draw()

    @property
    def gauges(self) -> list[StopGauge]:
        """The number of measurements done, of all."""
        size = self._grid.size
        done = self.memory.iteration * size + self.memory.place
        return [
            StopGauge(
                name="repeats", value=done, limit=self._repeats * size, meaning="settings measured"
            )
        ]

    @property
    def wants_repeat(self) -> bool:
        """Always: every round measures all settings."""
        return True

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from the value of `state`: the round is drawn again in the same order."""
        super().restore(state)
        set_generator(self._rng, self.memory.before_round)
        self._draw()

    def _draw(self) -> None:
        self._order = self._rng.permutation(self._grid.size)

    def _setting(self) -> Setting:
        return self._grid.setting(self._grid.number(int(self._order[self.memory.place])))

    def _take(self, _bps: float) -> None:
        memory = self.memory
        memory.place += 1
        if memory.place < self._grid.size:
            return
        memory.place = 0
        memory.iteration += 1
        best = f"best {format_rate(memory.best[1])}" if memory.best else "all probes failed"
        memory.move_reason = f"round {memory.iteration} of {self._repeats} is over, {best}"
        if memory.iteration >= self._repeats:
            memory.stop_reason = (
                f"all {self._grid.size} settings of the grid are measured {self._repeats} times"
            )
            return
        memory.label = f"round {memory.iteration + 1}"
        memory.before_round = generator_state(self._rng)
        self._draw()


plugin = SearchPlugin(
    name="sweep",
    summary="every setting of a grid, repeated, in random order: the reference",
    constants=CONSTANTS,
    make=Sweep,
    traits=MethodTraits(
        instead="a grid is measured to its end as a profile: "
        "advisor profile HOST --set streams=1,4,16"
    ),
)
