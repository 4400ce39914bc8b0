"""What a few probes tell of the number of flows."""

import math

import pytest

from advisor.models.response import Point, Response, normal_gain

SAME = 0.02
AUTO, SIZED = "the kernel's own", "4 MiB"


def point(flows: int, mbps: float, family: str = AUTO, error: float = 0.01) -> Point:
    return Point(family=family, flows=flows, log_rate=math.log(mbps), error=error)


def response(*points: Point, bound: float = math.inf) -> Response:
    return Response(points, 25, bound)


def test_the_same_rate_with_one_and_sixteen_flows_leaves_little() -> None:
    flat = response(point(1, 990), point(16, 995))
    assert flat.possible_gain(AUTO, 16, SAME) < 0.01
    assert flat.chance_full(AUTO, 16, SAME) > 0.7


def test_flows_that_add_up_leave_everything_open() -> None:
    rising = response(point(1, 60), point(16, 900))
    assert rising.possible_gain(AUTO, 16, SAME) > 0.1
    assert rising.chance_full(AUTO, 16, SAME) < 0.5


def test_another_point_at_the_top_closes_the_question() -> None:
    before = response(point(1, 60), point(16, 900))
    after = response(point(1, 60), point(16, 900), point(25, 905))
    assert after.possible_gain(AUTO, 25, SAME) < before.possible_gain(AUTO, 16, SAME) / 3


def test_flows_that_hinder_each_other_are_no_outlier() -> None:
    """As on the loopback of a host with few cores."""
    falling = response(point(1, 22_600), point(2, 18_000), point(16, 4_260))
    rates = [falling.expected(AUTO, flows) for flows in (1, 2, 16)]
    assert rates == sorted(rates, reverse=True)
    assert rates[0] == pytest.approx(math.log(22_600), abs=0.15)
    assert rates[2] == pytest.approx(math.log(4_260), abs=0.15)


def test_a_known_bound_limits_the_gain() -> None:
    points = (point(1, 60), point(16, 900))
    known = response(*points, bound=math.log(930))
    assert known.possible_gain(AUTO, 16, SAME) < response(*points).possible_gain(AUTO, 16, SAME)
    assert known.possible_gain(AUTO, 16, SAME) < math.log(930 / 900) + SAME


def test_a_rate_above_the_bound_is_not_impossible() -> None:
    assert response(point(1, 990), bound=math.log(500)).possible_gain(AUTO, 1, SAME) >= 0


def test_how_few_flows_may_be_enough() -> None:
    top = (SIZED, 16)
    found = response(point(1, 60), point(16, 990, SIZED), point(8, 985, SIZED))
    chances = [found.chance_as_good(SIZED, n, top, SAME) for n in (1, 2, 4, 12)]
    assert chances == sorted(chances)
    assert chances[-1] > 0.8
    assert found.chance_as_good(AUTO, 1, top, SAME) < 0.01


def test_a_measured_setting_has_about_its_rate() -> None:
    found = response(point(1, 60), point(16, 900))
    assert found.expected(AUTO, 16) == pytest.approx(math.log(900), abs=0.05)
    assert found.expected(AUTO, 1) == pytest.approx(math.log(60), abs=0.15)


def test_one_outlier_is_not_believed_against_three() -> None:
    found = response(point(1, 400), point(4, 990), point(8, 985), point(16, 995), point(1, 980))
    assert found.chance_full(AUTO, 8, SAME) > 0.5


def test_nothing_is_no_response() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Response([], 25)


def test_a_probe_with_a_large_error_reveals_less() -> None:
    assert normal_gain(0.0, 0.1, 0.01) > normal_gain(0.0, 0.1, 0.3) > 0
    assert normal_gain(-1.0, 0.1, 0.01) == pytest.approx(0, abs=1e-9)
