"""What reached a receiver, from what it read in order and what came in any order."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from advisor.models.arrival import reached_bytes


def test_what_waits_behind_a_hole_has_arrived() -> None:
    # From the second report to the fourth nothing can be read, while 100 arrive each time.
    read = [0, 100, 100, 100, 400, 500]
    arrived = [0, 100, 200, 300, 400, 500]
    assert reached_bytes(read, arrived) == arrived


def test_what_came_twice_is_not_counted() -> None:
    # 50 of the third report came before; all is read in time.
    assert reached_bytes([0, 100, 200, 300], [0, 100, 250, 350]) == [0, 100, 200, 300]


def test_both_at_once() -> None:
    # A hole while 50 come twice: 250 had reached it by the third report at most.
    read, arrived = [0, 100, 100, 300, 400], [0, 100, 250, 350, 450]
    assert reached_bytes(read, arrived) == [0, 100, 200, 300, 400]


def test_a_hole_that_is_still_open_is_not_filled() -> None:
    assert reached_bytes([0, 100, 100], [0, 100, 200]) == [0, 100, 100]


def test_without_the_count_of_segments_it_is_what_was_read() -> None:
    assert reached_bytes([0, 100, 100], [0, None, 200]) == [0, 100, 100]


_STEPS = st.lists(
    st.tuples(*[st.integers(0, 1000)] * 3).map(lambda s: (s[0], min(s[1], s[0]), s[2])),
    min_size=1,
    max_size=30,
)


@given(_STEPS)
def test_it_is_between_both_and_never_falls(steps: list[tuple[int, int, int]]) -> None:
    """Each step: what comes, how much of it is read at once, and what comes twice."""
    came = list(itertools.accumulate(new for new, _, _ in steps))
    read = list(itertools.accumulate(now for _, now, _ in steps))
    arrived = [a + b for a, b in zip(came, itertools.accumulate(t for *_, t in steps), strict=True)]
    reached = reached_bytes(read, list(arrived))
    assert all(r <= x <= a for r, x, a in zip(read, reached, arrived, strict=True))
    assert reached == sorted(reached)
    assert reached[-1] == read[-1]
