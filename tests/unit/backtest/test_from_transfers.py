import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from advisor.backtest.from_transfers import tables_of
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Repeat
from advisor.domain.space import Scale
from advisor.domain.transfers import Conditions, Levels
from advisor.store.transfer_tables import TransferRow, TransferTable, read_transfer_table

ROW = TransferRow(
    file_bytes=2**20,
    file_count=100,
    bandwidth_bps=10e9,
    rtt_s=0.04,
    buffer_bytes=2**25,
    concurrency=1,
    parallelism=2,
    pipelining=4,
    fast="0",
    throughput_bps=1e9,
    elapsed_s=3.0,
    source="here",
    destination="there",
    recorded="",
    note="",
)
FIVE = (1, 2, 4, 8, 16)


def sweep(**changes: Any) -> list[TransferRow]:
    """Five transfers, at concurrency 1 to 16."""
    return [msgspec.structs.replace(ROW, **{"concurrency": value} | changes) for value in FIVE]


def made(*rows: TransferRow, least_cells: int = 5) -> tuple[list[RecordedTable], list[str]]:
    table = TransferTable(rows=list(rows), repaired={}, left_out={})
    return tables_of("grid", table, least_cells)


def only(*rows: TransferRow) -> RecordedTable:
    (table,), notes = made(*rows)
    assert notes == []
    return table


def names(*rows: TransferRow) -> list[str]:
    return [table.name for table in made(*rows)[0]]


def test_one_condition() -> None:
    table = only(*sweep())
    assert (table.name, table.source) == ("grid: 1 MiB files, fast 0", "grid")
    assert table.cells == [(value, 2, 4) for value in FIVE]
    assert [p.name for p in table.space.parameters] == ["concurrency", "parallelism", "pipelining"]
    assert [(p.lower, p.upper) for p in table.space.parameters] == [(1, 16), (2, 2), (4, 4)]
    assert {(p.unit, p.scale) for p in table.space.parameters} == {("", Scale.LOG2)}
    assert table.space.cost_order == ("concurrency", "parallelism", "pipelining")
    assert table.truth_bps is None


def test_repeats_stay_in_order() -> None:
    late = [msgspec.structs.replace(row, throughput_bps=5e8, elapsed_s=6.0) for row in sweep()]
    table = only(*sweep(), *late)
    assert set(map(tuple, table.repeats.values())) == {(Repeat(1e9, 3.0), Repeat(5e8, 6.0))}


def test_what_a_method_is_told() -> None:
    knowledge = only(*sweep()).knowledge()
    assert knowledge.bandwidth_bps == 10e9
    assert knowledge.bdp_bytes == pytest.approx(10e9 * 0.04 / 8)
    assert knowledge.mean_file_bytes == 2**20
    assert knowledge.dataset is not None
    assert knowledge.dataset.files == 100
    assert knowledge.path is not None
    assert (knowledge.path.source_address, knowledge.path.destination_address) == ("here", "there")
    assert knowledge.path.source.tcp_wmem_bytes == (2**25, 2**25, 2**25)


def test_each_repeat_is_a_past_transfer_for_others() -> None:
    late = sweep(throughput_bps=5e8, recorded="2015-04-08", time="10:00:00")
    table = only(*sweep(), *late)
    undated, dated = table.transfers[:2]
    assert [one.throughput_bps for one in table.transfers] == [1e9, 5e8] * 5
    assert [one.levels.concurrency for one in table.transfers] == [c for c in FIVE for _ in "ab"]
    assert undated.levels == Levels(concurrency=1, parallelism=2, pipelining=4)
    assert undated.conditions == Conditions(
        file_bytes=2**20,
        file_count=100,
        bandwidth_bps=10e9,
        rtt_s=0.04,
        buffer_bytes=2**25,
        network="here->there, fast 0",
    )
    assert undated.when_s is None
    ended = datetime(2015, 4, 8, 10, 0, 3, tzinfo=UTC)
    assert dated.when_s == ended.timestamp()


def test_levels_that_were_not_recorded_count_as_one_and_pipelining_from_one() -> None:
    rows = sweep(parallelism=None, pipelining=0)
    assert {one.levels.parallelism for one in only(*rows).transfers} == {1}
    assert {one.levels.pipelining for one in only(*rows).transfers} == {1}


def test_the_transfers_of_other_tables_are_handed_on() -> None:
    (mine,), _ = made(*sweep())
    (other,), _ = made(*sweep(source="elsewhere"))
    assert list(mine.knowledge([other]).transfers) == list(other.transfers)
    assert list(mine.knowledge().transfers) == []


def test_what_is_not_known_is_not_made_up() -> None:
    knowledge = only(
        *sweep(rtt_s=None, bandwidth_bps=None, buffer_bytes=None, file_count=None)
    ).knowledge()
    assert (knowledge.path, knowledge.bandwidth_bps, knowledge.dataset) == (None, None, None)


