"""The contract tests of every search method. Inherit, set `plugin`, and let pytest collect it:

from advisor.testing.methods import MethodContract

class TestMine(MethodContract):
    plugin = my_module.plugin

A live tuner that watches and searches again instead of stopping says `finishes = False`.
"""

import functools
import json
import math
from collections.abc import Callable
from typing import ClassVar

import numpy as np
import pytest

from advisor.domain.measurement import Measurement, Outcome
from advisor.domain.space import Setting, Space, setting_key
from advisor.domain.traits import MethodTraits
from advisor.methods.api import Knowledge, Method, MethodPlugin
from advisor.testing.samples import (
    a_path,
    a_space,
    a_transfer_space,
    failed,
    measured,
    odd_spaces,
)

_STEPS = 60
_MANY_STEPS = 20_000
_CUTS = {1: 8, 2: 8, 3: 8, 5: 8, 8: 8, 13: _STEPS, 21: 8, 26: 8, 34: 8}
"""After how many probes a search is saved, and how many it then makes."""
_FULL_BPS = 1e9
OutcomeOf = Callable[[Setting], Outcome]
"""A surface: what a probe of a setting gives."""

SPACES = {
    "buffers and streams": a_space(),
    "file transfer": a_transfer_space(),
    **odd_spaces(),
}
"""The spaces that every method is tested on, by their names."""


def _hill_on(space: Space, peak: float = 0.6) -> OutcomeOf:
    """A surface that rises with every parameter to one peak, at this fraction of the bounds."""

    def answer(setting: Setting) -> Outcome:
        far = sum(
            abs(p.fraction_of(float(setting[p.name])) - peak) for p in space.parameters
        ) / len(space.parameters)
        return measured(_FULL_BPS * max(0.05, 1 - far))

    return answer


def _flat(_setting: Setting) -> Outcome:
    return measured(_FULL_BPS)


def _noisy(answer: OutcomeOf) -> OutcomeOf:
    """The same with the noise that real paths show, 15 %, the same in every run."""
    rng = np.random.default_rng(99)

    def with_noise(setting: Setting) -> Outcome:
        outcome = answer(setting)
        assert isinstance(outcome, Measurement)
        return measured(outcome.throughput_bps * float(rng.lognormal(sigma=0.15)))

    return with_noise


def _changing(before: OutcomeOf, after: OutcomeOf, at: int) -> OutcomeOf:
    """One surface for the first `at` probes, then another."""
    count = 0

    def answer(setting: Setting) -> Outcome:
        nonlocal count
        count += 1
        return before(setting) if count <= at else after(setting)

    return answer


def _failing(answer: OutcomeOf) -> OutcomeOf:
    """Failures among the measurements: every third, and from the 10th to the 15th."""
    count = 0

    def some_fail(setting: Setting) -> Outcome:
        nonlocal count
        count += 1
        return failed() if count % 3 == 0 or 10 <= count <= 15 else answer(setting)

    return some_fail


def _surfaces(space: Space) -> dict[str, OutcomeOf]:
    """New for every search, as some of them count the probes."""
    hill = _hill_on(space)
    return {
        "a hill": hill,
        "a flat surface": _flat,
        "noise": _noisy(hill),
        "a change half-way": _changing(_hill_on(space, 0.2), _hill_on(space, 0.9), at=25),
        "a path that dies": _changing(hill, lambda _: failed(), at=20),
        "failures in the middle": _failing(hill),
    }


SURFACES = tuple(_surfaces(a_space()))
"""The names of the surfaces that every method is tested on."""

on_every_space = pytest.mark.parametrize("space_name", SPACES)
"""One test for each space."""


def on_every_surface(
    test: "Callable[[MethodContract, str, str], None]",
) -> "Callable[[MethodContract, str], None]":
    """One test for all surfaces of a space, which is thousands of tests fewer.

    A failure names its surface.
    """

    @functools.wraps(test)
    def on_each(self: "MethodContract", space_name: str) -> None:
        for surface_name in SURFACES:
            try:
                test(self, space_name, surface_name)
            except Exception as error:
                error.add_note(f"on {surface_name}")
                raise

    # Else pytest asks for the surface as a fixture.
    del on_each.__wrapped__
    return on_each


