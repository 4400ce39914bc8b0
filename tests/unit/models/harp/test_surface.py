"""Polynomials of rising degree and the check that a group must pass."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures

from advisor.models.harp.optimum import maximum
from advisor.models.harp.surface import Outlier, Surface, fit
from tests.unit.models.harp.worlds import BOX, columns, hill, sweep


def fitted(truth: Callable[[int, int, int], float], noise: float = 0.0) -> Surface:
    found = fit(*columns(sweep(truth, noise=noise)))
    assert isinstance(found, Surface)
    return found


@pytest.mark.parametrize(
    ("degree", "truth"),
    [
        (2, hill((16, 16, 16), 5e9)),
        (3, lambda cc, p, pp: 5e9 + 1e6 * (cc - 2) * (cc - 15) * (cc - 32)),
    ],
)
def test_the_degree_is_the_first_that_fits(
    degree: int, truth: Callable[[int, int, int], float]
) -> None:
    found = fitted(truth)
    assert found.degree == degree
    asked = np.array([[3, 5, 7], [12, 30, 2]], dtype=float)
    wanted = [truth(*(int(one) for one in row)) for row in asked]
    assert found.at(asked) == pytest.approx(wanted)
    assert min(found.training_r2, found.validation_r2) == pytest.approx(1.0)


def test_the_slope_is_that_of_the_surface() -> None:
    found = fitted(hill((12, 6, 4), 5e9), noise=0.05)
    at, step = np.array([7.0, 9.0, 3.0]), 1e-4
    for axis in range(3):
        ahead, behind = at.copy(), at.copy()
        ahead[axis] += step
        behind[axis] -= step
        difference = (found.at(ahead)[0] - found.at(behind)[0]) / (2 * step)
        assert found.slope(at)[axis] == pytest.approx(difference, rel=1e-3)


def test_beyond_what_was_measured_the_edge_answers() -> None:
    found = fitted(hill((12, 6, 4), 5e9))
    assert found.at(np.array([99.0, 6, 4]))[0] == found.at(np.array([32.0, 6, 4]))[0]


def test_a_plausible_throughput_is_above_zero_where_the_polynomial_is_not() -> None:
    found = fitted(lambda cc, p, pp: 1e6 + 1e9 * max(0, cc - 8))
    everywhere = np.array([[cc, 1, 1] for cc in range(1, 33)], dtype=float)
    assert found.at(everywhere).min() < 0 < found.plausible(everywhere, math.inf).min()


@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_where_all_settings_give_the_same_the_surface_is_flat(noise: float) -> None:
    found = fitted(lambda cc, p, pp: 1e9, noise=noise)
    assert found.degree == 0
    everywhere = np.array([[1, 1, 1], [7, 9, 3], [32, 32, 32]], dtype=float)
    assert found.at(everywhere) == pytest.approx(1e9, rel=0.01)
    assert not found.slope(everywhere[1]).any()
    assert maximum(found, BOX).tolist() == [1, 1, 1]


def test_noise_alone_is_an_outlier() -> None:
    found = fit(*columns(sweep(lambda cc, p, pp: 1e9, noise=0.2)))
    assert isinstance(found, Outlier)
    assert "no polynomial fits" in found.reason


def test_a_fit_that_held_out_entries_do_not_confirm_is_an_outlier() -> None:
    # A plane through ten entries of noise follows some of them, but not what is held out.
    followed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        levels = rng.integers(1, 32, (10, 3)).astype(float)
        found = fit(levels, rng.uniform(1e9, 2e9, 10))
        followed += isinstance(found, Surface)
    assert followed == 0


def test_each_entry_is_held_out_once() -> None:
    levels, rates = columns(sweep(hill((12, 6, 4), 5e9), noise=0.1, grid=(1, 4, 16, 32)))
    found = fit(levels, rates)
    assert isinstance(found, Surface)
    alone = np.empty(len(rates))
    for out in range(len(rates)):
        rest = np.arange(len(rates)) != out
        design = PolynomialFeatures(found.degree).fit_transform(levels / 32)
        solved = np.linalg.lstsq(design[rest], rates[rest], rcond=None)[0]
        alone[out] = rates[out] - design[out] @ solved
    wanted = 1 - (alone**2).sum() / ((rates - rates.mean()) ** 2).sum()
    assert found.validation_r2 == pytest.approx(wanted)
    assert found.validation_r2 < found.training_r2


@pytest.mark.parametrize("entries", [1, 2, 5, 6])
def test_a_group_too_small_to_check_is_left_out(entries: int) -> None:
    levels, rates = columns(sweep(hill((12, 6, 4), 5e9)))
    found = fit(levels[::37][:entries], rates[::37][:entries])
    assert isinstance(found, Outlier)


def test_a_group_too_small_for_a_quadratic_gets_a_plane() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(1, 32, (14, 3)).astype(float)
    found = fit(levels, 1e9 + levels @ np.array([2e8, 1e8, -3e7]))
    assert isinstance(found, Surface)
    assert found.degree == 1
    assert found.at(np.array([10.0, 10, 10]))[0] == pytest.approx(3.7e9)


def test_a_group_of_one_setting_has_no_surface() -> None:
    found = fit(np.ones((50, 3)), np.full(50, 1e9))
    assert found == Outlier("it has one setting")


def test_levels_that_never_varied_cost_no_entries() -> None:
    cc = np.array([1, 2, 4, 8, 12, 16, 24, 32], dtype=float)
    levels = np.column_stack((cc, np.full(8, 4.0), np.ones(8)))
    found = fit(levels, 1e8 * cc)
    assert isinstance(found, Surface)
    assert found.varied.tolist() == [True, False, False]
    assert found.at(np.array([10.0, 7.0, 9.0]))[0] == pytest.approx(1e9)


def test_the_order_of_the_entries_decides_nothing() -> None:
    levels, rates = columns(sweep(hill((12, 6, 4), 5e9), noise=0.05))
    order = np.random.default_rng(0).permutation(len(rates))
    first, again = fit(levels, rates), fit(levels[order], rates[order])
    assert isinstance(first, Surface)
    assert isinstance(again, Surface)
    assert first.validation_r2 == pytest.approx(again.validation_r2)
    assert first.coefficients.tolist() == pytest.approx(again.coefficients.tolist())
