"""Algorithm 1 of Rao et al. (2016), with throughputs made up so that each rule decides once."""

import pytest

from advisor.domain.space import Parameter, Space
from advisor.testing.samples import failed
from tests.plugins.searches import asked, counts, follow, make, tell

FLOWS = counts(streams=(1, 10))


def test_two_decreases_in_a_row_of_the_highest_trace_stop_it() -> None:
    method = make("depth-width", FLOWS, d=2, w=1)
    # Highest traces: 6, 7, 6.5 (falls), 8 (rises: the count restarts), 7 (falls), 6 (falls).
    rates = (5, 6, 7, 4, 6, 6.5, 8, 1, 7, 7, 6, 6)
    assert tell(method, *rates) == [10, 10, 9, 9, 8, 8, 7, 7, 6, 6, 5, 5]
    assert method.ask() is None
    assert method.best() == ({"streams": 7}, 8e9)
    assert method.stop_reason is not None
    assert "2 decreases in a row" in method.stop_reason
    # With 8 at 7 flows every curve has fallen before (7 or 5 or 6, then less) and rises again; with
    # 1 there it rises again to 7 at 6 flows. So no curve of single traces has one peak.
    assert "; 0%" in method.stop_reason


def test_the_confidence_is_the_share_of_curves_with_one_peak() -> None:
    method = make("depth-width", FLOWS, d=2, w=1, decreases=1)
    # 7, 8 and 7.5 are the highest: it stops. Of the 8 curves of single traces only 7, 6, 7.5 falls
    # and rises again.
    tell(method, 5, 7, 6, 8, 4, 7.5)
    assert method.stop_reason is not None
    assert "; 88%" in method.stop_reason


def test_a_rising_curve_is_left_at_once_and_a_flat_one_followed_down() -> None:
    rising = make("depth-width", FLOWS, d=3)
    assert follow(rising, lambda s: float(s["streams"]), 99) == [10] * 3 + [9] * 3 + [8] * 3
    flat = make("depth-width", FLOWS, d=1)
    assert follow(flat, lambda _: 1.0, 99) == list(range(10, 0, -1))
    assert flat.stop_reason is not None
    assert "lower bound is reached" in flat.stop_reason


@pytest.mark.parametrize(
    ("width", "flows"), [(2, [10, 8, 6, 4, 2]), (3, [10, 7, 4, 1]), (4, [10, 6, 2]), (9, [10, 1])]
)
def test_it_goes_down_by_the_width_while_more_flows_than_that_are_left(
    width: int, flows: list[int]
) -> None:
    method = make("depth-width", FLOWS, d=1, w=width)
    assert follow(method, lambda s: 1 / float(s["streams"]), 99) == flows


def test_of_two_stripe_counts_the_better_is_taken_at_every_step() -> None:
    stripes = Parameter(name="stripes", unit="", lower=2, upper=4, quantum=2)
    space = Space(parameters=(*FLOWS.parameters, stripes), cost_order=("streams", "stripes"))
    method = make("depth-width", space, d=2, w=1)
    settings = tell(method, 1, 2, 5, 3, 6, 4, 1, 1, 4, 4, 5.5, 1, 1, 1, 1, 1)
    pairs = [(flows, stripe) for flows in (10, 9, 8, 7) for stripe in (2, 4)]
    assert settings == [pair for pair in pairs for _ in range(2)]
    # The better of each step: 5, 6, 5.5, 1: two decreases.
    assert method.ask() is None
    assert method.best() == ({"streams": 9, "stripes": 2}, 6e9)


def test_the_next_parameter_is_walked_with_the_first_at_its_best() -> None:
    space = counts(buffer=(1, 3), streams=(1, 4))
    method = make("depth-width", space, d=1)
    assert tell(method, 2, 3, 1, 4) == [(3, 4), (2, 4), (1, 4), (2, 4)]
    assert method.move_reason is not None
    assert asked(method) == (2, 3)


def test_a_failure_is_no_throughput() -> None:
    method = make("depth-width", FLOWS, d=1)
    tell(method, 1)
    for _ in range(2):
        setting = method.ask()
        assert setting is not None
        method.tell(setting, failed())
    # From 1 to 0 is a decrease, from 0 to 0 is none.
    assert method.stop_reason is None
    assert method.gauges[0].value == 0
