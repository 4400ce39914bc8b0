"""The maximum in the box, the relaxation, the mean over groups."""

import numpy as np
import pytest

from advisor.domain.transfers import Levels
from advisor.models.harp.optimum import (
    PAPERS_RELAXATION,
    LevelBounds,
    levels_of_row,
    maximum,
    mean_levels,
    relaxed,
    row_of,
)
from advisor.models.harp.surface import Surface, fit
from tests.unit.models.harp.worlds import BOX, GRID, Truth, columns, hill, sweep


def surface(truth: Truth, grid: tuple[int, ...] = GRID) -> Surface:
    found = fit(*columns(sweep(truth, grid=grid)))
    assert isinstance(found, Surface)
    return found


def box(lower: int, upper: int) -> LevelBounds:
    return LevelBounds(
        lower=Levels(concurrency=lower, parallelism=lower, pipelining=lower),
        upper=Levels(concurrency=upper, parallelism=upper, pipelining=upper),
    )


@pytest.mark.parametrize("best", [(12, 6, 4), (30, 17, 25), (11, 23, 20)])
def test_the_top_of_a_hill_is_found(best: tuple[int, int, int]) -> None:
    assert maximum(surface(hill(best, 5e9)), BOX).tolist() == list(best)


def test_the_box_and_what_was_measured_are_not_left() -> None:
    found = surface(hill((20, 24, 4), 5e9))
    assert maximum(found, box(1, 10)).tolist() == [10, 10, 4]
    narrow = surface(hill((20, 24, 4), 5e9), grid=(1, 2, 4, 8, 16))
    assert maximum(narrow, BOX).tolist() == [16, 16, 4]
    # What lies beyond all measurements is answered from the edge.
    assert maximum(narrow, box(24, 32)).tolist() == [24, 24, 24]


def test_the_higher_of_two_tops_is_found() -> None:
    # Along concurrency alone: up to 9, down, and up to the far end, which is higher.
    def truth(cc: int, p: int, pp: int) -> float:
        return 3e9 + 1e6 * ((cc - 2) * (cc - 15) * (cc - 32) + 50 * cc)

    found = surface(truth)
    assert found.degree == 3
    assert maximum(found, BOX)[0] == 32
    assert maximum(found, box(1, 14))[0] == 9


def test_relaxation_keeps_the_papers_shares_each_on_its_own() -> None:
    # Linear from a tenth: 0.7 of the top needs 21.7 of concurrency 31, however high the others are.
    def truth(cc: int, p: int, pp: int) -> float:
        return 1e8 * cc + 1e6 * p + 1e6 * pp

    found = surface(truth)
    top = np.array([32.0, 32, 32])
    levels = relaxed(found, top, BOX, PAPERS_RELAXATION)
    top_bps = truth(32, 32, 32)
    assert truth(int(levels[0]), 32, 32) >= 0.7 * top_bps > truth(int(levels[0]) - 1, 32, 32)
    # Neither of the others is worth its share: they end at the bottom.
    assert levels[1:].tolist() == [1, 1]
    assert relaxed(found, top, BOX, keep=(1, 1, 1)).tolist() == [32, 32, 32]
    assert relaxed(found, top, box(30, 32), PAPERS_RELAXATION).tolist() == [30, 30, 30]


def test_pipelining_is_lowered_only_where_it_costs_one_percent_or_less() -> None:
    def truth(cc: int, p: int, pp: int) -> float:
        return 1e9 + 1e7 * pp

    levels = relaxed(surface(truth), np.array([1.0, 1, 32]), BOX, PAPERS_RELAXATION)
    assert levels.tolist() == [1, 1, 31]


def test_the_mean_is_weighted_and_silent_groups_have_no_say() -> None:
    found = [np.array([4.0, 2, 1]), np.array([16.0, 8, 1])]
    all_three = np.array([True, True, True])
    assert mean_levels(found, [all_three, all_three], np.array([1.0, 3.0])).tolist() == [13, 7, 1]
    silent = np.array([False, True, False])
    assert mean_levels(found, [all_three, silent], np.array([1.0, 3.0])).tolist() == [4, 7, 1]
    nobody = np.array([False, False, False])
    assert mean_levels(found, [nobody, nobody], np.array([1.0, 1.0])).tolist() == [10, 5, 1]


def test_levels_and_rows_are_the_same() -> None:
    levels = Levels(concurrency=3, parallelism=2, pipelining=7)
    assert levels_of_row(row_of(levels)) == levels


@pytest.mark.parametrize(("lower", "upper"), [(2, 1), (0, 4)])
def test_an_empty_box_is_refused(lower: int, upper: int) -> None:
    with pytest.raises(ValueError, match="empty"):
        box(lower, upper)
