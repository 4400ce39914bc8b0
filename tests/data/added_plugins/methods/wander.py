"""A method for tests: a few settings at random, and the best of them."""

from collections.abc import Mapping

import numpy as np

from advisor.api.method import (
    Constant,
    GaugeLabel,
    Knowledge,
    Memory,
    MethodTraits,
    ProbeLabel,
    Search,
    SearchPlugin,
)
from advisor.api.values import Setting, Space, StopGauge


class WanderMemory(Memory, kw_only=True):
    """`asked`: the setting asked last."""

    asked: Setting


class Wander(Search[WanderMemory]):
    """Stops after S settings."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        _knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        super().__init__(space, rng, WanderMemory(asked={}, label="w"))
        self._most = int(constants["S"])
        self._wander()

    def _wander(self) -> None:
        place = {p.name: float(self._rng.random()) for p in self._space.parameters}
        self.memory.asked = self._space.setting_at(place)

    @property
    def gauges(self) -> list[StopGauge]:
        return [
            StopGauge(
                name="S", value=self.iteration, limit=self._most, meaning="settings wandered to"
            )
        ]

    def _setting(self) -> Setting:
        return self.memory.asked

    def _take(self, _bps: float) -> None:
        self.memory.iteration += 1
        if self.memory.iteration >= self._most:
            self.memory.stop_reason = f"{self._most} settings tried (S)"
        self._wander()


plugin = SearchPlugin(
    name="wander",
    summary="a few settings at random",
    constants=(
        Constant(name="S", default=3, lower=1, upper=100, meaning="settings at most", integer=True),
    ),
    make=Wander,
    traits=MethodTraits(
        former_names=("stray",),
        form_text="goes anywhere, and keeps the best of it",
        form_rank=50,
        hint="wander learns nothing.",
        gauge_labels={"S": GaugeLabel(words="wandered")},
        probe_labels=(ProbeLabel(name="w", full="♣", hollow="♧", meaning="wandered to"),),
    ),
)
