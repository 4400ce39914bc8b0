"""The depth-width (d-w) method: from the upper bound down until throughput falls twice in a row.

Source: Rao et al., "Experimental Analysis of File Transfer Rates Over Wide-Area Dedicated
Connections" (2016), section V and algorithm 1. For one parameter with the values i = 1 to n:

- Start at i = n and measure it d times; T_i is the highest of the d traces.
- Go down by the width w while i > w, measuring each configuration d times.
- A T_i below that of the previous configuration is a decrease; after two in a row it stops.
- The answer is the configuration with the highest T.

Lines 7 to 9 are garbled in the text at hand: "if T_i > T_{i−w} then T_max = T_i; flag ← flag + 1;
else flag ← 0". T_{i−w} is not measured yet at that point, and two *rises* would stop the search.
By the paper's text ("two consecutive decreases in the maximum of d traces … that is, two
consecutive negative gradient estimates") they read: if T_i < T_{i+w} then flag ← flag + 1, else
flag ← 0; and T_max = max(T_max, T_i). Equal values are no decrease.

Confidence (section V.B): the share of unimodal configurations among those measured. During a search
a configuration has only its own d traces, so the share is taken over all choices of one trace for
each: how likely single traces would have shown one maximum. `unimodal_share` computes it for any d
where more traces are recorded.

What the paper leaves open, and what is done here:

- Its one parameter is the number of flows. Several parameters are walked one after the other in the
  space's order of cost, the most expensive first, with those already walked at their best values
  and the rest at the upper bound. Each walk is the whole algorithm, and measures its first
  configuration again.
- The Lustre version measures both stripe counts at every step and takes the better one. Every
  parameter with two values is treated in this way, in addition to the ones that are walked.
- i counts the places of the space's lattice: quanta of a count, 25 places for a size, doublings on
  a log2 scale.
- A failed probe counts as 0 bit/s.
- The best is T_max itself, the highest single trace.
"""

import itertools
from collections.abc import Mapping
from typing import Final

import msgspec
import numpy as np

from advisor.api.method import (
    Constant,
    Knowledge,
    Lattice,
    Memory,
    MethodTraits,
    Point,
    Search,
    SearchPlugin,
    unimodal_share,
)
from advisor.api.values import Setting, Space, StopGauge, format_rate, setting_words

CONSTANTS: Final = (
    Constant(
        name="d",
        default=3,
        lower=1,
        upper=100,
        meaning="measurements of each configuration",
        integer=True,
    ),
    Constant(
        name="w",
        default=1,
        lower=1,
        upper=255,
        meaning="steps down from one configuration to the next",
        integer=True,
    ),
    Constant(
        name="decreases",
        default=2,
        lower=1,
        upper=255,
        meaning="decreases in a row to stop",
        integer=True,
    ),
)


class _Memory(Memory, kw_only=True):
    """The state of the walk. `base`: the point at which the walk began.

    `walk`: the index of the parameter in the order of walks. `place`: the position on it.
    `choice`: which combination of the two-valued parameters is measured, with `traces` so far;
    `better`: the best combination of this step and its traces. `curve`: the traces of the better
    combination at every step of this walk. `before_bps`: T of the previous step. `peak`: the point
    of this walk's T_max, which is `peak_bps`.
    """

    base: Point
    walk: int = 0
    place: int
    choice: int = 0
    traces: list[float] = msgspec.field(default_factory=list)
    better: tuple[Point, list[float]] | None = None
    curve: list[list[float]] = msgspec.field(default_factory=list)
    before_bps: float | None = None
    decreases: int = 0
    peak: Point
    peak_bps: float = -1.0
    confidences: list[float] = msgspec.field(default_factory=list)


