"""Searches that never finish: they settle, watch, and search again when the throughput changes.

While such a search watches, it asks for its present answer, and recommends it. Its best, as for
every method, is the highest measurement of all, which may predate a change of the path.
"""

from abc import abstractmethod
from typing import Final, TypeVar

import numpy as np

from advisor.domain.events import StopGauge
from advisor.domain.quantities import format_rate
from advisor.domain.space import Setting, Space
from advisor.methods.api import Constant
from advisor.methods.lattice import Lattice, Point
from advisor.methods.searching import Memory, Search, change_percent

EPSILON: Final = Constant(
    name="epsilon", default=5, lower=0, upper=99, meaning="change in % that counts as one"
)
"""For methods that watch the throughput at their setting, and search again when it has changed."""


class WatchMemory(Memory, kw_only=True):
    """`point`: where the search is, and what it asks while it watches.

    `watched_bps`: the last throughput there, None when not known yet. `change`: the last change
    in %.
    """

    point: Point
    watching: bool = False
    watched_bps: float | None = None
    change: float = 0.0


WatchT = TypeVar("WatchT", bound=WatchMemory)


class WatchingSearch(Search[WatchT]):
    """Lines 16 to 25 of algorithm 2 of Balaprakash et al. (2016), around any search."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        memory: WatchT,
        lattice: Lattice,
        epsilon: float,
    ) -> None:
        super().__init__(space, rng, memory)
        self._lattice = lattice
        self._epsilon = epsilon

    @abstractmethod
    def _begin(self, bps: float | None) -> None:
        """Start a search; `bps`: throughput of the present point, None for the first search."""

    @abstractmethod
    def _search(self, bps: float) -> None:
        """Continue searching from the throughput of the setting last asked."""

    @abstractmethod
    def _next_point(self) -> Point:
        """The point to measure next while searching."""

    @property
    @abstractmethod
    def _search_gauge(self) -> StopGauge:
        """How near the search is to settling."""

    @property
    def gauges(self) -> list[StopGauge]:
        """While searching, how near it is to settling; then how near to searching again."""
        if not self.memory.watching:
            return [self._search_gauge]
        return [
            StopGauge(
                name="epsilon",
                value=abs(self.memory.change),
                limit=self._epsilon or 1e-9,
                meaning="change in % since the last probe; above it searches again",
            )
        ]

    @property
    def wants_repeat(self) -> bool:
        """Only while it watches: the lattice's points coincide more often than plain numbers do."""
        return self.memory.watching

    @property
    def watches(self) -> bool:
        """Whether it has settled."""
        return self.memory.watching

    def recommended(self) -> tuple[Setting, float] | None:
        """The watched point, once it has been measured; until then the best."""
        if self.memory.watching and self.memory.watched_bps:
            return self._lattice.setting(self.memory.point), self.memory.watched_bps
        return self.best()

    def _setting(self) -> Setting:
        watching = self.memory.watching
        return self._lattice.setting(self.memory.point if watching else self._next_point())

    def _take(self, bps: float) -> None:
        if self.memory.watching:
            self._watch(bps)
        else:
            self._search(bps)

    def _watch(self, bps: float) -> None:
        memory = self.memory
        before, memory.watched_bps = memory.watched_bps, bps
        if before is None:
            return
        memory.change = change_percent(before, bps)
        if abs(memory.change) > self._epsilon:
            memory.watching = False
            self._begin(bps)
            memory.move_reason = (
                f"{format_rate(bps)} after {format_rate(before)} at the same setting, a change "
                f"of more than {self._epsilon:g} %: it searches again"
            )

    def _settle(self, point: Point, bps: float | None, why: str) -> None:
        """End the search at a point whose throughput is known, or None where it is not."""
        memory = self.memory
        memory.point, memory.watching, memory.watched_bps = point, True, bps
        memory.change, memory.label = 0.0, "watch"
        memory.move_reason = f"{why}: it stays and watches"
