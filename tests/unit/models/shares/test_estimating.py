"""The external load at present, by the three ways of the paper."""

import numpy as np
import pytest

from advisor.models.shares.estimating import RECENT_S, LoadEstimation, corrections_of, load_now
from advisor.models.shares.features import Form, Load
from advisor.models.shares.fitting import ShareModel, fit

from .test_fitting import by_log, loaded, served

NOW_S = 100_000.0


@pytest.fixture(scope="module")
def model() -> ShareModel:
    return fit(loaded(6, 0.3), Form.LOG, Load.EL1)


@pytest.mark.parametrize("way", list(LoadEstimation))
def test_under_a_load_less_is_expected_than_without(model: ShareModel, way: LoadEstimation) -> None:
    """Half of the usual was had of late."""
    corrections = corrections_of(model, loaded(6, 0.3))
    half = [
        served(2, 8, by_log(2, 8) / 2, NOW_S - 60),
        served(3, 11, by_log(3, 11) / 2, NOW_S - 30),
    ]
    load = load_now(model, way, half, NOW_S, 3, corrections)
    assert model.predict_bps(3, 11, load) < 0.75 * by_log(3, 11) * 1e6
    usual = load_now(model, way, [], NOW_S, 3, corrections)
    assert model.predict_bps(3, 11, usual) == pytest.approx(by_log(3, 11) * 1e6, rel=0.15)


def test_recent_ones_foretell_the_next(model: ShareModel) -> None:
    """At other levels than those that were had, under the same cross traffic."""
    corrections = corrections_of(model, loaded(6, 0.3))
    for factor in (0.6, 1.0, 1.5):
        recent = [
            served(dc, sc, by_log(dc, sc) * factor, NOW_S - age_s)
            for dc, sc, age_s in ((1, 5, 900), (2, 8, 600), (4, 11, 300))
        ]
        for way in (LoadEstimation.RT, LoadEstimation.RTEC):
            load = load_now(model, way, recent, NOW_S, 3, corrections)
            expected = model.predict_bps(3, 8, load)
            assert expected == pytest.approx(by_log(3, 8) * factor * 1e6, rel=0.15)


def test_what_is_older_than_half_an_hour_does_not_count(model: ShareModel) -> None:
    old = [served(2, 8, by_log(2, 8) / 4, NOW_S - RECENT_S - 1)]
    assert load_now(model, LoadEstimation.RT, old, NOW_S, 2, {}) == model.usual_load


def test_the_previous_transfer_is_the_last_one(model: ShareModel) -> None:
    first, last = served(2, 8, 300, NOW_S - 900), served(2, 8, 900, NOW_S - 10)
    by_both = load_now(model, LoadEstimation.PT, [last, first], NOW_S, 2, {})
    assert by_both == load_now(model, LoadEstimation.PT, [last], NOW_S, 2, {})


def test_a_model_without_load_asks_nobody() -> None:
    plain = fit(loaded(2, 0.1), Form.LOG)
    assert (
        load_now(plain, LoadEstimation.RT, [served(2, 8, 1, NOW_S)], NOW_S, 2, {})
        == plain.usual_load
    )


def test_where_the_model_is_wrong_the_error_is_taken_out() -> None:
    """Truth that no line goes through: what is had there as ever tells of no load."""
    rng = np.random.default_rng(1)
    samples = [
        served(dc, 8, (400 if dc < 3 else 500) * float(rng.normal(1.0, 0.02)), float(n))
        for n in range(20)
        for dc in (1, 2, 3, 4)
    ]
    model = fit(samples, Form.LINEAR, Load.EL1)
    corrections = corrections_of(model, samples)
    as_ever = [served(2, 8, 400, NOW_S)]
    plain = load_now(model, LoadEstimation.RT, as_ever, NOW_S, 2, corrections)
    corrected = load_now(model, LoadEstimation.RTEC, as_ever, NOW_S, 2, corrections)
    assert abs(corrected - model.usual_load) < 0.2 * abs(plain - model.usual_load)
