"""Smooth surfaces of small groups: the prior, what groups tell each other, the check."""

import dataclasses
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from advisor.models.harp.entries import Floats
from advisor.models.harp.smooth import SmoothSurface, fit_pooled
from advisor.models.harp.surface import Outlier

GRID = tuple(product((1, 2, 4, 8), (1, 4, 8)))


def group(
    rate_bps: Callable[[int, int], float],
    noise: float = 0.0,
    seed: int = 0,
    grid: tuple[tuple[int, int], ...] = GRID,
) -> tuple[Floats, Floats]:
    levels = np.array([(cc, p, 1) for cc, p in grid], dtype=float)
    rates = np.array([rate_bps(cc, p) for cc, p in grid])
    return levels, rates * np.exp(noise * np.random.default_rng(seed).standard_normal(len(grid)))


def rising(cc: int, p: int) -> float:
    return 1e7 * cc**0.7 * p**0.2


def smooth(*groups: tuple[Floats, Floats]) -> list[SmoothSurface]:
    found = fit_pooled(groups, 2)
    surfaces = [one for one in found if isinstance(one, SmoothSurface)]
    assert len(surfaces) == len(groups)
    return surfaces


def test_what_was_measured_is_met() -> None:
    levels, rates = group(rising)
    [found] = smooth((levels, rates))
    assert found.at(levels) == pytest.approx(rates, rel=0.05)
    assert min(found.training_r2, found.validation_r2) > 0.95
    assert found.kind == "smooth"
    assert not found.is_flat


def test_the_slope_is_that_of_the_surface() -> None:
    [found] = smooth(group(lambda cc, p: 1e7 * cc / (1 + 0.1 * cc * p), noise=0.1))
    at, step = np.array([3.0, 5.0, 1.0]), 1e-4
    for axis in range(2):
        ahead, behind = at.copy(), at.copy()
        ahead[axis] += step
        behind[axis] -= step
        difference = (found.at(ahead)[0] - found.at(behind)[0]) / (2 * step)
        assert found.slope(at)[axis] == pytest.approx(difference, rel=1e-3)
    assert found.slope(at)[2] == 0


def test_beyond_what_was_measured_the_edge_answers() -> None:
    [found] = smooth(group(rising))
    assert found.at(np.array([99.0, 4, 1]))[0] == found.at(np.array([8.0, 4, 1]))[0]


@pytest.mark.parametrize("seed", range(10))
def test_noise_alone_is_flat(seed: int) -> None:
    # A chance pattern may remain; that it explains much of what was held out would be a wrong fit.
    [found] = smooth(group(lambda cc, p: 1e8, noise=0.2, seed=seed))
    assert found.validation_r2 < 0.5


def test_where_the_levels_make_no_difference_the_surface_is_flat() -> None:
    [found] = smooth(group(lambda cc, p: 1e8, noise=0.001))
    everywhere = found.at(np.array([[1.0, 1, 1], [8, 8, 1], [3, 2, 1]]))
    assert everywhere == pytest.approx(1e8, rel=0.02)


def test_a_held_out_entry_is_one_that_the_fit_has_not_seen() -> None:
    levels, rates = group(rising, noise=0.1)
    [found] = smooth((levels, rates))
    y = np.log(rates)
    missed, spread = 0.0, 0.0
    for out in range(len(y)):
        rest = np.arange(len(y)) != out
        [without] = smooth((levels[rest], rates[rest]))
        asked = dataclasses.replace(without, lower=found.lower, upper=found.upper).at(levels[out])
        missed += (y[out] - np.log(asked[0])) ** 2
        spread += (y[out] - y[rest].mean()) ** 2
    # Each of these fits chooses its own noise; the closed form has that of all entries.
    assert found.validation_r2 == pytest.approx(1 - missed / spread, abs=0.02)


def test_a_small_group_learns_its_shape_from_the_others_and_keeps_its_level() -> None:
    few = group(lambda cc, p: rising(cc, p) / 10, grid=((1, 1), (8, 8)))
    alone, beside = smooth(few)[0], smooth(few, group(rising), group(rising, 0.05))[0]
    asked = np.array([[8.0, 1, 1], [1, 8, 1]])
    truth = np.array([rising(8, 1), rising(1, 8)]) / 10
    errors = [np.abs(np.log(one.at(asked) / truth)).max() for one in (alone, beside)]
    assert errors[1] < errors[0]
    assert errors[1] < 0.15


def test_a_group_that_disagrees_with_the_others_is_believed() -> None:
    falling = group(lambda cc, p: 1e8 / cc**0.7, noise=0.03)
    found = smooth(falling, group(rising), group(rising))[0]
    assert found.at(np.array([1.0, 1, 1]))[0] > 2 * found.at(np.array([8.0, 1, 1]))[0]


def test_a_collapse_at_the_highest_level_does_not_send_the_top_to_the_lowest() -> None:
    def collapsing(cc: int, p: int) -> float:
        return 4e8 * (1 - 0.045 * (cc - 4) ** 2 - 0.05 * (p - 2) ** 2)

    grid = tuple(product((1, 2, 4, 8), (1, 2, 4)))
    [found] = smooth(group(collapsing, grid=grid))
    rates = found.at(np.array([[cc, 2.0, 1] for cc in range(1, 9)]))
    assert 2 <= int(rates.argmax()) + 1 <= 5


def test_too_few_entries_and_a_single_setting_have_no_surface() -> None:
    assert isinstance(fit_pooled([group(rising)], 13)[0], Outlier)
    assert not isinstance(fit_pooled([group(rising)], 12)[0], Outlier)
    [one] = fit_pooled([group(rising, grid=((2, 2),) * 20)], 2)
    assert one == Outlier("it has one setting")
    assert fit_pooled([], 10) == []