def _visible(method: Method) -> tuple[object, ...]:
    """What a session shows of a search."""
    shown = (method.iteration, method.label, method.stop_reason)
    return (method.best(), method.recommended(), *shown)


class MethodContract:
    """The contract. Every test covers one sentence of the interface."""

    plugin: ClassVar[MethodPlugin]
    finishes: ClassVar[bool] = True

    def make(
        self,
        seed: int = 1,
        bandwidth_bps: float | None = None,
        space_name: str = "buffers and streams",
    ) -> Method:
        """A new search on one of the sample spaces."""
        knowledge = Knowledge(path=a_path(), bandwidth_bps=bandwidth_bps)
        return self.plugin.create(SPACES[space_name], np.random.default_rng(seed), knowledge, {})

    def drive(self, method: Method, answer: OutcomeOf, steps: int = _STEPS) -> list[Setting]:
        """Ask and tell this many times, or until it stops; return the settings."""
        asked: list[Setting] = []
        while len(asked) < steps and (setting := method.ask()) is not None:
            asked.append(setting)
            method.tell(setting, answer(setting))
        return asked

    def surface(self, space_name: str, surface_name: str = "a hill") -> OutcomeOf:
        """A new surface on one of the sample spaces."""
        return _surfaces(SPACES[space_name])[surface_name]

    def test_it_can_be_listed(self) -> None:
        assert self.plugin.name
        assert self.plugin.summary
        assert self.plugin.available().ok

    def test_its_traits_are_of_its_kind(self) -> None:
        assert isinstance(getattr(self.plugin, "traits", MethodTraits()), MethodTraits)

    def test_its_constants_have_bounds_and_keep_them(self) -> None:
        for constant in self.plugin.constants:
            assert constant.meaning
            assert constant.checked(constant.default) == constant.default
            for outside in (constant.lower - 1, constant.upper + 1):
                with pytest.raises(ValueError, match=constant.name):
                    self._create({constant.name: outside})
        with pytest.raises(ValueError, match="no_such_constant"):
            self._create({"no_such_constant": 1})

    def _create(self, constants: dict[str, float]) -> Method:
        return self.plugin.create(a_space(), np.random.default_rng(1), Knowledge(), constants)

    def test_it_can_do_without_any_knowledge(self) -> None:
        assert self.drive(self._create({}), _flat)

    @on_every_space
    @on_every_surface
    def test_every_setting_is_within_the_space(self, space_name: str, surface_name: str) -> None:
        method, space = self.make(space_name=space_name), SPACES[space_name]
        for setting in self.drive(method, self.surface(space_name, surface_name), 300):
            assert set(setting) == space.names
            assert space.fixed.items() <= setting.items()
            assert space.allows(setting)
            for parameter in space.parameters:
                value = setting[parameter.name]
                assert isinstance(value, int)
                assert parameter.contains(value)
                assert value % parameter.quantum == 0

    @on_every_space
    def test_asking_twice_gives_the_same(self, space_name: str) -> None:
        method, answer = self.make(space_name=space_name), self.surface(space_name)
        for _ in range(_STEPS):
            assert method.ask() == method.ask()
            self.drive(method, answer, 1)

    def test_a_setting_that_was_asked_may_be_changed_by_the_caller(self) -> None:
        method = self.make()
        setting = method.ask()
        assert setting is not None
        kept = dict(setting)
        setting.clear()
        assert method.ask() == kept

    @on_every_space
    @on_every_surface
    def test_the_same_seed_gives_the_same_search(self, space_name: str, surface_name: str) -> None:
        first, second = (
            self.drive(
                self.make(3, space_name=space_name), self.surface(space_name, surface_name), 150
            )
            for _ in range(2)
        )
        assert first == second

    @on_every_space
    @on_every_surface
    def test_the_best_is_the_best_measured(self, space_name: str, surface_name: str) -> None:
        method, answer = (
            self.make(space_name=space_name),
            self.surface(space_name, surface_name),
        )
        assert method.best() is None
        measurements: list[tuple[Setting, float]] = []

        def remembered(setting: Setting) -> Outcome:
            outcome = answer(setting)
            if isinstance(outcome, Measurement):
                measurements.append((setting, outcome.throughput_bps))
            return outcome

        self.drive(method, remembered)
        best = method.best()
        assert best is not None
        assert best[1] == max(bps for _, bps in measurements)
        assert (setting_key(best[0]), best[1]) in [(setting_key(s), b) for s, b in measurements]
        recommended = method.recommended()
        assert recommended is not None
        assert setting_key(recommended[0]) in {setting_key(s) for s, _ in measurements}
        assert recommended[1] > 0

    @on_every_space
    @on_every_surface
    def test_a_search_resumes_from_its_saved_state(
        self, space_name: str, surface_name: str
    ) -> None:
        straight = self.make(5, space_name=space_name)
        answer, states = self.surface(space_name, surface_name), [straight.state()]
        steps_taken: list[tuple[Setting, Outcome, tuple[object, ...]]] = []
        while len(steps_taken) < _STEPS and (setting := straight.ask()) is not None:
            outcome = answer(setting)
            straight.tell(dict(setting), outcome)
            steps_taken.append((setting, outcome, _visible(straight)))
            states.append(straight.state())
        for cut, steps in _CUTS.items():
            second = self.make(6, space_name=space_name)
            second.restore(
                json.loads(json.dumps(states[min(cut, len(steps_taken))], allow_nan=False))
            )
            for setting, outcome, visible in steps_taken[cut : cut + steps]:
                assert second.ask() == setting
                second.tell(dict(setting), outcome)
                assert _visible(second) == visible
            if cut + steps >= len(steps_taken) and len(steps_taken) < _STEPS:
                assert second.ask() is None

    def test_saving_the_state_changes_nothing(self) -> None:
        straight, saved = self.make(5), self.make(5)
        answer = self.surface("buffers and streams")
        for _ in range(_STEPS):
            before = saved.state()
            assert saved.state() == before
            assert self.drive(saved, answer, 1) == self.drive(straight, answer, 1)

    @on_every_space
    def test_failures_are_answers(self, space_name: str) -> None:
        method = self.make(space_name=space_name)
        assert self.drive(method, lambda _: failed())
        assert method.best() is None
        assert method.recommended() is None

    def test_what_is_no_number_is_no_result(self) -> None:
        method = self.make()
        assert self.drive(method, lambda _: measured(math.nan))
        assert method.best() is None
        json.dumps(method.state(), allow_nan=False)

    @on_every_space
    @on_every_surface
    def test_it_says_how_near_it_is_to_stopping(self, space_name: str, surface_name: str) -> None:
        method = self.make(bandwidth_bps=1e12, space_name=space_name)
        answer = self.surface(space_name, surface_name)
        for _ in range(_STEPS):
            assert method.gauges
            for gauge in method.gauges:
                assert gauge.name
                assert gauge.meaning
                assert gauge.limit > 0
                assert gauge.value >= 0
                assert math.isfinite(gauge.value)
            if not self.drive(method, answer, 1):
                break

    @on_every_space
    def test_it_says_what_a_probe_is_for(self, space_name: str) -> None:
        method, answer = self.make(space_name=space_name), self.surface(space_name)
        for _ in range(_STEPS):
            assert method.stop_reason or method.label
            self.drive(method, answer, 1)

    @on_every_space
    @on_every_surface
    def test_it_stops_for_good_or_never(self, space_name: str, surface_name: str) -> None:
        method = self.make(space_name=space_name)
        answer = self.surface(space_name, surface_name)
        asked = self.drive(method, answer, _MANY_STEPS if self.finishes else 400)
        if not self.finishes:
            assert len(asked) == 400
            assert method.stop_reason is None
            return
        assert method.stop_reason
        assert method.ask() is None
        method.tell(asked[-1], measured(1.0))
        assert method.ask() is None

    def test_it_says_why_it_stopped(self) -> None:
        method = self.make(bandwidth_bps=1e6)
        self.drive(method, self.surface("buffers and streams"), 5000)
        assert (method.ask() is None) == (method.stop_reason is not None)
