"""doubling: a climb for running transfers by doubling and halving, at the least cost.

The searches of the papers explore with large steps: a simplex of steps of eight, a compass of
eight. A running transfer pays for every epoch at a bad setting. Flows that share a link with
competing ones have their share of it by their number: the way up is long where those are many,
and costs most where it is slow; alone on the link, nothing is gained by any step.

- It starts at Globus's default of concurrency 2 and parallelism 8, or at the given setting.
- Concurrency is raised, then parallelism (or streams), then the others; then each is halved, in
  the same order. The first step of a parameter is two doublings, and so is each that follows one
  that gained 30 % for each doubling; otherwise it is one. Two doublings that do not gain are
  followed by one.
- A step up that gains more than ε % is kept, and the next one follows at once. It is given the
  benefit of a standard error: what is not known to be worse costs less than a gain that is missed.
- Throughput rises with the flows up to one number, and falls beyond it (Balaprakash et al. 2016,
  figure 1). So where a step up to more flows neither gains nor loses ε %, no other parameter of the
  flows is raised, and instead of fewer streams twice as many files with half of the streams are
  tried: that shows whether files are better without the loss that fewer flows may be. So it is
  where a number of flows between the present one and that of the step has lost ε %, until as many
  or fewer have gained ε %: then there is more to it than their number.
- A halving is kept unless it loses more than half of ε, here without the benefit of an error: the
  same throughput with fewer flows is better for all other traffic. From a new setting all steps
  are tried again.
- More flows are not tried from a rate within ε % of the path's bandwidth less headers.
- No setting is tried twice. When no step is left, it takes the setting with the fewest flows among
  those within half of ε of the best, and measures it again, because single epochs are noisy. It
  stays there if its mean still makes it that setting; otherwise the next one is measured.
- If the rate has changed by more than 40 % in that, conditions have changed during the search, and
  it restarts from there. Epochs at one setting differ by 10 to 20 %: by less it would restart for
  chance. On hosts that also compute they differ by more, so the change must also be more than two
  standard deviations of such a difference. One epoch's is estimated from how far the rates measured
  so far are from a smooth function of the number of flows.
- A doubling that would exceed the flows that the space allows also halves another parameter: at
  that bound more files at a time can still be better or worse than more streams for each.
- A failed probe counts as 0 bit/s.
"""

