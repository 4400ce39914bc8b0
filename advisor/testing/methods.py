"""What every search method must keep to. Inherit, set `plugin`, and let pytest collect it:

from advisor.testing.methods import MethodContract

class TestMine(MethodContract):
    plugin = my_module.plugin
"""

import json
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from advisor.domain.measurement import Outcome
from advisor.domain.space import Setting, Space, setting_key
from advisor.methods.api import Knowledge, Method, MethodPlugin
from advisor.testing.samples import a_path, a_space, failed, measured

_STEPS = 60
Answer = Callable[[Setting], Outcome]


def _hill(setting: Setting) -> Outcome:
    """Throughput that rises with both parameters to a peak inside the space."""
    streams, buffer = float(setting["streams"]), float(setting["buffer_bytes"])
    share = max(0.05, 1 - abs(streams - 12) / 25) * max(0.05, 1 - abs(np.log2(buffer) - 22) / 12)
    return measured(1e9 * share)


class MethodContract:
    """The contract. Every test is of one sentence of the interface."""

    plugin: ClassVar[MethodPlugin]
    space: ClassVar[Space] = a_space()

    def make(self, seed: int = 1, bandwidth_bps: float | None = None) -> Method:
        """A new search on the sample space."""
        knowledge = Knowledge(path=a_path(), bandwidth_bps=bandwidth_bps)
        return self.plugin.create(self.space, np.random.default_rng(seed), knowledge, {})

    def drive(self, method: Method, answer: Answer, steps: int = _STEPS) -> list[Setting]:
        """Ask and tell so often, or until it stops; the settings asked."""
        asked: list[Setting] = []
        while len(asked) < steps and (setting := method.ask()) is not None:
            asked.append(setting)
            method.tell(setting, answer(setting))
        return asked

    def test_it_can_be_listed(self) -> None:
        assert self.plugin.name
        assert self.plugin.summary
        assert self.plugin.available().ok

    def test_every_setting_is_within_the_space(self) -> None:
        for setting in self.drive(self.make(), _hill):
            assert set(setting) == {p.name for p in self.space.parameters}
            for parameter in self.space.parameters:
                value = setting[parameter.name]
                assert isinstance(value, int)
                assert parameter.lower <= value <= parameter.upper
                assert value % parameter.quantum == 0

    def test_asking_twice_gives_the_same(self) -> None:
        method = self.make()
        assert method.ask() == method.ask()

    def test_the_same_seed_gives_the_same_search(self) -> None:
        assert self.drive(self.make(3), _hill) == self.drive(self.make(3), _hill)

    def test_the_best_is_the_best_measured(self) -> None:
        method = self.make()
        assert method.best() is None
        told: list[tuple[Setting, float]] = []

        def answer(setting: Setting) -> Outcome:
            outcome = _hill(setting)
            told.append((setting, getattr(outcome, "throughput_bps", 0.0)))
            return outcome

        self.drive(method, answer)
        best = method.best()
        assert best is not None
        assert best[1] == max(bps for _, bps in told)
        assert (setting_key(best[0]), best[1]) in [(setting_key(s), b) for s, b in told]

    def test_a_search_goes_on_from_its_saved_state(self) -> None:
        for cut in range(1, 12):
            straight, first, second = self.make(5), self.make(5), self.make(6)
            self.drive(straight, _hill, cut)
            self.drive(first, _hill, cut)
            state: dict[str, Any] = json.loads(json.dumps(first.state()))
            second.restore(state)
            assert second.best() == straight.best()
            assert self.drive(second, _hill) == self.drive(straight, _hill)

    def test_failures_are_answers(self) -> None:
        method = self.make()
        assert self.drive(method, lambda _: failed())
        assert method.best() is None

    def test_it_says_how_near_it_is_to_stopping(self) -> None:
        method = self.make(bandwidth_bps=1e6)
        for _ in range(_STEPS):
            for gauge in method.gauges:
                assert gauge.meaning
                assert gauge.limit > 0
                assert gauge.value >= 0
            if not self.drive(method, _hill, 1):
                break

    def test_it_says_why_it_stopped(self) -> None:
        method = self.make(bandwidth_bps=1e6)
        self.drive(method, _hill, 5000)
        assert (method.ask() is None) == (method.stop_reason is not None)
