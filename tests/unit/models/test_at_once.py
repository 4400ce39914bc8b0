"""What several connections reach together, against each alone."""

import pytest

from advisor.models.at_once import compare_at_once


def rates(*mbps: float) -> list[float]:
    return [value * 1e6 for value in mbps]


def test_two_networks_of_their_own_add_up() -> None:
    found = compare_at_once(
        [rates(190, 192, 191), rates(95, 96, 95.5)],
        [rates(189, 94), rates(191, 95), rates(188, 95)],
    )
    assert found.adds
    assert found.settled
    assert found.total.value == pytest.approx(284e6, rel=0.01)
    assert found.gain.value == pytest.approx(284 / 191, rel=0.01)
    assert found.alone[1].value == pytest.approx(95.5e6, rel=0.01)
    assert found.at_once[0].value == pytest.approx(189e6, rel=0.01)
    lower, upper = found.total.interval
    assert lower < found.total.value < upper


def test_a_shared_bottleneck_adds_nothing() -> None:
    found = compare_at_once(
        [rates(95, 96, 95.5), rates(95, 95.2, 96)],
        [rates(48, 47), rates(30, 66), rates(50, 46)],
    )
    assert not found.adds
    assert found.gain.value == pytest.approx(1, abs=0.03)


def test_a_gain_that_is_not_clear_is_none() -> None:
    found = compare_at_once([rates(100, 80), rates(50)], [rates(70, 30), rates(90, 35)])
    assert found.gain.value > 1.1
    assert not found.adds
    assert not found.settled


def test_all_at_once_measured_one_time_proves_nothing() -> None:
    found = compare_at_once([rates(100, 100, 100), rates(50, 50, 50)], [rates(100, 50)])
    assert not found.adds
    assert not found.settled


def test_less_than_the_best_alone_adds_nothing_however_clear() -> None:
    found = compare_at_once(
        [rates(100, 101, 100), rates(50, 51, 50)], [rates(40, 20), rates(41, 20), rates(40, 21)]
    )
    assert not found.adds
    assert found.settled


def test_no_more_is_promised_than_is_reserved() -> None:
    found = compare_at_once([rates(190, 191), rates(95, 96)], [rates(190, 95)] * 2, 200e6)
    assert found.total.value == 200e6
    assert found.total.interval[1] == 200e6


def test_three_connections_keep_their_order() -> None:
    found = compare_at_once(
        [rates(10, 10), rates(30, 30), rates(20, 20)], [rates(10, 29, 20), rates(10, 30, 20)]
    )
    assert [round(one.value / 1e6) for one in found.at_once] == [10, 29, 20]
    assert found.gain.value == pytest.approx(2, rel=0.02)
