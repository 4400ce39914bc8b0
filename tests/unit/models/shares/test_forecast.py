"""What a destination is expected to get: its model with the load of late."""

from itertools import product
from statistics import fmean

import msgspec
import pytest

from advisor.models.shares.estimating import LoadEstimation
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import TooFew
from advisor.models.shares.forecast import Forecast, Modelling
from tests.unit.models.shares.made_up import LAWS, NOW_S, forecasts, served, truth_bps


@pytest.mark.parametrize(
    ("load", "estimate"),
    # The paper's PT scales a load with the concurrency, which makes no sense of a ratio (EL3).
    [pair for pair in product(Load, LoadEstimation) if pair != (Load.EL3, LoadEstimation.PT)],
)
def test_it_follows_the_law_it_was_taught(load: Load, estimate: LoadEstimation) -> None:
    for name, forecast in forecasts(modelling=Modelling(Form.LOG, load, estimate)).items():
        for concurrency, total in ((2, 6), (4, 8), (1, 3), (3, 12)):
            truth = truth_bps(name, concurrency, total)
            assert forecast(concurrency, total) == pytest.approx(truth, rel=0.1)
            low, high = forecast.interval_bps(concurrency, total)
            assert low <= forecast(concurrency, total) <= high


def test_a_load_of_late_lowers_what_is_expected() -> None:
    samples = served(36)["kraken"]
    slow = [
        msgspec.structs.replace(one, throughput_bps=one.throughput_bps * 0.6, when_s=NOW_S - 60)
        for one in samples[-5:]
    ]
    modelling = Modelling(Form.LOG, Load.EL3, LoadEstimation.RTEC)
    now = Forecast(samples, NOW_S, modelling, recent=slow)
    usual = Forecast(samples, NOW_S, modelling, recent=[])
    assert now(2, 6) < 0.85 * usual(2, 6)


@pytest.mark.parametrize(
    ("estimate", "ago_s"),
    [
        (LoadEstimation.PT, 1900),
        (LoadEstimation.RT, 1900),
        (LoadEstimation.RTEC, 1900),
        (LoadEstimation.FT, 7300),
    ],
)
def test_what_is_long_past_says_nothing_of_the_load(estimate: LoadEstimation, ago_s: float) -> None:
    modelling = Modelling(estimate=estimate)
    samples = served(36)["kraken"]

    def expected_bps(*seen_ago_s: float) -> float:
        recent = [
            msgspec.structs.replace(
                one, throughput_bps=one.throughput_bps * 0.6, when_s=NOW_S - seen_s
            )
            for seen_s in seen_ago_s
            for one in samples[-5:]
        ]
        return Forecast(samples, NOW_S, modelling, recent)(2, 6)

    assert expected_bps(ago_s) == expected_bps()
    assert expected_bps(ago_s - 200) < expected_bps()


def test_too_little_is_too_little() -> None:
    with pytest.raises(TooFew, match="too few"):
        Forecast(served(4)["mason"], NOW_S)


def test_the_pair_that_is_used_is_named_as_in_the_paper() -> None:
    assert Modelling().words == "log with EL1"
    assert set(forecasts()) == set(LAWS)


def test_nine_of_ten_new_ones_are_within_the_interval() -> None:
    samples = served(150, noise=0.2)["kraken"]
    forecast = Forecast(samples, NOW_S, Modelling(Form.LOG, Load.NONE))
    hits = 0
    later = served(150, noise=0.2, seed=11)["kraken"]
    for one in later:
        low, high = forecast.interval_bps(one.concurrency, one.source_concurrency)
        hits += low <= one.throughput_bps <= high
    assert 0.8 < hits / len(later) < 0.98


@pytest.mark.parametrize("steps", [10, 13, 20])
def test_nine_of_ten_are_within_it_after_short_trainings_too(steps: int) -> None:
    """Of a few ratios that were held out, the largest is often exceeded by new ones."""
    hits = []
    for seed in range(40):
        samples = served(steps, noise=0.2, seed=seed)["kraken"]
        forecast = Forecast(samples, NOW_S, Modelling(Form.LOG, Load.NONE))
        for one in served(20, noise=0.2, seed=1000 + seed)["kraken"]:
            low, high = forecast.interval_bps(one.concurrency, one.source_concurrency)
            hits.append(low <= one.throughput_bps <= high)
    assert 0.86 < fmean(hits) < 0.95


def test_the_interval_knows_that_loads_are_not_known_beforehand() -> None:
    """A model with the load knows it where it is fitted: its own errors are too small."""
    forecast = Forecast(served(60, noise=0.3, different=10)["kraken"], NOW_S)
    assert forecast.error > 1.5 * forecast.model.validation_error


def test_at_another_time_another_load_counts() -> None:
    samples = served(36)["kraken"]
    usual = Forecast(samples, NOW_S, recent=[])
    before_bps = usual(2, 6)
    slow = [
        msgspec.structs.replace(one, throughput_bps=0.6 * one.throughput_bps, when_s=NOW_S + 60)
        for one in samples[-5:]
    ]
    assert usual.at(NOW_S + 120, slow)(2, 6) < 0.95 * before_bps
    assert usual(2, 6) == before_bps
