"""Equations 6 to 8 against table 2."""

import math

import pytest

from advisor.models.harp.pay_off import PayOff

GBIT, GB = 1e9, 1e9


def pay_off(speed_up: float, slowdown: float, plain_bps: float = GBIT) -> PayOff:
    """`speed_up`, `slowdown`: in percent, as in table 2."""
    return PayOff(
        plain_bps=plain_bps,
        tuned_bps=plain_bps * (1 + speed_up / 100),
        sample_bps=plain_bps * (1 - slowdown / 100),
    )


@pytest.mark.parametrize(
    ("speed_up", "slowdown", "seconds"),
    [
        (10, 50, 90),
        (10, 30, 60),
        (10, 10, 30),
        (30, 50, 40),
        (30, 30, 30),
        (30, 10, 20),
        (50, 50, 30),
        (50, 30, 24),
        (50, 10, 18),
    ],
)
def test_table_2(speed_up: float, slowdown: float, seconds: float) -> None:
    found = pay_off(speed_up, slowdown)
    assert found.least_bytes * 8 / found.plain_bps == pytest.approx(seconds)
    # There t₀ = t_H, by equations 6 and 8 themselves.
    assert found.plain_s(found.least_bytes) == pytest.approx(found.with_sample_s(found.least_bytes))


def test_the_worst_row_is_67_gb_at_6_gbit() -> None:
    assert pay_off(10, 50, 6 * GBIT).least_bytes == pytest.approx(67.5 * GB)


def test_larger_pays_off_and_smaller_does_not() -> None:
    found = pay_off(30, 30)
    least = found.least_bytes
    assert found.with_sample_s(1.1 * least) < found.plain_s(1.1 * least)
    assert found.with_sample_s(0.9 * least) > found.plain_s(0.9 * least)


def test_the_optimisers_time_is_paid_for_too() -> None:
    found = PayOff(plain_bps=1e9, tuned_bps=1.3e9, sample_bps=0.7e9, optimiser_s=3.0)
    assert found.least_bytes > pay_off(30, 30).least_bytes
    assert found.plain_s(found.least_bytes) == pytest.approx(found.with_sample_s(found.least_bytes))


def test_without_a_gain_it_never_pays_off() -> None:
    assert pay_off(0, 10).least_bytes == math.inf
    assert pay_off(-10, 10).least_bytes == math.inf
    assert "at no size" in pay_off(0, 10).sentence(40 * GB)


@pytest.mark.parametrize(("speed_up", "slowdown"), [(10, 50), (30, 30), (50, 10)])
def test_the_least_gain_is_that_for_which_this_size_is_the_least(
    speed_up: float, slowdown: float
) -> None:
    found = pay_off(speed_up, slowdown)
    assert found.least_gain(found.least_bytes) == pytest.approx(speed_up / 100)


def test_a_transfer_shorter_than_its_sample_is_reported_so() -> None:
    found = pay_off(50, 10)
    assert found.least_gain(1 * GB) == math.inf
    assert "cannot pay off" in found.sentence(1 * GB)


def test_what_a_whole_transfer_within_the_sample_takes() -> None:
    assert pay_off(50, 50).with_sample_s(0.5 * GB) == pytest.approx(8.0)


def test_the_sentence_says_what_it_hangs_on() -> None:
    # 40 GB at 6 Gbit/s are 53.3 s; (53.3 − 7.5) / (53.3 − 15) is 1.196.
    found = pay_off(10, 50, 6 * GBIT)
    words = found.sentence(40 * GB)
    assert "pays off only if its answer is at least 20 % faster" in words
    assert "10% is expected" in words
    assert "62.9 GiB" in words
    assert "only" not in found.sentence(80 * GB)
