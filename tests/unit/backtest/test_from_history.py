from typing import Any

import msgspec
import pytest

from advisor.backtest.from_history import history_tables
from advisor.backtest.recorded import RecordedTable
from advisor.backtest.repeats import Repeat
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Scale, Setting
from advisor.testing.samples import failed, measured

PAIR = Pair("dtn1", "dtn2")
STREAMS = (1, 2, 4, 8, 16)
BUFFER = 2**20


def probe(
    setting: Setting, rate_bps: float = 1e9, recorded_s: float = 0.0, **changes: Any
) -> ProbeRecord:
    record = ProbeRecord(
        pair=PAIR,
        subject="tcp",
        setting=setting,
        result=measured(rate_bps),
        recorded_s=recorded_s,
        rtt_s=0.05,
    )
    return msgspec.structs.replace(record, **changes)


def tcp(streams: int, **more: Any) -> Setting:
    return {"streams": streams, "buffer_bytes": BUFFER, "congestion": "cubic"} | more


def sweep(**changes: Any) -> list[ProbeRecord]:
    return [probe(tcp(streams), **changes) for streams in STREAMS]


def only(probes: list[ProbeRecord]) -> RecordedTable:
    (table,) = history_tables(probes)
    return table


def test_a_tcp_profile() -> None:
    table = only(sweep(bandwidth_bps=10e9, mtu_bytes=9000))
    assert table.source == "dtn1->dtn2"
    assert table.name == "dtn1->dtn2: TCP, cubic, buffer_bytes × streams"
    assert table.cells == [(BUFFER, streams) for streams in STREAMS]
    buffers, streams = table.space.parameters
    assert (buffers.name, buffers.unit, buffers.lower) == ("buffer_bytes", "B", BUFFER)
    assert (streams.name, streams.unit) == ("streams", "")
    assert (streams.lower, streams.upper) == (1, 16)
    # As the transport has them.
    assert {buffers.scale, streams.scale} == {Scale.LINEAR}
    assert table.space.cost_order == ("streams", "buffer_bytes")
    assert table.setting((BUFFER, 4)) == tcp(4)
    assert table.path is not None
    assert (table.path.rtt_s, table.path.mtu_bytes) == (0.05, 9000)
    assert table.bandwidth_bps == 10e9


def test_a_udt_profile() -> None:
    blocks = [1456 * times for times in (1, 2, 4, 8, 10)]
    table = only(
        [
            probe({"block_bytes": b, "buffer_bytes": BUFFER, "mss_bytes": 1500}, subject="udt")
            for b in blocks
        ]
    )
    assert table.name == "dtn1->dtn2: UDT, packets of 1500 B, block_bytes × buffer_bytes"
    assert table.cells == [(block, BUFFER) for block in blocks]
    assert table.space.cost_order == ("buffer_bytes", "block_bytes")
    assert table.space.fixed == {"mss_bytes": 1500}


def test_repeats_are_in_the_order_of_time_whatever_the_order_of_the_records() -> None:
    again = [probe(tcp(2), rate, at) for rate, at in ((3e9, 30.0), (1e9, 10.0), (2e9, 20.0))]
    table = only([*again, *sweep(recorded_s=40.0)])
    assert [one.throughput_bps for one in table.repeats[BUFFER, 2]] == [1e9, 2e9, 3e9, 1e9]


def test_a_failure_is_a_transfer_of_nothing() -> None:
    broken = Failure(kind=FailureKind.RESET, message="reset", elapsed_s=2.5)
    table = only([*sweep(), probe(tcp(32), result=broken)])
    assert table.repeats[BUFFER, 32] == [Repeat(0.0, 2.5)]
    assert table.rates_bps[BUFFER, 32] == 0


def test_where_everything_failed_there_is_no_table() -> None:
    assert history_tables(sweep(result=failed())) == []


def test_buffers_of_the_kernel_are_outside_the_space() -> None:
    table = only([*sweep(), probe(tcp(32, buffer_bytes=0))])
    assert len(table.cells) == 5


@pytest.mark.parametrize(
    "changes",
    [
        {"pair": Pair("dtn2", "dtn1")},
        {"subject": "udt"},
        {"rtt_s": 0.1},
    ],
)
def test_profiles_are_kept_apart(changes: dict[str, Any]) -> None:
    tables = history_tables([*sweep(), *sweep(**changes)])
    assert [len(table.cells) for table in tables] == [5, 5]
    assert {len(r) for table in tables for r in table.repeats.values()} == {1}
    assert len({table.name for table in tables}) == 2


def test_congestion_controls_and_kinds_of_space_are_kept_apart() -> None:
    bbr = [probe(tcp(streams, congestion="bbr")) for streams in STREAMS]
    bare = [probe({"streams": streams}) for streams in STREAMS]
    tables = history_tables([*sweep(), *bbr, *bare])
    assert [table.name for table in tables] == [
        "dtn1->dtn2: TCP, cubic, buffer_bytes × streams",
        "dtn1->dtn2: TCP, bbr, buffer_bytes × streams",
        "dtn1->dtn2: TCP, streams",
    ]
    assert tables[1].space.fixed == {"congestion": "bbr"}


def test_probes_without_an_rtt_are_with_the_newest_path() -> None:
    probes = [
        *sweep(recorded_s=1.0, rtt_s=0.1),
        *sweep(recorded_s=2.0),
        *sweep(recorded_s=3.0, rtt_s=None),
    ]
    newest, oldest = history_tables(probes)
    assert newest.path is not None
    assert oldest.path is not None
    assert (newest.path.rtt_s, oldest.path.rtt_s) == (0.05, 0.1)
    assert {len(repeats) for repeats in newest.repeats.values()} == {2}
    assert newest.name.endswith("RTT 50 ms")


def test_without_any_rtt_there_is_no_path() -> None:
    assert only(sweep(rtt_s=None)).path is None


def test_few_settings_are_left_out() -> None:
    assert history_tables(sweep()[:4]) == []
    assert len(history_tables(sweep()[:4], least_cells=4)) == 1
    assert history_tables([]) == []


def test_files_of_other_sizes_are_another_table_that_knows_them() -> None:
    small, large = (
        [
            probe(
                {"concurrency": files, "parallelism": 2},
                subject="globus-url-copy",
                file_bytes=file_bytes,
                files=50,
            )
            for files in STREAMS
        ]
        for file_bytes in (1e6, 1e9)
    )
    tables = history_tables(small + large)
    assert [table.dataset and table.dataset.total_bytes for table in tables] == [
        50 * 10**6,
        50 * 10**9,
    ]
    assert all(table.dataset and table.dataset.files == 50 for table in tables)
    assert [len(table.transfers) for table in tables] == [5, 5]
    assert tables[0].name.endswith("977 KiB files")


def test_files_of_less_than_nothing_are_of_no_size() -> None:
    assert only(sweep(file_bytes=-1.0)).cells == only(sweep()).cells
