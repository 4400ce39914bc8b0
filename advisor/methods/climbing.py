"""Heuristics that raise one parameter after another as long as it pays."""

from collections.abc import Callable, Sequence

import numpy as np

from advisor.domain.events import StopGauge
from advisor.domain.quantities import format_rate
from advisor.domain.space import Parameter, Setting, Space, setting_words
from advisor.methods.searching import Memory, Search, change_percent


class ClimbMemory(Memory, kw_only=True):
    """`held`: the setting reached, with its `bps`; `trial`: the setting now being tried.

    `turn`: the index of the parameter being raised.
    """

    held: Setting
    bps: float | None = None
    trial: Setting | None = None
    turn: int = 0


class Climb(Search[ClimbMemory]):
    """From `start`, raises the parameters in the given order.

    Each is raised by `raised` (value → next value, the same at the end) until the gain is at most
    `gain_percent`; it then returns to the previous value, and the next parameter follows.
    """

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        *,
        start: Setting,
        order: Sequence[Parameter],
        raised: Callable[[Parameter, int], int],
        gain_percent: float,
    ) -> None:
        super().__init__(space, rng, ClimbMemory(held=start, label="start"))
        self._order = order
        self._raised = raised
        self._gain_percent = gain_percent

    @property
    def gauges(self) -> list[StopGauge]:
        """How many parameters are done."""
        return [
            StopGauge(
                name="parameters",
                value=self.memory.turn,
                limit=max(1, len(self._order)),
                meaning="parameters raised as far as it paid",
            )
        ]

    def _setting(self) -> Setting:
        return dict(self.memory.trial or self.memory.held)

    def _take(self, bps: float) -> None:
        memory = self.memory
        if memory.trial is None or memory.bps is None:
            memory.bps = bps
        else:
            self._judge(memory.trial, memory.bps, bps)
        self._try_next()

    def _judge(self, trial: Setting, before: float, bps: float) -> None:
        memory, name = self.memory, self._order[self.memory.turn].name
        words, before_words = (setting_words({name: one[name]}) for one in (trial, memory.held))
        memory.iteration += 1
        rates = f"{format_rate(bps)} after {format_rate(before)}"
        if change_percent(before, bps) > self._gain_percent:
            memory.held, memory.bps = trial, bps
            memory.move_reason = f"{rates}: continues up from {words}"
        else:
            memory.move_reason = f"{rates}: back to {before_words}, and stays there"
            memory.turn += 1

    def _try_next(self) -> None:
        memory = self.memory
        while memory.turn < len(self._order):
            parameter = self._order[memory.turn]
            value = int(memory.held[parameter.name])
            higher = self._raised(parameter, value)
            trial = self._space.bounded(memory.held | {parameter.name: higher})
            if parameter.fraction_of(int(trial[parameter.name])) > parameter.fraction_of(value):
                memory.trial = trial
                memory.label = f"{parameter.name} up"
                return
            memory.turn += 1
        memory.stop_reason = (
            f"no parameter gains more than {self._gain_percent:g} % when it is raised further"
            if self._order
            else "there is no parameter to raise"
        )
