"""Search methods as tuners, and the flows they may have."""

from collections.abc import Callable

import msgspec
import numpy as np
import pytest

from advisor import registry
from advisor.domain.measurement import Failure, FailureKind, Measurement, Outcome
from advisor.domain.space import Parameter, Setting, Space, flows_of, setting_key
from advisor.methods.api import Knowledge, Method
from advisor.methods.tuning import Fixed, Searching

SPACE = Space(
    parameters=(
        Parameter(name="concurrency", unit="files", lower=1, upper=32),
        Parameter(name="parallelism", unit="streams", lower=1, upper=16),
    ),
    cost_order=("concurrency", "parallelism"),
)
FAILED = Failure(kind=FailureKind.TIMED_OUT, message="nothing arrived", elapsed_s=30.0)


def gave(bps: float) -> Outcome:
    return Measurement(
        throughput_bps=bps,
        stderr_bps=0.0,
        intervals=[],
        steady_from=0,
        settled=True,
        elapsed_s=30.0,
    )


def surface(setting: Setting, best: int = 11) -> float:
    """One peak, at `best` files at a time over 4 streams."""
    off = (int(setting["concurrency"]) - best) ** 2 + 2 * (int(setting["parallelism"]) - 4) ** 2
    return 1e9 / (1 + 0.02 * off)


def searching(name: str, most_flows: int | None = None) -> Searching:
    plugin, rng = registry.method(name), np.random.default_rng(1)
    space = msgspec.structs.replace(SPACE, most_flows=most_flows)
    return Searching(lambda _: plugin.create(space, rng, Knowledge(), {}), space)


def until_it_watches(most_flows: int | None, rate: Callable[[Setting], float]) -> list[Setting]:
    """The settings of Nelder-Mead's epochs until it has settled; the last is where."""
    methods: list[Method] = []
    plugin, rng = registry.method("nelder-mead"), np.random.default_rng(1)
    space = msgspec.structs.replace(SPACE, most_flows=most_flows)

    def make(_at: Setting | None) -> Method:
        methods.append(plugin.create(space, rng, Knowledge(), {}))
        return methods[-1]

    tuner, ran = Searching(make, space), []
    while methods[-1].label != "watch":
        ran.append(tuner.setting)
        tuner.tell(gave(rate(tuner.setting)))
    return [*ran, tuner.setting]


@pytest.mark.parametrize("name", ["nelder-mead", "compass", "coordinate-descent"])
def test_a_live_tuner_gets_near_the_peak_and_stays(name: str) -> None:
    tuner = searching(name)
    for _ in range(200):
        tuner.tell(gave(surface(tuner.setting)))
    seen = set()
    for _ in range(5):
        seen.add(tuple(tuner.setting.values()))
        tuner.tell(gave(surface(tuner.setting)))
    assert len(seen) == 1
    assert surface(tuner.setting) > 0.8e9


def test_it_follows_the_peak() -> None:
    tuner = searching("compass")
    for _ in range(100):
        tuner.tell(gave(surface(tuner.setting)))
    before = tuner.setting
    for _ in range(200):
        tuner.tell(gave(surface(tuner.setting, best=25)))
    assert surface(before, best=25) < 0.3e9
    assert surface(tuner.setting, best=25) > 0.8e9


def test_what_a_method_recommends_stays_when_it_ends() -> None:
    tuner, reasons, tried = searching("heur2"), [], []
    for _ in range(60):
        tried.append(tuner.setting)
        reasons.append(tuner.tell(gave(surface(tuner.setting))))
    [ended] = [one for one in reasons if one.endswith("it keeps the best setting and watches")]
    assert reasons[reasons.index(ended) + 1 :] == [""] * (59 - reasons.index(ended))
    assert tuner.setting == max(tried, key=surface)


@pytest.mark.parametrize("name", ["heur2", "bayes"])
def test_a_method_that_has_ended_searches_again_when_conditions_change(name: str) -> None:
    """From 11 files at a time the best moves to 25, far above what is left at 11."""
    tuner = searching(name)
    for _ in range(60):
        tuner.tell(gave(surface(tuner.setting)))
    before = tuner.setting
    reasons = [tuner.tell(gave(surface(tuner.setting, best=25))) for _ in range(60)]
    assert any(one.endswith("it searches again") for one in reasons)
    assert surface(tuner.setting, best=25) > 1.5 * surface(before, best=25)


