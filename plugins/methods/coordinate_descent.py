"""Coordinate descent, as the live tuner cd-tuner of Balaprakash et al. (2016), algorithm 1.

One parameter at a time, in single steps. With the last two points x_{c−1} and x_{c−2} and
Δ_c = 100 (f_{c−1} − f_{c−2}) / f_{c−2}, and δ_c = Δ_c / (x_{c−1} − x_{c−2}) where they differ:

- x_c = x_{c−1} + 1 if they are the same and |Δ_c| > ε, or if they differ and δ_c > ε;
- x_c = x_{c−1} − 1 if they differ and δ_c < −ε;
- x_c = x_{c−1} otherwise.

It moves on to the next parameter when the throughput has not varied for several epochs, never
finishes, and starts at Globus's default of concurrency 2 and parallelism 8. ε = 5 %.

What the paper leaves open, and what is done here:

- Line 16 prints "|Δ_c| > ε" and two conditions on δ_c in part illegibly; they are rebuilt from the
  text of section III.B. x_1 is x_0 + 1, or x_0 − 1 at the upper bound.
- "Several epochs": 2, the constant `still`.
- Around a sharp peak the rule steps up and down forever. After two changes of direction the peak
  lies between, and the parameter is done too.
- A pass over the parameters in which significant steps changed the setting is followed by another.
  After a pass without such a step it watches, and searches again from there when the throughput
  changes by more than ε. At an upper bound, where x + 1 is not possible, it then tries x − 1.
- The integers are the places of the space's lattice: quanta of a count, 25 places for a size,
  doublings on a log2 scale. A parameter that Globus does not set begins at its lower bound, a
  buffer at its upper one.
- A failed probe counts as 0 bit/s; from there to any throughput is a change of 100 %.
"""

from collections.abc import Mapping
from typing import Final

import numpy as np

from advisor.api.method import (
    EPSILON,
    Constant,
    Knowledge,
    Lattice,
    MethodTraits,
    Point,
    SearchPlugin,
    WatchingSearch,
    WatchMemory,
    change_percent,
)
from advisor.api.values import GLOBUS_LARGE_FILES, Space, StopGauge, format_rate, setting_of

_TURNS: Final = 2

CONSTANTS: Final = (
    EPSILON,
    Constant(
        name="still",
        default=2,
        lower=1,
        upper=100,
        meaning="probes in a row without a change before moving to the next parameter",
        integer=True,
    ),
)


class _Memory(WatchMemory, kw_only=True):
    """`point` is x_c; `last` is x_{c−1} with its throughput, None at the start of a parameter.

    `turn`: the index of the parameter among the movable ones. `still`: epochs without change.
    `direction`: the last step on it, `turns`: how often the direction changed, `start`: where it
    began, `climbed`: whether a step on it was made because of a change above ε. `led_on`: whether
    such steps moved any parameter in this pass.
    """

    last: tuple[Point, float] | None = None
    turn: int = 0
    still: int = 0
    direction: int = 0
    turns: int = 0
    start: Point
    climbed: bool = False
    led_on: bool = False