def test_file_sizes_within_a_quarter_of_an_octave_are_one_class() -> None:
    # As Stampede to Gordon has them.
    table = only(
        *sweep(file_bytes=3150088.0, file_count=3409), *sweep(file_bytes=3136594.0, file_count=3424)
    )
    assert {len(repeats) for repeats in table.repeats.values()} == {2}
    assert table.knowledge().mean_file_bytes == pytest.approx((3150088 + 3136594) / 2)
    apart = made(*sweep(file_bytes=3e6), *sweep(file_bytes=3.6e6))[0]
    assert len(apart) == 2
    assert len({table.name for table in apart}) == 2


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        ({"fast": "1"}, ["grid: 1 MiB files, fast 0", "grid: 1 MiB files, fast 1"]),
        ({"fast": ""}, ["grid: 1 MiB files", "grid: 1 MiB files, fast 0"]),
        (
            {"destination": "elsewhere"},
            [
                "grid: here->elsewhere, 1 MiB files, fast 0",
                "grid: here->there, 1 MiB files, fast 0",
            ],
        ),
        (
            {"file_count": 200},
            ["grid: 1 MiB files, fast 0, 100 of them", "grid: 1 MiB files, fast 0, 200 of them"],
        ),
        (
            {"note": "at night"},
            ["grid: 1 MiB files, fast 0", "grid: 1 MiB files, fast 0, at night"],
        ),
        (
            {"pipelining": None},
            [
                "grid: 1 MiB files, fast 0, concurrency × parallelism",
                "grid: 1 MiB files, fast 0, concurrency × parallelism × pipelining",
            ],
        ),
    ],
)
def test_conditions_are_kept_apart(other: dict[str, Any], expected: list[str]) -> None:
    assert sorted(names(*sweep(), *sweep(**other))) == sorted(expected)


def test_a_remark_on_a_few_lines_is_no_condition() -> None:
    remarked = msgspec.structs.replace(ROW, note="RTT=40msec")
    table = only(*sweep(), remarked)
    assert len(table.repeats[1, 2, 4]) == 2


def test_a_parameter_that_is_not_known_is_not_in_the_space() -> None:
    table = only(*sweep(parallelism=None, pipelining=None))
    assert [p.name for p in table.space.parameters] == ["concurrency"]
    assert table.cells == [(value,) for value in FIVE]
    assert table.space.cost_order == ("concurrency",)


def test_pipelining_counted_from_zero_is_one_higher() -> None:
    rows = [msgspec.structs.replace(ROW, pipelining=value) for value in (0, 1, 2, 3, 9)]
    assert only(*rows).cells == [(1, 2, value) for value in (1, 2, 3, 4, 10)]


def test_few_settings_are_left_out_and_said() -> None:
    alone = msgspec.structs.replace(ROW, file_bytes=1e9)
    tables, notes = made(*sweep(), alone, alone)
    assert len(tables) == 1
    assert notes == ["grid: conditions with fewer than 5 settings left out: 1"]
    assert len(made(*sweep(), alone, least_cells=1)[0]) == 2


def test_transfers_without_a_setting_are_left_out_and_said() -> None:
    unset = msgspec.structs.replace(ROW, concurrency=None, parallelism=None, pipelining=None)
    tables, notes = made(*sweep(), unset, unset)
    assert [len(table.cells) for table in tables] == [5]
    assert notes == ["grid: transfers without any parameter left out: 2"]


@pytest.fixture
def real() -> Path:
    place = os.environ.get("ADVISOR_DATA")
    if not place:
        pytest.skip("ADVISOR_DATA does not name a directory with real measurements")
    return Path(place)


# Counted in the files with awk: transfers in each condition of 6 × 6 × 6 settings.
@pytest.mark.parametrize(
    ("stem", "transfers"),
    [
        ("SGData", [1080, 1080, 1077, 1078]),
        ("SBData", [1080, 1080, 1070, 864]),
        ("sg1G", [2152, 2147]),
        ("sg5-25M", [2517, 2374, 2516, 2374]),
    ],
)
def test_real_grids(real: Path, stem: str, transfers: list[int]) -> None:
    tables, notes = tables_of(stem, read_transfer_table(real / "gridftp-grids" / f"{stem}.csv"))
    assert notes == []
    assert [len(table.cells) for table in tables] == [216] * len(transfers)
    assert [sum(map(len, table.repeats.values())) for table in tables] == transfers
    assert len({table.name for table in tables}) == len(tables)


def test_real_parallel_streams(real: Path) -> None:
    folder = real / "parallel-streams"
    loni, notes = tables_of("loni", read_transfer_table(folder / "loni.csv"))
    assert notes == ["loni: transfers without any parameter left out: 36"]
    assert len({table.name for table in loni}) == len(loni)
    by_parameters: dict[tuple[str, ...], int] = {}
    for table in loni:
        parameters = tuple(p.name for p in table.space.parameters)
        transfers = sum(map(len, table.repeats.values()))
        by_parameters[parameters] = by_parameters.get(parameters, 0) + transfers
    assert by_parameters == {
        ("concurrency", "parallelism", "pipelining"): 3600,
        ("parallelism",): 12691 + 175,
        ("concurrency",): 130,
        ("pipelining",): 126,
    }
    grids = [table for table in loni if len(table.space.parameters) == 3]
    # Eight sizes, three numbers of files, fast on and off.
    assert len(grids) == 48
    assert {(p.lower, p.upper) for table in grids for p in table.space.parameters} == {(1, 10)}
    didclab, notes = tables_of("didclab", read_transfer_table(folder / "didclab.csv"))
    assert notes == []
    assert {len(table.cells) for table in didclab} == {7}
    assert sum(len(r) for table in didclab for r in table.repeats.values()) == 6839
