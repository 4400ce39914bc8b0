"""Curves that stay short."""

import pytest

from advisor.tui.kit.charts.thinning import Thinned


def test_a_few_values_stay_as_they_are() -> None:
    curve = Thinned(most=10)
    for at_s, value in [(0.2, 5.0), (1.2, 7.0), (3.9, 1.0)]:
        curve.add(at_s, value)
    assert curve.points == [(0.2, 5.0), (1.2, 7.0), (3.9, 1.0)]


def test_a_span_has_the_mean_of_its_values() -> None:
    curve = Thinned(most=4)
    for second in range(8):
        curve.add(second, 10.0 * second)
    assert curve.points == [(0.5, 5.0), (2.5, 25.0), (4.5, 45.0), (6.5, 65.0)]


def test_the_mean_counts_every_value_alike() -> None:
    curve = Thinned(most=2)
    for at_s, value in [(0.0, 0.0), (0.5, 0.0), (1.0, 9.0), (2.0, 1.0), (3.0, 3.0)]:
        curve.add(at_s, value)
    assert curve.points == [(pytest.approx(0.5), pytest.approx(3.0)), (2.5, 2.0)]


def test_what_holds_until_it_changes_has_the_last_of_a_span() -> None:
    curve = Thinned("last", most=2)
    for at_s, value in [(0.0, 2), (1.0, 4), (2.0, 8), (3.5, 16)]:
        curve.add(at_s, value)
    assert curve.points == [(1.0, 4), (3.5, 16)]


@pytest.mark.parametrize("keep", ["mean", "last"])
def test_a_day_in_seconds_has_no_more_points_than_allowed(keep: str) -> None:
    curve = Thinned(keep, most=480)  # type: ignore[arg-type]  # one of the two words
    for second in range(86_400):
        curve.add(float(second), 1.0)
    # 86,400 s in spans of 256 s: the least power of two that fits into 480.
    assert len(curve.points) == 338
    assert {value for _, value in curve.points} == {1.0}


def test_a_gap_leaves_no_points() -> None:
    curve = Thinned(most=4)
    for at_s in (0.0, 1.0, 1000.0):
        curve.add(at_s, 1.0)
    assert [at_s for at_s, _ in curve.points] == [0.0, 1.0, 1000.0]
