import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from advisor.models.change_point import CLIP, ChangeTest, Verdict, _normal_score


def verdicts_of(rates_bps: list[float]) -> tuple[list[Verdict], ChangeTest]:
    test = ChangeTest()
    return [test.tell(rate) for rate in rates_bps], test


def noisy(records: int, spread: float, seed: int = 1) -> list[float]:
    rng = np.random.default_rng(seed)
    return [1e9 * math.exp(value) for value in rng.normal(0, spread, records)]


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_half_and_twice_the_rate_are_called_by_the_fourth_record(factor: float) -> None:
    rates = noisy(20, 0.1)
    verdicts, test = verdicts_of([*rates, *(factor * rate for rate in noisy(4, 0.05, 2))])
    assert Verdict.CHANGED not in verdicts[:20]
    assert verdicts[20] is Verdict.SUSPECTED
    assert verdicts[23] is Verdict.CHANGED
    assert test.shift is not None
    assert test.shift.records == 4
    assert test.shift.factor == pytest.approx(factor, rel=0.1)


def test_one_wild_record_is_suspected_and_no_more() -> None:
    rates = noisy(40, 0.05)
    rates[20] = 1e3
    verdicts, _ = verdicts_of(rates)
    assert verdicts[20] is Verdict.SUSPECTED
    assert Verdict.CHANGED not in verdicts
    assert verdicts[-1] is Verdict.NONE


def test_few_records_call_nothing() -> None:
    """Two or three that differ by a half may be chance."""
    assert set(verdicts_of([1e9, 5e8, 2e9, 7e8])[0]) <= {Verdict.NONE, Verdict.SUSPECTED}


def test_a_change_back_is_a_change_too() -> None:
    rates = [*noisy(20, 0.05), *(0.5 * r for r in noisy(20, 0.05, 2)), *noisy(20, 0.05, 3)]
    verdicts, test = verdicts_of(rates)
    assert verdicts.count(Verdict.CHANGED) == 2
    assert test.shift is not None
    assert test.shift.factor == pytest.approx(2, rel=0.1)


@given(st.floats(1e3, 1e12), st.lists(st.floats(0.1, 10.0), min_size=1, max_size=60))
def test_the_unit_of_the_rate_does_not_matter(unit: float, rates: list[float]) -> None:
    """Up to rounding, which only shows where a sum meets its limit exactly."""
    verdicts = verdicts_of([8.0 * rate for rate in rates])[0]
    assert verdicts_of([2.0 ** round(math.log2(unit)) * rate for rate in rates])[0].count(
        Verdict.CHANGED
    ) == pytest.approx(verdicts.count(Verdict.CHANGED), abs=1)


@given(st.lists(st.floats(1e-3, 1e14), min_size=1, max_size=200))
def test_any_rates_give_verdicts(rates: list[float]) -> None:
    verdicts, test = verdicts_of(rates)
    assert len(verdicts) == len(rates)
    if Verdict.CHANGED in verdicts:
        assert test.shift is not None
        assert 1 <= test.shift.records <= len(rates)


@pytest.mark.parametrize("degrees", [2.0, 5.0, 200.0])
def test_scores_of_student_noise_are_standard_normal(degrees: float) -> None:
    noise = np.random.default_rng(3).standard_t(degrees, 4000)
    scores = np.array([_normal_score(float(t), degrees) for t in noise])
    inside = scores[np.abs(scores) < CLIP]
    assert stats.kstest(inside, stats.truncnorm(-CLIP, CLIP).cdf).pvalue > 0.01
    assert np.abs(scores).max() <= CLIP


def test_false_alarms_are_as_rare_as_is_said() -> None:
    """One in 3,000 records or fewer: nine or more in 12,000 are then one chance in fifty."""
    alarms = 0
    for seed in range(40):
        alarms += verdicts_of(noisy(300, 0.1, 100 + seed))[0].count(Verdict.CHANGED)
    assert alarms <= 8