class CoordinateDescent(WatchingSearch[_Memory]):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        lattice = Lattice.of_steps(space)
        start = lattice.nearest(setting_of(space, knowledge.start or GLOBUS_LARGE_FILES))
        memory = _Memory(point=start, start=start, label="x0")
        super().__init__(space, rng, memory, lattice, constants["epsilon"])
        self._still = int(constants["still"])

    @property
    def _axis(self) -> int:
        return self._lattice.movable[self.memory.turn]

    @property
    def _search_gauge(self) -> StopGauge:
        return StopGauge(
            name="parameters",
            value=self.memory.turn,
            limit=max(1, len(self._lattice.movable)),
            meaning="parameters done in this pass",
        )

    @property
    def wants_repeat(self) -> bool:
        """Always: the rule compares consecutive epochs, also of the same setting."""
        return True

    def _next_point(self) -> Point:
        return self.memory.point

    def _begin(self, bps: float | None) -> None:
        """Search again from the point that was watched: the rule for a change at one point."""
        self._open_pass()
        if bps is not None and self._lattice.movable:
            self._step_away(bps)

    def _open_pass(self) -> None:
        self.memory.turn, self.memory.led_on = 0, False
        self._open_parameter()

    def _open_parameter(self) -> None:
        memory = self.memory
        memory.last, memory.still, memory.direction, memory.turns = None, 0, 0, 0
        memory.start, memory.climbed = memory.point, False
        memory.label = "x0"

    def _search(self, bps: float) -> None:
        memory = self.memory
        if not self._lattice.movable:
            self._settle(memory.point, bps, "no parameter can be changed")
        elif memory.last is None:
            self._step_away(bps)
        else:
            self._compare(*memory.last, bps)

    def _step_away(self, bps: float) -> None:
        """From x_0 to x_1: a step up, or down from the upper bound."""
        point, axis = self.memory.point, self._axis
        at_top = self._lattice.moved(point, axis, 1)[axis] == point[axis]
        self._go(-1 if at_top else 1, bps)

    def _compare(self, before: Point, before_bps: float, bps: float) -> None:
        """Lines 13 to 16 of algorithm 1."""
        memory, axis = self.memory, self._axis
        change = change_percent(before_bps, bps)
        distance = memory.point[axis] - before[axis]
        slope = change / distance if distance else abs(change)
        step = (slope > self._epsilon) - (slope < -self._epsilon)
        words = f"{format_rate(bps)} after {format_rate(before_bps)}"
        if not step:
            self._stay(bps, words)
            return
        memory.climbed = True
        if memory.direction and step != memory.direction:
            memory.turns += 1
        target = self._lattice.moved(memory.point, axis, step)
        if memory.turns >= _TURNS:
            memory.point = target
            self._next_parameter(None, f"{words}: the peak lies between")
        elif target == memory.point:
            if distance:
                self._stay(bps, f"{words} at the bound")
            else:
                self._go(-step, bps)
        else:
            self._go(step, bps)
            memory.move_reason = (
                f"{words}: {self._lattice.name(axis)} {'up' if step > 0 else 'down'} a step"
            )

    def _go(self, step: int, bps: float) -> None:
        memory = self.memory
        memory.last = (memory.point, bps)
        memory.point = self._lattice.moved(memory.point, self._axis, step)
        memory.still, memory.direction = 0, step
        memory.label = f"{self._lattice.name(self._axis)} {'+' if step > 0 else '−'}1"
        memory.iteration += 1

    def _stay(self, bps: float, words: str) -> None:
        memory = self.memory
        memory.last = (memory.point, bps)
        memory.still += 1
        memory.iteration += 1
        memory.label = f"{self._lattice.name(self._axis)} again"
        if memory.still >= self._still:
            self._next_parameter(bps, f"{words}, no change worth a step")

    def _next_parameter(self, bps: float | None, why: str) -> None:
        """`bps`: the rate of the present point, None if it is not measured yet."""
        memory = self.memory
        memory.turn += 1
        memory.led_on = memory.led_on or (memory.climbed and memory.point != memory.start)
        if memory.turn < len(self._lattice.movable):
            self._open_parameter()
            memory.move_reason = f"{why}: {self._lattice.name(self._axis)} is next"
        elif memory.led_on:
            self._open_pass()
            memory.move_reason = f"{why}: another pass over the parameters"
        else:
            memory.turn = 0
            self._settle(memory.point, bps, why)


plugin = SearchPlugin(
    name="coordinate-descent",
    summary="coordinate descent in single steps, cd-tuner (Balaprakash et al., 2016)",
    traits=MethodTraits(
        form_rank=3,
        form_text="changes one parameter at a time, files first",
    ),
    constants=CONSTANTS,
    make=CoordinateDescent,
)
