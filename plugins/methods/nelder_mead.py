"""Nelder-Mead search, as the live tuner nm-tuner of Balaprakash et al. (2016), algorithm 3.

A simplex of m + 1 points, x_0 the best to x_m the worst, x̄ the centroid of all but the worst:

- Reflect: x_r = x̄ + R (x̄ − x_m). If f_0 ≥ f_r > f_m it replaces the worst.
- Expand, if f_r > f_0: x_e = x̄ + E (x_r − x̄). If f_e ≥ f_r it replaces the worst.
- Contract, if neither: x_t is x_r if f_r ≥ f_m, else x_m; x_c = x̄ + C (x_t − x̄). If f_c ≥ f_m it
  replaces the worst.
- Shrink, otherwise: x_j = x_0 + S (x_j − x_0), measured again.

When the simplex is a single point the search has settled: it stays there and watches, and
searches again when the throughput changes by more than ε % from one probe to the next (lines 16
to 25 of algorithm 2). It never finishes. R, E, C, S = 1, 2, 0.5, 0.5; ε = 5 %; x_0 is Globus's
default of concurrency 2 and parallelism 8. fBnd rounds every new point to whole numbers and
projects what is outside onto the bounds.

What the paper leaves open, and what is done here:

- The listing calls the worst point both x_m and x_n. Line 13 compares with the worst, where the
  usual algorithm compares with the second worst; the listing is followed.
- An expansion that is slower is followed by a contraction, as listing and figure 4c say; the
  usual algorithm would keep the reflection, which is better than all the simplex has.
- The first simplex: x_0, and x_0 + λ along each parameter, λ = 8 as in cs-tuner; where fBnd leaves
  less than half of that, x_0 − λ if it is farther.
- Shrinking rounds towards x_0: half a step away would otherwise be rounded back forever. Points
  that coincide with x_0 are not measured again.
- On whole numbers the other steps can cycle. After 2 (m + 1) iterations without a better x_0 the
  simplex is shrunk.
- A new search begins from x_0 again, as in the listing of algorithm 2.
- The integers are the places of the space's lattice: quanta of a count, 25 places for a size,
  doublings on a log2 scale; a parameter with one value is left out. One that Globus does not set
  begins at its lower bound, a buffer at its upper one.
- A failed probe counts as 0 bit/s.
"""

import math
from collections.abc import Mapping
from typing import Final, Literal

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

CONSTANTS: Final = (
    EPSILON,
    Constant(name="lambda", default=8, lower=1, upper=128, meaning="size of the first simplex"),
    Constant(name="R", default=1, lower=0.1, upper=10, meaning="reflection"),
    Constant(name="E", default=2, lower=1, upper=10, meaning="expansion"),
    Constant(name="C", default=0.5, lower=0.01, upper=0.99, meaning="contraction"),
    Constant(name="S", default=0.5, lower=0.01, upper=0.99, meaning="shrinking"),
)

_Step = Literal["vertex", "reflect", "expand", "contract"]
_Vertex = tuple[Point, float]


class _Memory(WatchMemory, kw_only=True):
    """The simplex and the step under way.

    `vertices`: points and throughputs, the best first once all are measured; `pending`: those
    still to be measured. `trial`: the point of the step; `reflected`: x_r. `top_bps`: the best
    when it last rose, `barren`: iterations since.
    """

    step: _Step = "vertex"
    vertices: list[_Vertex] = msgspec.field(default_factory=list)
    pending: list[Point] = msgspec.field(default_factory=list)
    trial: Point
    reflected: _Vertex | None = None
    top_bps: float = -1.0
    barren: int = 0


