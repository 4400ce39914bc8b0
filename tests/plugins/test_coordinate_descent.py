"""Algorithm 1 of Balaprakash et al. (2016), followed by hand."""

from tests.plugins.searches import asked, counts, make, tell

LINE = counts(concurrency=(1, 64))


def test_it_steps_on_while_it_pays_and_stays_when_it_does_not() -> None:
    method = make("coordinate-descent", LINE)
    # +10 %, +10 %, then 0.8 %: twice no change, so the parameter is done.
    assert tell(method, 100, 110, 121, 122, 122) == [2, 3, 4, 5, 5]
    # Significant steps led from 2 to 5: another pass, from 5. It leads nowhere.
    assert tell(method, 122, 123, 123) == [5, 6, 6]
    assert method.label == "watch"
    assert tell(method, 123, 123) == [6, 6]


def test_it_turns_round_twice_about_a_sharp_peak() -> None:
    method = make("coordinate-descent", LINE)
    # 4 is the peak: 5 gave 17 % less, so down; 4 gave more, so on down; 3 gave less, so up.
    assert tell(method, 100, 110, 121, 100, 121, 110) == [2, 3, 4, 5, 4, 3]
    assert method.move_reason is not None
    assert "between" in method.move_reason
    assert tell(method, 121, 100, 121, 110, 121) == [4, 5, 4, 3, 4]
    assert method.label == "watch"


def test_the_slope_decides_not_the_change() -> None:
    """Going down, a throughput that rises means further down: δ = Δ / −1."""
    method = make("coordinate-descent", counts(concurrency=(1, 2)))
    assert tell(method, 100, 110) == [2, 1]
    assert asked(method) == (1,)


def test_a_change_above_epsilon_at_the_same_point_is_a_step_up() -> None:
    method = make("coordinate-descent", LINE)
    tell(method, 100, 100, 100)
    assert method.label == "watch"
    assert tell(method, 104, 98) == [3, 3]
    assert asked(method) == (4,)


def test_at_the_upper_bound_that_step_is_down() -> None:
    method = make("coordinate-descent", counts(concurrency=(1, 3)))
    tell(method, 100, 103, 103)
    assert (method.label, asked(method)) == ("watch", (3,))
    tell(method, 90)
    assert asked(method) == (2,)


def test_a_change_while_it_searches_at_the_upper_bound_is_a_step_down_too() -> None:
    method = make("coordinate-descent", counts(concurrency=(1, 3)))
    assert tell(method, 100, 101, 120) == [2, 3, 3]
    assert asked(method) == (2,)


def test_a_significant_rise_that_ends_at_the_bound_stays_there() -> None:
    method = make("coordinate-descent", counts(concurrency=(1, 3)))
    assert tell(method, 100, 120, 120) == [2, 3, 3]
    assert tell(method, 120) == [3]


def test_the_next_parameter_begins_where_the_first_ended() -> None:
    method = make("coordinate-descent", counts(concurrency=(1, 64), parallelism=(1, 64)))
    assert tell(method, 100, 110, 111, 111) == [(2, 8), (3, 8), (4, 8), (4, 8)]
    assert tell(method, 111, 120) == [(4, 8), (4, 9)]
    assert asked(method) == (4, 10)


def test_insignificant_drift_does_not_begin_pass_after_pass() -> None:
    method = make("coordinate-descent", counts(concurrency=(1, 64), parallelism=(1, 64)))
    tell(method, *[100] * 6)
    assert method.label == "watch"