class DepthWidth(Search[_Memory]):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        _knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        self._lattice = Lattice.of_steps(space)
        self._depth, self._width = int(constants["d"]), int(constants["w"])
        self._decreases = int(constants["decreases"])
        self._walked = _walked(space, self._lattice)
        two_valued = set(self._lattice.movable) - set(self._walked)
        places = [(0, 1) if a in two_valued else (None,) for a in range(space.dimensions)]
        self._choices = list(itertools.product(*places))
        top = self._lattice.top
        memory = _Memory(base=top, place=top[self._walked[0]] if self._walked else 0, peak=top)
        super().__init__(space, rng, memory)
        self._name_step()

    @property
    def confidence(self) -> float | None:
        """The share of unimodal curves, the lowest of the walks done; None before the first."""
        return min(self.memory.confidences, default=None)

    @property
    def gauges(self) -> list[StopGauge]:
        """Decreases in a row, and steps of this walk."""
        memory = self.memory
        steps = self._lattice.top[self._axis] // self._width + 1 if self._walked else 1
        return [
            StopGauge(
                name="decreases",
                value=memory.decreases,
                limit=self._decreases,
                meaning="decreases in a row",
            ),
            StopGauge(
                name="steps",
                value=len(memory.curve),
                limit=steps,
                meaning="configurations measured on the way down",
            ),
        ]

    @property
    def _axis(self) -> int:
        return self._walked[min(self.memory.walk, len(self._walked) - 1)]

    def _point(self) -> Point:
        memory = self.memory
        chosen = zip(memory.base, self._choices[memory.choice], strict=True)
        places = [place if choice is None else choice for place, choice in chosen]
        if self._walked:
            places[self._axis] = memory.place
        return tuple(places)

    def _setting(self) -> Setting:
        return self._lattice.setting(self._point())

    @property
    def _place_words(self) -> str:
        axis = self._axis
        value = self._lattice.rows[axis][self.memory.place]
        return setting_words({self._lattice.name(axis): value})

    def _name_step(self) -> None:
        memory = self.memory
        where = f"{self._place_words}, " if self._walked else ""
        memory.label = f"{where}trace {len(memory.traces) + 1} of {self._depth}"

    def _take(self, bps: float) -> None:
        memory = self.memory
        memory.traces = [*memory.traces, bps]
        if len(memory.traces) == self._depth:
            if memory.better is None or max(memory.traces) > max(memory.better[1]):
                memory.better = (self._point(), memory.traces)
            memory.traces = []
            memory.choice += 1
            if memory.choice == len(self._choices):
                self._finish_step(*memory.better)
        if memory.stop_reason is None:
            self._name_step()

    def _finish_step(self, point: Point, traces: list[float]) -> None:
        """Lines 5 to 9 of algorithm 1, and the move to the next step."""
        memory, highest_bps = self.memory, max(traces)
        fell = memory.before_bps is not None and highest_bps < memory.before_bps
        memory.decreases = memory.decreases + 1 if fell else 0
        before, memory.before_bps = memory.before_bps, highest_bps
        if highest_bps > memory.peak_bps:
            memory.peak, memory.peak_bps = point, highest_bps
        memory.curve = [*memory.curve, traces]
        memory.choice, memory.better = 0, None
        memory.iteration += 1
        seen = format_rate(highest_bps)
        if before is not None:
            seen += f" after {format_rate(before)}"
        # Places count from 0 and the paper's i from 1: i > w is place ≥ w.
        if self._walked and memory.place >= self._width and memory.decreases < self._decreases:
            memory.place -= self._width
            memory.move_reason = f"{seen}: down to {self._place_words}"
        else:
            self._finish_walk(seen)

    def _finish_walk(self, seen: str) -> None:
        memory = self.memory
        memory.confidences = [*memory.confidences, unimodal_share(memory.curve)]
        why = (
            f"{memory.decreases} decreases in a row"
            if memory.decreases >= self._decreases
            else "the lower bound is reached"
        )
        memory.walk += 1
        if memory.walk >= len(self._walked):
            memory.stop_reason = (
                f"{why}; {min(memory.confidences):.0%} of the curves of single traces have one peak"
            )
            return
        name = self._lattice.name(self._axis)
        memory.move_reason = f"{seen}: {why}, now {name} from its upper bound"
        memory.base, memory.place = memory.peak, self._lattice.top[self._axis]
        memory.curve, memory.before_bps, memory.decreases = [], None, 0
        memory.peak_bps = -1.0


def _walked(space: Space, lattice: Lattice) -> list[int]:
    """The parameters to walk, most expensive first: those with over two values, or else one."""
    cost = [*space.cost_order, *(p.name for p in space.parameters)]
    dearest = sorted(lattice.movable, key=lambda axis: cost.index(lattice.name(axis)))
    return [axis for axis in dearest if len(lattice.rows[axis]) > 2] or dearest[:1]


plugin = SearchPlugin(
    name="depth-width",
    summary="depth-width probing from the upper bound down (Rao et al., 2016)",
    traits=MethodTraits(
        # The result is measured again at the end, so the search can cover more settings.
        tool_constants={"d": 2},
    ),
    constants=CONSTANTS,
    make=DepthWidth,
)
