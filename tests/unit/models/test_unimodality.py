from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.models.unimodality import confidence_by_depth_and_width, unimodal_share


def counted(traces: list[list[int]], depth: int) -> float:
    """By the definition: every choice, one after the other."""
    good = total = 0
    for choice in product(*(combinations(point, depth) for point in traces)):
        steps = [b - a for a, b in pairwise([max(one) for one in choice]) if a != b]
        total += 1
        good += not any(a < 0 < b for a, b in pairwise(steps))
    return good / total


@pytest.mark.parametrize(
    ("traces", "share"),
    [
        ([[1], [2], [1]], 1),
        ([[2], [1], [2]], 0),
        ([[2], [2], [2]], 1),
        ([[1], [3], [3], [2]], 1),
        ([[3], [1], [1], [2]], 0),
        ([[5, 7], [6, 8], [4, 7.5]], 7 / 8),
        ([[5]], 1),
        ([], 1),
    ],
)
def test_a_curve_never_rises_after_it_fell(traces: list[list[float]], share: float) -> None:
    assert unimodal_share(traces) == pytest.approx(share)


@given(st.data())
def test_it_is_the_share_of_all_choices(data: st.DataObject) -> None:
    depth = data.draw(st.integers(1, 3))
    point = st.lists(st.integers(0, 5), min_size=depth, max_size=4)
    traces = data.draw(st.lists(point, min_size=1, max_size=4))
    assert unimodal_share(traces, depth) == pytest.approx(counted(traces, depth))


@pytest.mark.parametrize("depth", [0, 3])
def test_a_depth_needs_as_many_traces(depth: int) -> None:
    with pytest.raises(ValueError, match="depth"):
        unimodal_share([[1, 2], [1, 2, 3]], depth)


def test_confidence_by_depth_and_width() -> None:
    peaked = [[1.0, 1.1], [3.0, 3.1], [2.0, 2.1], [1.5, 1.6], [1.0, 1.1]]
    two_peaks = [[1.0, 1.1], [3.0, 3.1], [2.0, 2.1], [3.0, 3.2], [1.0, 1.1]]
    found = confidence_by_depth_and_width([peaked, two_peaks], depths=[1, 2, 3], widths=[1, 2, 3])
    # Of every second point from the last one down, the second maximum is not seen.
    assert found == {(1, 1): 0.5, (2, 1): 0.5, (1, 2): 1.0, (2, 2): 1.0}
