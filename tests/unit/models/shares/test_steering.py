"""Shares that are kept while the truth is another than what was learnt."""

from collections.abc import Callable

import pytest

from advisor.domain.shares import Asked
from advisor.models.shares.forecast import Forecast, Modelling
from advisor.models.shares.planning import plan
from advisor.models.shares.steering import Steering
from tests.unit.models.shares.made_up import LAWS, NOW_S, forecasts, served, truth_bps

FORECASTS = forecasts()
ASKED = {"kraken": Asked(share=2), "gordon": Asked(share=3)}

World = Callable[[str, float, float], float]


def driven(steering: Steering, world: World, epochs: int) -> dict[str, float]:
    """What they get at the end of this many epochs, as parts of what they get together."""
    levels = planned()
    rates: dict[str, float] = {}
    for _ in range(epochs):
        total = sum(levels.values())
        rates = {name: world(name, level, total) for name, level in levels.items()}
        steering.learn(levels, rates)
        if wanted := steering.wanted(levels):
            levels = wanted.concurrency
    return {name: rate / sum(rates.values()) for name, rate in rates.items()}


def planned() -> dict[str, int]:
    """What the models alone say."""
    made = plan("here", ASKED, FORECASTS, Modelling(), 8)
    return {row.destination: row.concurrency for row in made.rows}


def slower_kraken(name: str, concurrency: float, total: float) -> float:
    return truth_bps(name, concurrency, total) * (0.4 if name == "kraken" else 1.0)


def test_it_finds_the_shares_where_one_path_is_worse_than_was_learnt() -> None:
    found = driven(Steering(FORECASTS, ASKED), slower_kraken, 10)
    assert found["kraken"] == pytest.approx(0.4, abs=0.05)


def test_without_feedback_the_same_plan_would_miss() -> None:
    levels = planned()
    total = sum(levels.values())
    rates = {name: slower_kraken(name, n, total) for name, n in levels.items()}
    assert rates["kraken"] / sum(rates.values()) < 0.32


def test_what_is_as_expected_changes_nothing() -> None:
    steering = Steering(FORECASTS, ASKED)
    levels = planned()
    total = sum(levels.values())
    for _ in range(5):
        rates = {name: steering.expected_bps(name, n, total) * 1.02 for name, n in levels.items()}
        steering.learn(levels, rates)
        assert steering.wanted(levels) is None


def test_who_is_left_shares_what_there_is() -> None:
    steering = Steering(FORECASTS, {name: Asked(share=1) for name in LAWS})
    wanted = steering.wanted({"kraken": 2, "mason": 2})
    assert wanted is None or set(wanted.concurrency) == {"kraken", "mason"}


def test_another_share_is_asked_while_it_runs() -> None:
    steering = Steering(FORECASTS, ASKED)
    before = driven(steering, truth_bps, 6)
    steering.asked["gordon"] = Asked(share=8)
    after = driven(steering, truth_bps, 6)
    assert after["gordon"] > before["gordon"] + 0.1


def test_what_shares_were_to_get_is_a_part_of_what_was_got() -> None:
    asked = Steering(FORECASTS, ASKED).asked_bps({"kraken": 10e6, "gordon": 90e6})
    assert asked == {"kraken": pytest.approx(40e6), "gordon": pytest.approx(60e6)}


def test_nothing_measured_teaches_nothing() -> None:
    steering = Steering(FORECASTS, ASKED)
    before = steering.expected_bps("kraken", 2, 4)
    steering.learn({"kraken": 2, "gordon": 2}, {"kraken": 0.0})
    assert steering.expected_bps("kraken", 2, 4) == before


def test_one_epoch_that_is_far_off_is_not_believed() -> None:
    """As where clients stalled: their bytes are taken back, and come again in the next epoch."""
    steering = Steering(FORECASTS, ASKED)
    levels = planned()
    usual = steering.expected_bps("kraken", levels["kraken"], sum(levels.values()))
    steering.learn(levels, {"kraken": usual / 1000})
    now = steering.expected_bps("kraken", levels["kraken"], sum(levels.values()))
    assert now > 0.5 * usual


def test_what_is_in_doubt_changes_nothing() -> None:
    """The same rates, of which one epoch knew little and the other much."""
    levels = planned()
    total = sum(levels.values())
    wanted = []
    for error in (0.3, 0.02):
        steering = Steering(FORECASTS, ASKED)
        rates = {name: steering.expected_bps(name, n, total) for name, n in levels.items()}
        rates["kraken"] *= 0.8
        steering.learn(levels, rates, dict.fromkeys(levels, error))
        wanted.append(steering.wanted(levels))
    in_doubt, known = wanted
    assert in_doubt is None
    assert known is not None
    after = known.concurrency
    assert after["kraken"] / after["gordon"] > levels["kraken"] / levels["gordon"]


def test_it_is_known_as_well_as_it_was_measured() -> None:
    """An error of the model stays: the next epoch at the same concurrencies gives the same."""
    steering = Steering(FORECASTS, ASKED)
    levels = planned()
    total = sum(levels.values())
    measured_bps = 0.7 * steering.expected_bps("kraken", levels["kraken"], total)
    steering.learn(levels, {"kraken": measured_bps}, {"kraken": 0.03})
    now_bps = steering.expected_bps("kraken", levels["kraken"], total)
    assert now_bps == pytest.approx(measured_bps, rel=0.03)


def test_a_factor_refers_to_the_measured_base() -> None:
    steering = Steering(FORECASTS, {"kraken": Asked(factor=1.5), "gordon": Asked(held=2)})
    steering.base_bps = {"kraken": 70e6, "gordon": 90e6}
    asked_bps = steering.asked_bps({"kraken": 80e6, "gordon": 95e6})
    assert asked_bps == {"kraken": pytest.approx(105e6), "gordon": pytest.approx(95e6)}


def test_after_the_base_is_measured_all_is_planned_again() -> None:
    asked = {"kraken": Asked(factor=1.5), "gordon": Asked(held=2)}
    steering = Steering(FORECASTS, asked)
    levels = dict.fromkeys(asked, 2)
    rates = {name: truth_bps(name, 2, 4) for name in asked}
    steering.learn(levels, rates, dict.fromkeys(asked, 0.05))
    steering.base_bps = rates
    steering.replan()
    wanted = steering.wanted(levels)
    assert wanted is not None
    files = wanted.concurrency["kraken"]
    assert truth_bps("kraken", files, files + 2) == pytest.approx(1.5 * rates["kraken"], rel=0.1)
    assert wanted.concurrency["gordon"] == 2


def test_what_scatters_is_believed_less() -> None:
    quiet = Steering(FORECASTS, ASKED)
    noisy = Steering(
        {name: Forecast(some, NOW_S) for name, some in served(36, noise=0.4).items()}, ASKED
    )
    learnt = []
    for steering in (quiet, noisy):
        before = steering.expected_bps("kraken", 2, 6)
        steering.learn({"kraken": 2, "gordon": 4}, {"kraken": before * 0.9})
        learnt.append(steering.expected_bps("kraken", 2, 6) / before)
    assert learnt[0] < learnt[1] - 0.02


def test_it_goes_a_few_steps_at_a_time() -> None:
    steering = Steering(FORECASTS, ASKED)
    levels = planned()
    for _ in range(4):
        steering.learn(
            levels,
            {name: slower_kraken(name, n, sum(levels.values())) for name, n in levels.items()},
        )
    wanted = steering.wanted(levels)
    assert wanted is not None
    assert 1 <= sum(abs(wanted.concurrency[name] - n) for name, n in levels.items()) <= 4
