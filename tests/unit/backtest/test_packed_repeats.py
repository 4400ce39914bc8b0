"""A table arrives at a worker as it was sent."""

import pickle

from advisor.backtest.packed_repeats import PackedRepeats
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell, Repeat
from advisor.domain.space import Parameter, Space

SPACE = Space(
    parameters=(
        Parameter(name="streams", unit="", lower=1, upper=16),
        Parameter(name="buffer_bytes", unit="B", lower=1, upper=2**40),
    ),
    cost_order=("streams", "buffer_bytes"),
)
REPEATS: dict[Cell, list[Repeat]] = {
    (4, 2**40): [Repeat(1e9 / 3, 0.1), Repeat(0.0, 2.5)],
    (1, 1): [Repeat(7.0, 1e-9)],
    (2, 5): [],
}


def test_each_cell_has_its_repeats_in_their_order() -> None:
    packed = PackedRepeats.of(REPEATS)
    assert dict(packed) == REPEATS
    assert list(packed) == list(REPEATS)
    assert all(type(value) is int for cell in packed for value in cell)
    assert PackedRepeats.of(packed) is packed


def test_a_table_is_the_same_after_it_was_sent_once_and_again() -> None:
    table = RecordedTable(
        name="t", source="s", space=SPACE, repeats=REPEATS, truth_bps={(4, 2**40): 1.0}
    )
    assert table.nearest({"streams": 4, "buffer_bytes": 2**39}) == (4, 2**40)
    arrived = pickle.loads(pickle.dumps(table))
    assert vars(arrived).keys() == table.__getstate__().keys(), "nothing that was worked out"
    again = pickle.loads(pickle.dumps(arrived))
    for one in (arrived, again):
        assert dict(one.repeats) == REPEATS
        assert one.cells == table.cells
        assert (one.name, one.space, one.truth_bps) == ("t", SPACE, table.truth_bps)
