"""Algorithm 3 of Balaprakash et al. (2016), followed by hand."""

import pytest

from advisor.methods.api import Method
from tests.plugins.searches import asked, counts, follow, make, tell

PLANE = counts(concurrency=(1, 64), parallelism=(1, 64))


def with_simplex() -> Method:
    """Best (10, 8) with 3, then (2, 16) with 2, worst (2, 8) with 1; the centroid is (6, 12)."""
    method = make("nelder-mead", PLANE)
    assert tell(method, 1, 3, 2) == [(2, 8), (10, 8), (2, 16)]
    assert (method.label, asked(method)) == ("reflect", (10, 16))
    return method


def test_a_reflection_between_best_and_worst_replaces_the_worst() -> None:
    method = with_simplex()
    tell(method, 2.5)
    # (10, 8), (10, 16), worst (2, 16); the centroid is (10, 12).
    assert (method.label, asked(method)) == ("reflect", (18, 8))


def test_a_reflection_better_than_the_best_is_expanded() -> None:
    method = with_simplex()
    tell(method, 4)
    assert (method.label, asked(method)) == ("expand", (14, 20))
    tell(method, 5)
    # (14, 20), (10, 8), worst (2, 16); the centroid is (12, 14).
    assert (method.label, asked(method)) == ("reflect", (22, 12))


def test_an_expansion_that_gives_less_is_contracted() -> None:
    method = with_simplex()
    tell(method, 4, 3.9)
    assert (method.label, asked(method)) == ("contract", (8, 14))
    assert method.best() == ({"concurrency": 10, "parallelism": 16}, 4e9)


def test_a_poor_reflection_is_contracted_towards_the_worst_and_then_all_shrinks() -> None:
    method = with_simplex()
    tell(method, 0.5)
    assert (method.label, asked(method)) == ("contract", (4, 10))
    tell(method, 0.9)
    assert method.move_reason is not None
    assert "shrinks" in method.move_reason
    assert tell(method, 0.1, 0.2) == [(6, 12), (6, 8)]
    # (10, 8), (6, 8), worst (6, 12); the centroid is (8, 8).
    assert (method.label, asked(method)) == ("reflect", (10, 4))


def test_on_a_line_it_ends_in_a_single_point() -> None:
    method = make("nelder-mead", counts(concurrency=(1, 64)))
    asked_ = follow(method, lambda s: 100 - abs(float(s["concurrency"]) - 11), 14)
    assert asked_ == [
        *(2, 10),  # the simplex, 91 and 99
        18,  # reflected: 93, between
        *(2, 14),  # 91, worse than 93: contracted from 18: 97
        *(6, 12),  # 95: contracted from 14: 99
        *(8, 11),  # 97: contracted from 12: 100
        *(12, 12),  # 99, as the worst: contracted to 11.5, rounded up: 99
        *(10, 11),  # 99, as the worst: contracted to 10.5, rounded up: a single point
        11,
    ]
    assert method.label == "watch"


def test_a_change_above_epsilon_makes_it_search_again_from_the_start() -> None:
    method = make("nelder-mead", counts(concurrency=(1, 64)))
    follow(method, lambda s: 100 - abs(float(s["concurrency"]) - 11), 14)
    tell(method, 104, 110)
    assert tell(method, 1, 2) == [2, 10]


@pytest.mark.parametrize(("upper", "corner"), [(9, 9), (5, 5), (3, 3), (2, 1)])
def test_the_first_simplex_stays_within_the_bounds(upper: int, corner: int) -> None:
    method = make("nelder-mead", counts(concurrency=(1, upper)))
    assert tell(method, 1, 2) == [2, corner]


def test_it_settles_on_a_flat_surface_of_any_dimension() -> None:
    names = ("concurrency", "parallelism", "a", "b", "c")
    for dimensions in range(1, 6):
        space = counts(**dict.fromkeys(names[:dimensions], (1, 40)))
        method = make("nelder-mead", space)
        follow(method, lambda _: 1.0, 200)
        assert method.label == "watch"