def test_a_method_that_has_ended_does_not_search_again_for_noise() -> None:
    """Epochs that differ by a tenth, and by a third once in a while."""
    tuner, rng = searching("heur2"), np.random.default_rng(3)
    reasons = []
    for number in range(300):
        factor = 0.6 if number % 25 == 24 else rng.normal(1.0, 0.07)
        reasons.append(tuner.tell(gave(surface(tuner.setting) * factor)))
    assert not any(one.endswith("it searches again") for one in reasons)


def test_failed_epochs_are_answers_too() -> None:
    tuner = searching("nelder-mead")
    for _ in range(200):
        is_much = int(tuner.setting["concurrency"]) > 12
        tuner.tell(FAILED if is_much else gave(surface(tuner.setting)))
    assert int(tuner.setting["concurrency"]) <= 12
    assert surface(tuner.setting) > 0.7e9


def test_a_method_that_failed_throughout_has_nothing_to_recommend() -> None:
    tuner = searching("globus-default")
    before = tuner.setting
    tuner.tell(FAILED)
    assert tuner.setting == before


def test_flows_are_bounded_whatever_a_method_asks() -> None:
    tuner = searching("nelder-mead", most_flows=20)
    for _ in range(200):
        assert flows_of(tuner.setting) <= 20
        tuner.tell(gave(surface(tuner.setting)))
    # The best that there is within the bound has concurrency 7, at its edge or one step off.
    best = max(
        surface({"concurrency": c, "parallelism": p})
        for c in range(1, 33)
        for p in range(1, 17)
        if c * p <= 20
    )
    assert surface(tuner.setting) > 0.8 * best


@pytest.mark.parametrize("half", [24, 48, 88, 128, 200])
@pytest.mark.parametrize("dear", [200, 400, 800, 1200])
def test_limited_flows_settle_nearly_as_soon(half: int, dear: int) -> None:
    """Without noise: half of the rate with `half` flows, and a cost of their number near `dear`."""

    def rate(setting: Setting) -> float:
        flows = flows_of(setting)
        return 1e9 * flows / (flows + half) / (1 + (flows / dear) ** 2)

    free, limited = (until_it_watches(most, rate) for most in (None, 128))
    assert len(limited) <= 1.5 * len(free)
    best = max(rate({"concurrency": flows}) for flows in range(1, 129))
    assert rate(limited[-1]) > 0.95 * best


@pytest.mark.parametrize("name", ["nelder-mead", "compass", "doubling", "heur1", "heur2", "bayes"])
def test_what_a_method_is_told_is_what_ran(name: str) -> None:
    """With 40 flows at most, every one of these asks for settings within them."""
    space = msgspec.structs.replace(SPACE, most_flows=40)
    method = registry.method(name).create(space, np.random.default_rng(1), Knowledge(), {})
    for _ in range(60):
        if (asked := method.ask()) is None:
            break
        assert space.holds(asked)
        method.tell(asked, gave(surface(asked, best=25)))


@pytest.mark.parametrize("name", ["nelder-mead", "compass"])
def test_a_search_measures_no_setting_twice(name: str) -> None:
    """On a flat surface that it leaves no more once it has settled."""
    tuner, ran = searching(name, most_flows=64), []
    for _ in range(40):
        ran.append(setting_key(tuner.setting))
        tuner.tell(gave(1e9))
    searched = ran[: ran.index(ran[-1]) + 1]
    settled = [one for one in ran[len(searched) :] if one != ran[-1]]
    assert len(set(searched + settled)) == len(searched + settled)
    assert ran[-5:] == [ran[-1]] * 5


def test_what_was_measured_before_a_change_is_measured_again() -> None:
    tuner, ran, reason = searching("compass"), [], ""
    while not reason.endswith("it stays and watches"):
        ran.append(tuner.setting)
        reason = tuner.tell(gave(1e9))
    watched = tuner.setting
    tuner.tell(gave(1e9))
    tuner.tell(gave(2e9))
    # The point it watched is where it starts again, and is known by the epoch with the change.
    assert watched == {"concurrency": 2, "parallelism": 8}
    assert tuner.setting != watched
    assert tuner.setting in ran


def test_fixed_changes_nothing() -> None:
    tuner = Fixed({"concurrency": 3, "parallelism": 2})
    assert [tuner.tell(one) for one in (gave(1e9), FAILED, gave(1e6))] == [""] * 3
    assert tuner.setting == {"concurrency": 3, "parallelism": 2}
