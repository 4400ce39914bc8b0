import math
from collections.abc import Callable

import numpy as np
import pytest

from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Cell
from advisor.backtest.synthetic import LINK_BPS, USABLE_BPS, synthetic_tables, tcp_bps


@pytest.fixture(scope="module")
def tables() -> dict[str, RecordedTable]:
    return {table.name.removeprefix("synthetic: "): table for table in synthetic_tables(3)}


def test_eight_tables_of_one_source(tables: dict[str, RecordedTable]) -> None:
    assert len(tables) == 8
    assert {table.source for table in tables.values()} == {"synthetic"}
    for table in tables.values():
        assert {len(repeats) for repeats in table.repeats.values()} == {5}
        assert {one.elapsed_s for repeats in table.repeats.values() for one in repeats} == {5.0}


def test_every_cell_is_within_the_space(tables: dict[str, RecordedTable]) -> None:
    for table in tables.values():
        for cell in table.cells:
            assert table.nearest(table.setting(cell)) == cell
            for parameter, value in zip(table.space.parameters, cell, strict=True):
                assert parameter.lower <= value <= parameter.upper


def test_the_seed_decides() -> None:
    first, same, other = (synthetic_tables(seed) for seed in (1, 1, 2))
    assert [table.repeats for table in first] == [table.repeats for table in same]
    for one, another in zip(first, other, strict=True):
        assert one.repeats != another.repeats
        assert one.truth_bps == another.truth_bps


def test_rates_scatter_around_the_truth_by_twelve_percent(
    tables: dict[str, RecordedTable],
) -> None:
    for table in tables.values():
        factors = np.array(
            [[one.throughput_bps for one in table.repeats[cell]] for cell in table.cells]
        ) / np.array([[table.rates_bps[cell]] for cell in table.cells])
        # Four standard errors of a mean and of a spread.
        margin = 4 * 0.12 / math.sqrt(factors.size)
        assert factors.mean() == pytest.approx(1, abs=margin)
        assert factors.std() == pytest.approx(0.12, abs=margin)
        assert factors.max() * USABLE_BPS < LINK_BPS


@pytest.mark.parametrize(
    ("name", "is_best"),
    [
        ("plateau", lambda cell: cell[0] * cell[1] >= 32),
        ("interior peak", lambda cell: cell == (8, 4, 4)),
        ("falling", lambda cell: cell[0] * cell[1] == 1),
        ("flat", lambda cell: True),
        # Losses of 1e-6 leave a stream 357 Mbit/s: 16 streams give 5.7 Gbit/s, less than 6.
        ("TCP, large files", lambda cell: cell[0] * cell[1] >= 32),
        # Without loss a stream gives 8 × buffer ÷ 40 ms: 6 Gbit/s take 30 MB together.
        ("TCP from memory, no loss", lambda cell: cell[0] * cell[1] >= 30e6),
        ("TCP from memory, loss", lambda cell: cell[1] == 32 and cell[0] >= 2**20),
    ],
)
def test_the_best_cells_are_those_it_was_made_for(
    tables: dict[str, RecordedTable], name: str, is_best: Callable[[Cell], bool]
) -> None:
    table = tables[name]
    best = {cell for cell in table.cells if table.fraction(cell) > 1 - 1e-12}
    assert best == {cell for cell in table.cells if is_best(cell)}


def test_pipelining_pays_for_small_files_alone(tables: dict[str, RecordedTable]) -> None:
    small, large = tables["TCP, small files"].rates_bps, tables["TCP, large files"].rates_bps
    assert small[1, 1, 32] > 2 * small[1, 1, 1]
    assert large[1, 1, 32] == large[1, 1, 1]


def test_tcp_by_hand() -> None:
    # 1 MB of window each 100 ms is 80 Mbit/s.
    assert tcp_bps(1, 1e6, 0.1, 0.0) == pytest.approx(80e6)
    assert tcp_bps(3, 1e6, 0.1, 0.0) == pytest.approx(240e6)
    # Mathis: 1460 B × √1.5 ÷ √1e-4 = 178.8 kB.
    assert tcp_bps(1, 1e6, 0.1, 1e-4) == pytest.approx(14.3e6, rel=0.01)
    assert tcp_bps(1, 1e5, 0.1, 1e-4) == pytest.approx(8e6)
