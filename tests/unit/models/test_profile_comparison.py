"""Which settings of a profile really changed."""

import numpy as np
import pytest

from advisor.domain.grid import Cell
from advisor.models.profile_comparison import compare_profiles

CELLS: list[Cell] = [("tcp", (("streams", n),)) for n in range(1, 61)]


def rates(
    rng: np.random.Generator, spread: float, factors: dict[Cell, float]
) -> dict[Cell, list[float]]:
    return {
        cell: list(1e9 * factors.get(cell, 1.0) * rng.lognormal(0, spread, 5)) for cell in CELLS
    }


def test_what_changed_is_found_and_little_else() -> None:
    really = dict.fromkeys(CELLS[:12], 1.3)
    found, wrong = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        result = compare_profiles(rates(rng, 0.05, {}), rates(rng, 0.05, really))
        changed = {one.cell for one in result.cells if one.changed}
        found += len(changed & set(really))
        wrong += len(changed - set(really))
    assert found >= 0.9 * 40 * len(really)
    # At most 5 % of what is said to have changed; twice that for the luck of 40 draws.
    assert wrong <= 0.10 * (found + wrong)


def test_where_nothing_changed_most_comparisons_say_so() -> None:
    said = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        result = compare_profiles(rates(rng, 0.1, {}), rates(rng, 0.1, {}))
        said += any(one.changed for one in result.cells)
    # Without the adjustment it would be nearly all: 60 tests at 5 % each.
    assert said <= 12


def test_a_ratio_has_its_interval_and_the_whole_too() -> None:
    rng = np.random.default_rng(1)
    result = compare_profiles(rates(rng, 0.05, {}), rates(rng, 0.05, dict.fromkeys(CELLS, 1.2)))
    covered = [
        one.ratio.interval[0] < 1.2 < one.ratio.interval[1] for one in result.cells if one.ratio
    ]
    assert 45 <= sum(covered) <= 60
    overall = result.overall["tcp"]
    assert overall.interval[0] < overall.value < overall.interval[1]
    assert overall.value == pytest.approx(1.2, rel=0.03)


def test_single_measurements_are_not_tested() -> None:
    one, other = {CELLS[0]: [1e9], CELLS[1]: [1e9, 1e9]}, {CELLS[0]: [2e9], CELLS[2]: [1e9]}
    result = compare_profiles(one, other)
    (only,) = result.cells
    assert (only.ratio, only.changed) == (None, False)
    assert (result.only_first, result.only_second) == (1, 1)
    assert result.overall == {}


def test_equal_repeats_are_no_certainty() -> None:
    result = compare_profiles({CELLS[0]: [1e9, 1e9]}, {CELLS[0]: [1.002e9, 1.002e9]})
    assert not result.cells[0].changed


def test_nothing_in_common() -> None:
    result = compare_profiles({CELLS[0]: [1e9]}, {CELLS[1]: [1e9]})
    assert result.cells == []
