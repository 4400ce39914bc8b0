"""How nodes share the limit of a transfer's rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.nodes.rates import Sharing, shares_of

RATES = st.floats(0, 1e11)


@given(
    st.floats(1e5, 1e11), st.lists(st.tuples(RATES, st.just(0.0) | RATES), min_size=1, max_size=64)
)
def test_together_they_never_exceed_the_limit(
    limit_bps: float, nodes: list[tuple[float, float]]
) -> None:
    shares = shares_of(limit_bps, nodes)
    assert sum(shares) <= limit_bps * (1 + 1e-9)
    assert all(share > 0 for share in shares)


def test_what_a_slow_node_leaves_is_for_the_others() -> None:
    assert shares_of(90e6, [(0, 0), (0, 0), (0, 0)]) == [30e6] * 3
    assert shares_of(90e6, [(10e6, 30e6), (30e6, 30e6), (29e6, 30e6)]) == [15e6, 37.5e6, 37.5e6]


def test_a_node_that_stands_still_can_begin_again() -> None:
    assert shares_of(80e6, [(0, 40e6), (40e6, 40e6)]) == [4e6, 76e6]


def test_a_node_that_is_held_back_after_a_large_file_keeps_its_share() -> None:
    sharing = Sharing(60e6)
    sharing.changed(0, {1: 0, 2: 0})
    assert sharing.changed(5, {1: 0, 2: 9}, {1}) == {}
    assert sharing.changed(10, {1: 0, 2: 37_500_000}) == {1: 30e6, 2: 30e6}
    assert sharing.changed(20, {1: 0, 2: 75_000_000}) == {1: 3e6, 2: 57e6}


def test_shares_are_reported_when_nodes_come_and_go_and_else_not_all_the_time() -> None:
    sharing = Sharing(60e6)
    assert sharing.changed(0, {1: 0, 2: 0}) == {1: 30e6, 2: 30e6}
    assert sharing.changed(5, {1: 1, 2: 1}) == {}
    # In ten seconds the first one has used a third of its share.
    shares = sharing.changed(10, {1: 12_500_000, 2: 37_500_000})
    assert shares == pytest.approx({1: 15e6, 2: 45e6})
    assert sharing.changed(11, {2: 40_000_000}) == {2: 60e6}
    assert sharing.changed(12, {}) == {}
    assert sharing.changed(13, {1: 12_500_000}) == {1: 60e6}
