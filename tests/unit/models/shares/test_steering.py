"""Shares that are kept while the truth is another than what was learnt."""

from collections.abc import Callable

import pytest

from advisor.domain.shares import Asked
from advisor.models.shares import steering as steering_module
from advisor.models.shares.forecast import Forecast, Modelling
from advisor.models.shares.planning import plan, targets_of
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
    assert wanted is not None
    assert set(wanted.concurrency) == {"kraken", "mason"}
    # All at once, however many steps that takes.
    rates = wanted.expected_bps
    assert rates["kraken"] == pytest.approx(rates["mason"], rel=0.05)


def test_another_share_is_asked_while_it_runs() -> None:
    steering = Steering(FORECASTS, ASKED)
    before = driven(steering, truth_bps, 6)
    steering.asked["gordon"] = Asked(share=8)
    after = driven(steering, truth_bps, 6)
    assert after["gordon"] > before["gordon"] + 0.1


def test_another_request_is_served_even_where_rates_are_in_doubt() -> None:
    steering = Steering(FORECASTS, ASKED)
    levels = learnt(steering, kraken=1.0, error=0.3)
    assert steering.wanted(levels) is None
    steering.asked["gordon"] = Asked(share=3.1)
    wanted = steering.wanted(levels)
    assert wanted is not None
    rates = wanted.expected_bps
    assert rates["gordon"] / rates["kraken"] == pytest.approx(3.1 / 2, rel=0.02)
    # That is done once.
    assert steering.wanted(levels) is None


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


def learnt(steering: Steering, kraken: float, error: float) -> dict[str, int]:
    """What is planned, of which an epoch gave kraken this part of what was expected of it."""
    levels = planned()
    total = sum(levels.values())
    rates = {name: steering.expected_bps(name, n, total) for name, n in levels.items()}
    rates["kraken"] *= kraken
    steering.learn(levels, rates, dict.fromkeys(levels, error))
    return levels


def test_what_is_in_doubt_changes_nothing() -> None:
    """The same rates, of which one epoch knew little and the other much."""
    levels = planned()
    wanted = []
    for error in (0.3, 0.02):
        steering = Steering(FORECASTS, ASKED)
        wanted.append(steering.wanted(learnt(steering, 0.8, error)))
    in_doubt, known = wanted
    assert in_doubt is None
    assert known is not None
    after = known.concurrency
    assert after["kraken"] / after["gordon"] > levels["kraken"] / levels["gordon"]


@pytest.mark.parametrize(("error", "gordon"), [(0.08, None), (0.05, 8)])
def test_it_takes_as_many_steps_as_are_improvements_with_a_probability_of_95_percent(
    error: float, gordon: int | None
) -> None:
    """With an error of 8 % the first with 0.92; with 5 % two with 0.96, three with 0.91."""
    steering = Steering(FORECASTS, ASKED)
    wanted = steering.wanted(learnt(steering, 0.8, error))
    assert (wanted and wanted.concurrency) == (gordon and {"kraken": 13, "gordon": gordon})


def test_where_the_form_of_the_model_is_in_doubt_nothing_is_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is well measured at these concurrencies is not at others."""
    monkeypatch.setattr(steering_module, "_SLOPE", 1.0)
    steering = Steering(FORECASTS, ASKED)
    assert steering.wanted(learnt(steering, 0.8, 0.05)) is None


def test_no_rate_is_known_better_than_by_two_percent() -> None:
    found = []
    for error in (0.0, 0.02):
        steering = Steering(FORECASTS, ASKED)
        levels = learnt(steering, 0.9, error)
        targets = targets_of(ASKED, steering._corrected(ASKED), {})
        fewer = levels | {"gordon": levels["gordon"] - 1}
        found.append(
            (steering.expected_bps("kraken", 2, 4), steering._probability(levels, fewer, targets))
        )
    assert found[0] == found[1]


def test_what_is_at_its_ceiling_gets_no_more_where_another_gives_way() -> None:
    """So it is certain enough that the other one is to."""
    levels = planned()
    usual_bps = Steering(FORECASTS, ASKED).expected_bps("kraken", 13, sum(levels.values()))
    wanted = []
    for ceiling_bps in (0.7 * usual_bps, None):
        asked = ASKED | {"kraken": Asked(share=2, ceiling_bps=ceiling_bps)}
        steering = Steering(FORECASTS, asked)
        wanted.append(steering.wanted(learnt(steering, 0.7, 0.12)))
    limited, free = wanted
    assert limited is not None
    assert limited.concurrency == {"kraken": 13, "gordon": 6}
    # Without the limit kraken would get more than that: here it is known what it gets.
    gordon_bps = truth_bps("gordon", 6, 19)
    assert 0.7 * usual_bps / gordon_bps == pytest.approx(2 / 3, rel=0.1)
    assert free is None


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
    steering.learn(levels, rates, dict.fromkeys(asked, 0.5))
    steering.base_bps = rates
    # By steps nothing would be changed: the rates are too much in doubt.
    assert steering.wanted(levels) is None
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
