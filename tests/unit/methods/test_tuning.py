"""Search methods as tuners, and the flows they may have."""

import numpy as np
import pytest

from advisor import registry
from advisor.domain.measurement import Failure, FailureKind, Measurement, Outcome
from advisor.domain.space import Parameter, Setting, Space, flows_of
from advisor.methods.api import Knowledge
from advisor.methods.tuning import Fixed, Searching, within_flows

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
    return Searching(lambda _: plugin.create(SPACE, rng, Knowledge(), {}), most_flows)


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


@pytest.mark.parametrize(
    ("setting", "most", "bounded"),
    [
        ({"concurrency": 4, "parallelism": 8}, None, {"concurrency": 4, "parallelism": 8}),
        ({"concurrency": 4, "parallelism": 8}, 32, {"concurrency": 4, "parallelism": 8}),
        ({"concurrency": 4, "parallelism": 8}, 31, {"concurrency": 4, "parallelism": 7}),
        ({"concurrency": 40, "parallelism": 8}, 31, {"concurrency": 31, "parallelism": 1}),
        ({"concurrency": 40}, 31, {"concurrency": 31}),
        ({"parallelism": 40}, 31, {"parallelism": 31}),
    ],
)
def test_parallelism_gives_way_first(setting: Setting, most: int | None, bounded: Setting) -> None:
    assert within_flows(setting, most) == bounded


def test_fixed_changes_nothing() -> None:
    tuner = Fixed({"concurrency": 3, "parallelism": 2})
    assert [tuner.tell(one) for one in (gave(1e9), FAILED, gave(1e6))] == [""] * 3
    assert tuner.setting == {"concurrency": 3, "parallelism": 2}
