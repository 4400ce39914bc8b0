"""How much longer a transfer takes."""

import numpy as np
import pytest

from advisor.models.time_left import time_left

GB = 10**9


def test_a_steady_rate_leaves_no_doubt() -> None:
    assert time_left(GB, [8e9] * 10) == pytest.approx((1.0, 1.0, 1.0))


def test_too_few_looks_say_nothing() -> None:
    assert time_left(GB, [8e9] * 4) is None
    assert time_left(GB, [0.0] * 10) is None


def test_what_is_there_takes_no_more_time() -> None:
    assert time_left(0, []) == (0.0, 0.0, 0.0)


def test_only_what_it_did_lately_counts() -> None:
    likely = time_left(GB, [1e6] * 100 + [8e9] * 30)
    assert likely == pytest.approx((1.0, 1.0, 1.0))


def test_the_interval_holds_the_truth_about_nine_times_out_of_ten() -> None:
    rng = np.random.default_rng(0)
    inside = 0
    for _ in range(400):
        # As rates are: each look is much like the one before.
        noise = np.convolve(rng.standard_normal(33), np.ones(4) / 2, mode="valid")
        found = time_left(100 * GB, list(8e9 * (1 + 0.1 * noise)))
        assert found is not None
        inside += found[1] <= 100.0 <= found[2]
    assert 0.82 <= inside / 400 <= 0.99
