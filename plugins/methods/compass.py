"""Compass search, as the live tuner cs-tuner of Balaprakash et al. (2016), algorithm 2.

From the point x', with the step λ: try x' ± λ along every parameter, in random order; the first
faster than x' becomes x', and all directions are open again; when none does, λ is halved.
At λ = 0.5 the search has settled (lines 5 to 14). It then stays at x' and watches; when the
throughput changes by more than ε % from one probe to the next it searches again (lines 16 to 25).
It never finishes.

In the paper's signs and numbers: λ = 8, ε = 5 %, x_0 is Globus's default of concurrency 2 and
parallelism 8. fBnd rounds to whole numbers and projects what is outside onto the bounds.

What the paper leaves open, and what is done here:

- The text says that it stops "when λ becomes less than 0.5", line 6 while λ > 0.5. Line 6 is
  followed: half a step rounds to a point that λ = 1 has tried, or to x'.
- Line 12, garbled, is taken to mean: no direction was faster, halve λ.
- Line 22 restarts the search from x_0, with λ as it was first, and so does this one.
- Δ_c is infinite before the first two epochs, which would start a second search at once. Here the
  first change is from the search's result to the first probe after it.
- The integers are the places of the space's lattice: quanta of a count, 25 places for a size,
  doublings on a log2 scale. A parameter that Globus does not set begins at its lower bound, a
  buffer at its upper one.
- A direction that fBnd projects back onto x' is not measured.
- A failed probe counts as 0 bit/s.
"""

from collections.abc import Mapping
from typing import Final

import msgspec
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
)
from advisor.api.values import GLOBUS_LARGE_FILES, Space, StopGauge, format_rate, setting_of

_SMALLEST: Final = 0.5

CONSTANTS: Final = (
    EPSILON,
    Constant(name="lambda", default=8, lower=1, upper=128, meaning="size of the first steps"),
)


class _Memory(WatchMemory, kw_only=True):
    """`point` is the x' of the paper; `bps` its rate, None until it is measured.

    `directions`: those still to be tried, parameter and sign. `trial`: the point being tried.
    """

    bps: float | None = None
    radius: float
    directions: list[tuple[int, int]] = msgspec.field(default_factory=list)
    trial: Point | None = None


class Compass(WatchingSearch[_Memory]):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        lattice = Lattice.of_steps(space)
        self._radius = constants["lambda"]
        self._start = lattice.nearest(setting_of(space, knowledge.start or GLOBUS_LARGE_FILES))
        memory = _Memory(point=self._start, radius=self._radius)
        super().__init__(space, rng, memory, lattice, constants["epsilon"])
        self._begin(None)

    @property
    def _search_gauge(self) -> StopGauge:
        return StopGauge(
            name="lambda",
            value=_SMALLEST / self.memory.radius,
            limit=1,
            meaning=f"{_SMALLEST:g} ÷ the size of the steps: at 1 the search has converged",
        )

    def _begin(self, _bps: float | None) -> None:
        memory = self.memory
        memory.point, memory.bps, memory.radius = self._start, None, self._radius
        memory.directions, memory.trial = [], None
        memory.label = "x0"

    def _next_point(self) -> Point:
        return self.memory.trial or self.memory.point

    def _search(self, bps: float) -> None:
        memory = self.memory
        if memory.trial is None or memory.bps is None:
            memory.bps = bps
            self._open_directions()
        elif bps > memory.bps:
            memory.move_reason = (
                f"{memory.label}: {format_rate(bps)} after {format_rate(memory.bps)}, keep it"
            )
            memory.point, memory.bps = memory.trial, bps
            memory.iteration += 1
            self._open_directions()
        self._try_next()

    def _open_directions(self) -> None:
        every = [(axis, sign) for axis in self._lattice.movable for sign in (1, -1)]
        self.memory.directions = [every[n] for n in self._rng.permutation(len(every))]

    def _try_next(self) -> None:
        """The next direction that changes the setting, with ever smaller steps; or settle."""
        memory = self.memory
        while memory.radius > _SMALLEST:
            while memory.directions:
                (axis, sign), *memory.directions = memory.directions
                trial = self._lattice.moved(memory.point, axis, sign * memory.radius)
                if trial != memory.point:
                    memory.trial = trial
                    memory.label = (
                        f"{self._lattice.name(axis)} {'+' if sign > 0 else '−'}{memory.radius:g}"
                    )
                    return
            memory.radius /= 2
            memory.iteration += 1
            memory.move_reason = (
                f"no direction was faster: the steps are halved to {memory.radius:g}"
            )
            self._open_directions()
        memory.trial = None
        self._settle(memory.point, memory.bps, "no direction was faster, down to single steps")


plugin = SearchPlugin(
    name="compass",
    summary="compass search that watches and restarts, cs-tuner (Balaprakash et al., 2016)",
    traits=MethodTraits(
        form_rank=2,
        form_text="tries steps up and down in one parameter",
    ),
    constants=CONSTANTS,
    make=Compass,
)