class NelderMead(WatchingSearch[_Memory]):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        lattice = Lattice.of_steps(space)
        self._k = constants
        self._start = lattice.nearest(setting_of(space, knowledge.start or GLOBUS_LARGE_FILES))
        memory = _Memory(point=self._start, trial=self._start)
        super().__init__(space, rng, memory, lattice, constants["epsilon"])
        self._begin(None)

    @property
    def _search_gauge(self) -> StopGauge:
        places = [point for point, _ in self.memory.vertices] + self.memory.pending
        widest = max(max(row) - min(row) for row in zip(*places, strict=True))
        return StopGauge(
            name="simplex",
            value=1 / (1 + widest),
            limit=1,
            meaning="1 ÷ (1 + steps across the simplex): at 1 the search has converged",
        )

    def _begin(self, _bps: float | None) -> None:
        memory = self.memory
        corners = [self._corner(axis) for axis in self._lattice.movable]
        memory.vertices, memory.reflected = [], None
        memory.top_bps, memory.barren = -1.0, 0
        self._measure([self._start, *corners], "first simplex")

    def _corner(self, axis: int) -> Point:
        edge = self._k["lambda"]
        above, below = (self._lattice.moved(self._start, axis, by) for by in (edge, -edge))
        up, down = above[axis] - self._start[axis], self._start[axis] - below[axis]
        return above if up >= min(edge / 2, down) else below

    def _measure(self, points: list[Point], label: str) -> None:
        memory = self.memory
        memory.step, memory.pending, memory.label = "vertex", points, label

    def _next_point(self) -> Point:
        memory = self.memory
        return memory.pending[0] if memory.step == "vertex" else memory.trial

    def _search(self, bps: float) -> None:
        match self.memory.step:
            case "vertex":
                self._take_vertex(bps)
            case "reflect":
                self._take_reflection(bps)
            case "expand":
                self._take_expansion(bps)
            case "contract":
                self._take_contraction(bps)

    def _take_vertex(self, bps: float) -> None:
        memory = self.memory
        vertex, *memory.pending = memory.pending
        memory.vertices = [*memory.vertices, (vertex, bps)]
        if not memory.pending:
            self._order()

    def _take_reflection(self, bps: float) -> None:
        """Lines 10 to 17."""
        memory = self.memory
        best_bps, worst_bps = memory.vertices[0][1], memory.vertices[-1][1]
        memory.reflected = (memory.trial, bps)
        if bps > best_bps:
            self._try("expand", self._k["E"], memory.trial)
        elif bps > worst_bps:
            self._replace_worst(bps)
        else:
            self._try_contraction()

    def _take_expansion(self, bps: float) -> None:
        """Lines 18 to 22."""
        assert self.memory.reflected is not None
        if bps >= self.memory.reflected[1]:
            self._replace_worst(bps)
        else:
            self._try_contraction()

    def _try_contraction(self) -> None:
        """Lines 23 to 27."""
        reflected, worst = self.memory.reflected, self.memory.vertices[-1]
        assert reflected is not None
        self._try("contract", self._k["C"], (reflected if reflected[1] >= worst[1] else worst)[0])

    def _take_contraction(self, bps: float) -> None:
        """Lines 28 to 34."""
        if bps >= self.memory.vertices[-1][1]:
            self._replace_worst(bps)
        else:
            self._finish_iteration()
            self._shrink("nothing was faster than the worst")

    def _centroid(self) -> list[float]:
        others = [point for point, _ in self.memory.vertices[:-1]]
        return [sum(places) / len(others) for places in zip(*others, strict=True)]

    def _try(self, step: _Step, factor: float, away: Point) -> None:
        """The point at x̄ + factor (away − x̄)."""
        centre = self._centroid()
        self.memory.step = self.memory.label = step
        self.memory.trial = self._lattice.bounded(
            [c + factor * (a - c) for c, a in zip(centre, away, strict=True)]
        )

    def _replace_worst(self, bps: float) -> None:
        memory = self.memory
        worst_bps = memory.vertices[-1][1]
        words = f"{memory.step}: {format_rate(bps)} replaces the worst, {format_rate(worst_bps)}"
        memory.vertices = [*memory.vertices[:-1], (memory.trial, bps)]
        self._finish_iteration()
        memory.move_reason = words
        self._order()

    def _finish_iteration(self) -> None:
        self.memory.iteration += 1
        self.memory.barren += 1

    def _order(self) -> None:
        """Lines 7 to 12, and whether the simplex is a single point."""
        memory = self.memory
        memory.vertices = sorted(memory.vertices, key=lambda vertex: -vertex[1])
        best, best_bps = memory.vertices[0]
        if best_bps > memory.top_bps:
            memory.top_bps, memory.barren = best_bps, 0
        if all(point == best for point, _ in memory.vertices):
            self._settle(best, best_bps, "the simplex is a single point")
        elif memory.barren >= 2 * len(memory.vertices):
            self._shrink(f"{memory.barren} iterations without a better point")
        else:
            # x̄ + R (x̄ − x_m) is x̄ − R (x_m − x̄).
            self._try("reflect", -self._k["R"], memory.vertices[-1][0])

    def _shrink(self, why: str) -> None:
        """Lines 31 to 34."""
        memory = self.memory
        best = memory.vertices[0]
        shrunk = [self._shrunk(best[0], point) for point, _ in memory.vertices[1:]]
        memory.barren = 0
        memory.vertices = [best] * (1 + shrunk.count(best[0]))
        memory.move_reason = f"{why}: the simplex shrinks towards the best point"
        if left := [point for point in shrunk if point != best[0]]:
            self._measure(left, "shrink")
        else:
            self._order()

    def _shrunk(self, best: Point, point: Point) -> Point:
        return tuple(
            b + math.trunc(self._k["S"] * (p - b)) for b, p in zip(best, point, strict=True)
        )


plugin = SearchPlugin(
    name="nelder-mead",
    summary="Nelder-Mead on integers, watches and restarts, nm-tuner (Balaprakash et al., 2016)",
    traits=MethodTraits(
        default_for=("priced transfer",),
        form_rank=1,
        form_text="moves away from the worst of three settings",
    ),
    constants=CONSTANTS,
    make=NelderMead,
)