import math
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
    relative_error,
    scatter,
)
from advisor.api.values import (
    GLOBUS_LARGE_FILES,
    Outcome,
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
_CHANGED_PERCENT: Final = 40.0
_CERTAINLY: Final = 2.0
"""In standard deviations of the difference of two epochs at one setting."""

_LONG_STEP: Final = 2
"""In doublings."""

_LONG_STEP_GAIN: Final = 1.3
"""The gain of each doubling after which the next step is a long one: of flows that had little of a
shared link a doubling gains nearly 2, of those that had most of it nearly 1."""

_BESIDE_HEADERS: Final = 0.95


class _Seen(msgspec.Struct):
    """A setting, its mean rate, and how often it was measured."""

    setting: Setting
    bps: float
    times: int = 1


class _Memory(Memory, kw_only=True):
    """`held`: the present setting, with its `bps`; `trial`: the setting tried, None for `held`.

    `turn`: the step to be tried next, of `stride` doublings; `refused`: the steps rejected at this
    setting. `is_flat`: a step up of the flows neither gained nor lost. `flows_tell`: whether their
    number says what to expect of a setting. `seen`: all settings measured since the start or
    restart. `ends`: whether `held` is measured again. `error`: relative standard error of the
    last epoch.
    """

    held: Setting
    bps: float | None = None
    trial: Setting | None = None
    turn: int = 0
    stride: int = _LONG_STEP
    refused: list[int] = msgspec.field(default_factory=list)
    is_flat: bool = False
    flows_tell: bool = True
    seen: list[_Seen] = msgspec.field(default_factory=list)
    ends: bool = False
    error: float = 0.0


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
        self._full_bps = _BESIDE_HEADERS * (knowledge.bandwidth_bps or float("inf"))

    @property
    def gauges(self) -> list[StopGauge]:
        """The number of steps rejected since the last one that was kept."""
        return [
            StopGauge(
                name="steps",
                value=len(self.memory.refused),
                limit=max(1, len(self._steps)),
                meaning="doublings and halvings rejected at this setting",
            )
        ]

    @property
    def wants_repeat(self) -> bool:
        """At the end, when it measures the best setting again."""
        return self.memory.ends

    def recommended(self) -> tuple[Setting, float] | None:
        """The present setting, once it achieved a rate."""
        return (self.memory.held, self.memory.bps) if self.memory.bps else self.best()

    def tell(self, setting: Setting, outcome: Outcome) -> None:
        """Process the outcome of the setting last asked."""
        self.memory.error = relative_error(outcome)
        super().tell(setting, outcome)

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
        words = setting_words(trial)
        rates = f"{format_rate(bps)} after {format_rate(before)}"
        if bps > 0 and self._pays(before, bps, is_up=is_up):
            gained = change_percent(before, bps) > self._epsilon
            memory.flows_tell &= is_up or not gained
            is_long = bps > before * _LONG_STEP_GAIN**memory.stride
            memory.held, memory.bps = trial, bps
            self._forget_steps(_LONG_STEP if is_long else 1)
            memory.move_reason = f"{rates}: keep {words}"
            return
        memory.move_reason = f"{rates}: back from {words}"
        if is_up and memory.stride > 1:
            memory.stride = 1
            return
        memory.refused.append(memory.turn)
        memory.turn, memory.stride = self._after(memory.turn), _LONG_STEP
        # At the bound a step up has as many flows: that these give the same says nothing of fewer.
        if is_up and self._flows(trial) > self._flows(memory.held):
            memory.is_flat |= change_percent(before, bps) >= -self._epsilon

    def _pays(self, before: float, bps: float, *, is_up: bool) -> bool:
        error = self.memory.error
        if is_up:
            return change_percent(before, bps * (1 + error)) > self._epsilon
        return change_percent(before, bps * (1 - error)) > -self._epsilon / 2

    def _forget_steps(self, stride: int) -> None:
        memory = self.memory
        memory.refused, memory.is_flat, memory.stride = [], False, stride

    def _try_next(self) -> None:
        """The next step to a setting not yet measured; else the end of the search."""
        memory = self.memory
        for turn in self._turns():
            if turn != memory.turn:
                memory.turn, memory.stride = turn, _LONG_STEP
            if (trial := self._trial(turn)) is not None:
                parameter, is_up = self._steps[turn]
                memory.trial = trial
                memory.label = f"{parameter.name} {'up' if is_up else 'down'}"
                return
        memory.trial, memory.ends, memory.label = None, True, "again"

    def _trial(self, turn: int) -> Setting | None:
        """The setting of a step that is worth trying, None if it is not."""
        memory = self.memory
        parameter, is_up = self._steps[turn]
        counts_flows = parameter.name in self._flow_names
        if is_up and counts_flows and (memory.is_flat or self._is_full):
            return None
        trial = self._stepped(parameter, is_up=is_up)
        while is_up and memory.stride > 1 and not self._is_plain(parameter, trial):
            memory.stride -= 1
            trial = self._stepped(parameter, is_up=is_up)
        if counts_flows and (memory.is_flat or self._is_known(trial)):
            if is_up:
                return None
            trial = self._exchanged(parameter, trial)
        is_new = all(one.setting != trial for one in memory.seen)
        return trial if is_new and self._may_be(trial) else None

    def _exchanged(self, halved: Parameter, trial: Setting) -> Setting:
        """With the first flow parameter doubled; the present setting if that is not the same."""
        first = self._order[0]
        if halved is first or first.name not in self._flow_names:
            return self.memory.held
        trial = trial | {first.name: first.doubled(int(trial[first.name]))}
        return trial if self._flows(trial) == self._flows(self.memory.held) else self.memory.held

    @property
    def _is_full(self) -> bool:
        """Whether the bandwidth leaves no gain of ε."""
        return (self.memory.bps or 0.0) * (1 + self._epsilon / 100) >= self._full_bps

    def _stepped(self, parameter: Parameter, *, is_up: bool) -> Setting:
        trial = self.memory.held
        for _ in range(self.memory.stride if is_up else 1):
            value = int(trial[parameter.name])
            value = parameter.doubled(value) if is_up else parameter.halved(value)
            trial = trial | {parameter.name: value}
        return self._bounded(parameter, trial)

    def _is_plain(self, parameter: Parameter, trial: Setting) -> bool:
        """Whether a long step reaches its end, without another parameter that makes way."""
        factor = 2**self.memory.stride
        return trial == self.memory.held | {
            parameter.name: factor * int(self.memory.held[parameter.name])
        }

    def _is_known(self, trial: Setting) -> bool:
        """Whether a number of flows from the present one to this one's has lost ε."""
        memory = self.memory
        if not memory.flows_tell:
            return False
        now, then = self._flows(memory.held), self._flows(trial)
        least = (memory.bps or 0.0) * (1 - self._epsilon / 100)
        return any(
            one.bps < least and (then <= flows < now or now < flows <= then)
            for one in memory.seen
            for flows in [self._flows(one.setting)]
        )

    def _bounded(self, stepped: Parameter, trial: Setting) -> Setting:
        """With another parameter halved where there are too many flows, if that helps."""
        for other in self._order:
            if other is not stepped and not self._may_be(trial):
                halved = trial | {other.name: other.halved(int(trial[other.name]))}
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
        for _ in self._steps:
            if turn not in self.memory.refused:
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
        if abs(change_percent(before, bps)) > self._change_by_chance:
            memory.bps, memory.ends, memory.turn = bps, False, 0
            self._forget_steps(_LONG_STEP)
            memory.seen = [_Seen(memory.held, bps)]
            memory.move_reason = (
                f"{format_rate(bps)} after {format_rate(before)} at the same setting: the search "
                "restarts"
            )

    @property
    def _change_by_chance(self) -> float:
        """The most by which two epochs at one setting are taken to differ by chance, in %."""
        rates = [(self._flows(one.setting), one.bps) for one in self.memory.seen if one.bps > 0]
        epoch = scatter((math.log(flows), math.log(bps)) for flows, bps in rates)
        return max(_CHANGED_PERCENT, 100 * _CERTAINLY * math.sqrt(2) * epoch)

    def _settle(self) -> None:
        """Go to the best setting to measure it again; end if that has been done."""
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
            memory.stop_reason = f"no step is expected to gain {self._epsilon:g} %"


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
