"""doubling: a search for running transfers by doubling and halving, at the least cost.

The searches of the papers explore with large steps: a simplex of steps of eight, a compass of
eight. A running transfer pays for every epoch at a bad setting. Here a step is a doubling or a
halving of one parameter, so that no step costs more than about half of the throughput.

- It starts at Globus's default of concurrency 2 and parallelism 8, or at the given setting.
- Concurrency is doubled, then parallelism (or streams), then the others; then each is halved, in
  the same order. A doubling that gains more than ε % is kept, and the same step is tried again at
  once. So is a halving that gains as much, or that loses less than half of ε: the same throughput
  with fewer flows is better for all other traffic. From a new setting all steps are tried again.
- No setting is tried twice. When no step is left, it takes the setting with the fewest flows among
  those within half of ε of the best, and measures it once more, because single epochs are noisy. It
  stays there if its mean still makes it that setting; otherwise the next one is measured.
- If the rate has changed by more than 25 % in that, conditions have changed during the search, and
  it restarts from there.
- A doubling that would exceed the flows that the space allows also halves another parameter: at
  that bound more files at a time can still be better or worse than more streams for each.
- A failed probe counts as 0 bit/s.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec
import numpy as np

from advisor.api.method import (
    EPSILON,
    Knowledge,
    Memory,
    MethodTraits,
    Search,
    SearchPlugin,
    change_percent,
)
from advisor.api.values import (
    GLOBUS_LARGE_FILES,
    Parameter,
    Role,
    Setting,
    Space,
    StopGauge,
    flows_of,
    format_rate,
    in_order,
    setting_of,
    setting_words,
)

CONSTANTS: Final = (EPSILON,)
_ORDER: Final = (
    Role.CONCURRENCY,
    Role.PARALLELISM,
    Role.STREAMS,
    Role.PIPELINING,
    Role.BUFFER,
    Role.OTHER,
)
_CHANGED_PERCENT: Final = 25.0


class _Seen(msgspec.Struct):
    """A setting, its mean rate, and how often it was measured."""

    setting: Setting
    bps: float
    times: int = 1


class _Memory(Memory, kw_only=True):
    """`held`: the present setting, with its `bps`; `trial`: the setting tried, None for `held`.

    `turn`: the step to be tried next; `refused`: how many were rejected in a row. `seen`: all
    settings measured since the start or restart. `ends`: whether `held` is measured once more.
    """

    held: Setting
    bps: float | None = None
    trial: Setting | None = None
    turn: int = 0
    refused: int = 0
    seen: list[_Seen] = msgspec.field(default_factory=list)
    ends: bool = False


class Doubling(Search[_Memory]):
    """One search. See the module's text."""

    def __init__(
        self,
        space: Space,
        rng: np.random.Generator,
        knowledge: Knowledge,
        constants: Mapping[str, float],
    ) -> None:
        start = setting_of(space, knowledge.start or GLOBUS_LARGE_FILES)
        super().__init__(space, rng, _Memory(held=start, label="start"))
        order = in_order(space, *_ORDER)
        self._order = order
        self._steps = [(one, True) for one in order] + [(one, False) for one in order]
        self._epsilon = constants["epsilon"]
        self._flow_names = knowledge.flow_names

    @property
    def gauges(self) -> list[StopGauge]:
        """The number of steps rejected since the last one that was kept."""
        return [
            StopGauge(
                name="steps",
                value=self.memory.refused,
                limit=max(1, len(self._steps)),
                meaning="doublings and halvings rejected at this setting",
            )
        ]

    @property
    def wants_repeat(self) -> bool:
        """At the end, when it measures the best setting once more."""
        return self.memory.ends

    def recommended(self) -> tuple[Setting, float] | None:
        """The present setting, once it achieved a rate."""
        return (self.memory.held, self.memory.bps) if self.memory.bps else self.best()

    def _setting(self) -> Setting:
        return dict(self.memory.trial or self.memory.held)

    def _take(self, bps: float) -> None:
        memory = self.memory
        if memory.trial is not None and memory.bps is not None:
            memory.seen.append(_Seen(memory.trial, bps))
            self._judge(memory.trial, memory.bps, bps)
        elif memory.ends and memory.bps is not None:
            self._confirm(memory.bps, bps)
        else:
            memory.bps = bps
            memory.seen.append(_Seen(memory.held, bps))
        if not memory.ends:
            self._try_next()
        if memory.ends:
            self._settle()

    def _judge(self, trial: Setting, before: float, bps: float) -> None:
        memory = self.memory
        memory.iteration += 1
        _, is_up = self._steps[memory.turn]
        least = self._epsilon if is_up else -self._epsilon / 2
        words = setting_words(trial)
        rates = f"{format_rate(bps)} after {format_rate(before)}"
        if bps > 0 and change_percent(before, bps) > least:
            memory.held, memory.bps, memory.refused = trial, bps, 0
            memory.move_reason = f"{rates}: keep {words}"
        else:
            memory.turn, memory.refused = self._after(memory.turn), memory.refused + 1
            memory.move_reason = f"{rates}: back from {words}"

    def _try_next(self) -> None:
        """The next step to a setting not yet measured; else the end of the search."""
        memory = self.memory
        seen = [one.setting for one in memory.seen]
        for turn in self._turns():
            parameter, is_up = self._steps[turn]
            trial = self._bounded(
                parameter,
                memory.held | {parameter.name: _stepped(parameter, memory.held, up=is_up)},
            )
            if trial not in seen and self._may_be(trial):
                memory.turn, memory.trial = turn, trial
                memory.label = f"{parameter.name} {'up' if is_up else 'down'}"
                return
        memory.trial, memory.ends, memory.label = None, True, "again"

    def _bounded(self, stepped: Parameter, trial: Setting) -> Setting:
        """With another parameter halved where there are too many flows, if that helps."""
        for other in self._order:
            if other is not stepped and not self._may_be(trial):
                halved = trial | {other.name: _stepped(other, trial, up=False)}
                trial = halved if self._flows(halved) < self._flows(trial) else trial
        return trial

    def _may_be(self, trial: Setting) -> bool:
        most = self._space.most_flows
        return most is None or self._flows(trial) <= most

    def _flows(self, setting: Setting) -> int:
        return flows_of(setting, self._flow_names)

    def _turns(self) -> Iterator[int]:
        """All steps that were not rejected at this setting, from the next one on."""
        turn = self.memory.turn
        for _ in range(len(self._steps) - self.memory.refused):
            yield turn
            turn = self._after(turn)

    def _after(self, turn: int) -> int:
        return (turn + 1) % max(1, len(self._steps))

    def _confirm(self, before: float, bps: float) -> None:
        """Take the second measurement of the present setting."""
        memory = self.memory
        [held] = [one for one in memory.seen if one.setting == memory.held]
        held.bps, held.times = (held.bps * held.times + bps) / (held.times + 1), held.times + 1
        memory.bps = held.bps
        if abs(change_percent(before, bps)) > _CHANGED_PERCENT:
            memory.bps, memory.ends, memory.refused, memory.turn = bps, False, 0, 0
            memory.seen = [_Seen(memory.held, bps)]
            memory.move_reason = (
                f"{format_rate(bps)} after {format_rate(before)} at the same setting: the search "
                "restarts"
            )

    def _settle(self) -> None:
        """Go to the best setting to measure it once more; end if that has been done."""
        memory = self.memory
        most = max(one.bps for one in memory.seen)
        good = [one for one in memory.seen if one.bps >= most * (1 - self._epsilon / 200)]
        best = min(good, key=lambda one: (self._flows(one.setting), -one.bps))
        if best.setting != memory.held:
            memory.move_reason = (
                f"no step is left; {setting_words(best.setting)} was the best: "
                f"{format_rate(best.bps)}"
            )
        memory.held, memory.bps = best.setting, best.bps
        if best.times > 1 or not best.bps:
            memory.stop_reason = (
                f"no doubling gains {self._epsilon:g} %, and no halving costs less than half of it"
            )


def _stepped(parameter: Parameter, held: Setting, *, up: bool) -> int:
    value = int(held[parameter.name])
    return parameter.doubled(value) if up else parameter.halved(value)


plugin = SearchPlugin(
    name="doubling",
    summary="doubles and halves one parameter after the other, at the least cost to the transfer",
    traits=MethodTraits(
        default_for=("transfer",),
        form_rank=0,
        form_text="doubles and halves one value, keeps what helps",
    ),
    constants=CONSTANTS,
    make=Doubling,
)
