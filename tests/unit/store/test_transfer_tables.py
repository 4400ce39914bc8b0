import os
from pathlib import Path

import pytest

from advisor.store.transfer_tables import (
    TransferRow,
    TransferTable,
    pipelining_from_one,
    read_transfer_table,
)

GRID = (
    "FileSize,FileCount,Bandwidth,RTT,BufferSize,Parallelism,Concurrency,Pipelining,Fast,"
    "Throughput,Duration,Date,Time,Source,Destination"
)
STREAMS = (
    "Note,FileSize,FileNumbers,Network,Source,Destination,Bandwidth,RTT,BufferSize,P,CC,PP,FAST,"
    "Throughput,TestBed,Protocol,Version,Dedicated,TransferDuration,CPU,MEM,DiskBW,Power"
)
MIBIT = 2**20


def grid_line(**changes: str) -> str:
    """100 files of 10 MiB in 10 s: 800 Mibit/s, over 10 Gbit/s and 40 ms."""
    fields = {
        "FileSize": "10485760",
        "FileCount": "100",
        "Bandwidth": "10000000000",
        "RTT": "0.04",
        "BufferSize": "33554432",
        "Parallelism": "2",
        "Concurrency": "4",
        "Pipelining": "8",
        "Fast": "0",
        "Throughput": "800",
        "Duration": "10",
        "Date": "2015-04-08",
        "Time": "15:56:00.989789",
        "Source": "Stampede",
        "Destination": "Gordon",
    }
    return ",".join((fields | changes)[name] for name in GRID.split(","))


def streams_line(**changes: str) -> str:
    fields = dict.fromkeys(STREAMS.split(","), "") | {
        "Note": "a study",
        "FileSize": "10485760",
        "FileNumbers": "1",
        "Source": "ws1",
        "Destination": "ws6",
        "Bandwidth": "1000000000",
        "RTT": "0.002",
        "BufferSize": "131071",
        "P": "16",
        "CC": "na",
        "PP": "na",
        "FAST": "OFF",
        "Throughput": "80",
    }
    return ",".join((fields | changes)[name] for name in STREAMS.split(","))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "grid.csv"


def read(path: Path, *lines: str, end: str = "\n") -> TransferTable:
    path.write_bytes("".join(line + end for line in lines).encode())
    return read_transfer_table(path)


def only_row(path: Path, **changes: str) -> TransferRow:
    table = read(path, GRID, grid_line(**changes))
    (row,) = table.rows
    assert table.left_out == {}
    return row


def refused(path: Path, **changes: str) -> dict[str, int]:
    """Why a line is left out that stands beside a good one."""
    table = read(path, GRID, grid_line(), grid_line(**changes))
    assert len(table.rows) == 1
    return table.left_out


def test_a_line_of_a_grid(path: Path) -> None:
    table = read(path, GRID, grid_line())
    assert table.rows == [
        TransferRow(
            file_bytes=10485760,
            file_count=100,
            bandwidth_bps=10e9,
            rtt_s=0.04,
            buffer_bytes=33554432,
            concurrency=4,
            parallelism=2,
            pipelining=8,
            fast="0",
            throughput_bps=800 * MIBIT,
            elapsed_s=10,
            source="Stampede",
            destination="Gordon",
            recorded="2015-04-08",
            note="",
            time="15:56:00.989789",
        )
    ]
    assert (table.repaired, table.left_out) == ({}, {})


def test_a_line_of_parallel_streams(path: Path) -> None:
    table = read(path, STREAMS, streams_line())
    (row,) = table.rows
    assert (row.concurrency, row.parallelism, row.pipelining) == (None, 16, None)
    assert (row.note, row.fast, row.recorded) == ("a study", "OFF", "")
    assert (row.source, row.destination, row.rtt_s) == ("ws1", "ws6", 0.002)
    # 10 MiB at 80 Mibit/s.
    assert (row.throughput_bps, row.elapsed_s) == (80 * MIBIT, 1.0)
    assert table.repaired == {"durations computed from size and throughput": 1}


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends(path: Path, end: str) -> None:
    table = read(path, GRID, grid_line(), grid_line(Concurrency="1"), end=end)
    assert [row.concurrency for row in table.rows] == [4, 1]
    assert table.rows[0].destination == "Gordon"


def test_line_ends_may_be_mixed_and_the_last_missing(path: Path) -> None:
    text = f"{GRID}\r\n{grid_line()}\r{grid_line()}\n\n{grid_line()}"
    path.write_bytes(text.encode())
    assert len(read_transfer_table(path).rows) == 3


def test_columns_are_known_by_name_in_any_order_and_case(path: Path) -> None:
    names = "rtt,THROUGHPUT, file size ,Surplus,pipelining,file_count"
    (row,) = read(path, names, "0.1,80,10485760,x,3,2").rows
    assert (row.rtt_s, row.throughput_bps, row.file_bytes) == (0.1, 80 * MIBIT, 10485760)
    assert (row.pipelining, row.concurrency, row.file_count) == (3, None, 2)
    assert (row.elapsed_s, row.bandwidth_bps, row.source) == (2.0, None, "")


def test_of_two_columns_alike_the_first_counts(path: Path) -> None:
    (row,) = read(path, "FileSize,P,Parallelism,Throughput,Duration", "10,3,5,1,1").rows
    assert row.parallelism == 3


def test_a_byte_order_mark_and_bytes_that_are_no_text(path: Path) -> None:
    line = grid_line(Source="Stamp?de").encode().replace(b"?", b"\xe9")
    path.write_bytes(b"\xef\xbb\xbf" + GRID.encode() + b"\n" + line + b"\n")
    (row,) = read_transfer_table(path).rows
    assert row.file_bytes == 10485760
    assert row.source == "Stamp\N{REPLACEMENT CHARACTER}de"


def test_names_cannot_steer_a_terminal(path: Path) -> None:
    assert only_row(path, Source="\x1b[2JStampede").source == "[2JStampede"


@pytest.mark.parametrize("unknown", ["", "na", "NA", " ", "nan"])
def test_what_is_not_known(path: Path, unknown: str) -> None:
    row = only_row(
        path, Bandwidth=unknown, RTT=unknown, BufferSize=unknown, Concurrency=unknown, Fast=unknown
    )
    assert (row.bandwidth_bps, row.rtt_s, row.buffer_bytes) == (None, None, None)
    assert (row.concurrency, row.parallelism, row.fast) == (None, 2, "")


@pytest.mark.parametrize("damaged", ["x", "-1", "inf", "0"])
def test_a_damaged_fact_of_the_path_is_not_known(path: Path, damaged: str) -> None:
    row = only_row(path, Bandwidth=damaged, RTT=damaged, BufferSize=damaged)
    assert (row.bandwidth_bps, row.rtt_s, row.buffer_bytes) == (None, None, None)


def test_bandwidth_in_mbit_and_buffer_in_mib(path: Path) -> None:
    mixed = grid_line(Bandwidth="10000", BufferSize="32")
    table = read(path, GRID, grid_line(), mixed)
    assert [row.bandwidth_bps for row in table.rows] == [10e9, 10e9]
    assert [row.buffer_bytes for row in table.rows] == [2**25, 2**25]
    assert table.repaired == {"bandwidths in Mbit/s": 1, "buffers in MiB": 1}


def test_the_throughput_is_computed_again(path: Path) -> None:
    rounded, wrong = grid_line(Throughput="803"), grid_line(Throughput="838.8608")
    table = read(path, GRID, grid_line(), rounded, wrong, grid_line(Throughput=""))
    assert {row.throughput_bps for row in table.rows} == {800 * MIBIT}
    assert table.repaired == {
        "throughputs that are not size over duration, recomputed": 1,
        "throughputs computed from size and duration": 1,
    }


@pytest.mark.parametrize("duration", ["", "0"])
def test_without_a_duration_the_throughput_is_taken_as_mibit(path: Path, duration: str) -> None:
    row = only_row(path, Duration=duration)
    assert (row.throughput_bps, row.elapsed_s) == (800 * MIBIT, 10)


def test_without_a_number_of_files_throughput_and_duration_are_taken(path: Path) -> None:
    row = only_row(path, FileCount="na", Duration="7")
    assert (row.throughput_bps, row.elapsed_s, row.file_count) == (800 * MIBIT, 7, None)
    reason = "neither a duration nor a number of files"
    assert refused(path, FileCount="na", Duration="") == {reason: 1}


def test_faster_than_the_link(path: Path) -> None:
    # 800 Mibit/s are 839 Mbit/s: impossible on 0.8 Gbit/s, though it says no more than 800.
    assert refused(path, Bandwidth="800000000") == {"faster than the link": 1}
    assert refused(path, Bandwidth="800") == {"faster than the link": 1}
    # It is the duration that counts, not what is written beside it.
    assert refused(path, Duration="0.1") == {"faster than the link": 1}


def test_what_is_left_out_is_not_counted_as_repaired(path: Path) -> None:
    table = read(path, GRID, grid_line(), grid_line(Bandwidth="800", Time="13:01.2"))
    assert table.repaired == {}


@pytest.mark.parametrize(
    "changes",
    [
        {"Throughput": "0"},
        {"Throughput": "", "Duration": ""},
        {"Throughput": "na", "FileCount": ""},
    ],
)
def test_no_throughput(path: Path, changes: dict[str, str]) -> None:
    assert refused(path, **changes) == {"no throughput": 1}


@pytest.mark.parametrize(
    "changes",
    [
        {"FileSize": ""},
        {"FileSize": "0"},
        {"FileSize": "1e300"},
        {"FileSize": "big"},
        {"FileCount": "1.5"},
        {"FileCount": "-3"},
        {"Throughput": "inf"},
        {"Throughput": "-800"},
        {"Duration": "-10"},
        {"Duration": "1e-320"},
        {"Concurrency": "0"},
        {"Parallelism": "-1"},
        {"Pipelining": "2.5"},
        {"Concurrency": "1e12"},
    ],
)
def test_unreadable(path: Path, changes: dict[str, str]) -> None:
    assert refused(path, **changes) == {"unreadable": 1}


def test_a_line_that_was_cut_short(path: Path) -> None:
    table = read(path, GRID, grid_line(), grid_line()[:30])
    assert len(table.rows) == 1
    assert table.left_out == {"no throughput": 1}


def test_a_quote_that_never_ends_costs_no_more_than_a_part(path: Path) -> None:
    lines = [grid_line()] * 3000
    table = read(path, GRID, '"' + grid_line(), *lines)
    assert table.left_out == {"unreadable": 1}
    # A field holds 128 KiB at most: some 1100 of these lines.
    assert len(table.rows) > 1500


def test_pipelining_may_be_counted_from_zero(path: Path) -> None:
    assert only_row(path, Pipelining="0").pipelining == 0


@pytest.mark.parametrize("time", ["13:01.2", "56:00.9", "25:00:00", "noon"])
def test_damaged_times_of_day_are_counted(path: Path, time: str) -> None:
    table = read(path, GRID, grid_line(Time=time, Concurrency="2"), grid_line(), grid_line(Time=""))
    assert table.repaired == {"damaged times of day, replaced by the order of the lines": 1}
    assert [row.concurrency for row in table.rows] == [2, 4, 4]


def test_headers_amid_the_lines(path: Path) -> None:
    table = read(path, GRID, grid_line(), GRID, grid_line(), STREAMS, streams_line())
    assert [row.parallelism for row in table.rows] == [2, 2, 16]
    assert table.rows[-1].source == "ws1"
    assert table.repaired["headers between the lines"] == 2
    assert table.left_out == {}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"\n\r\n\n", "empty"),
        (b"\x7fELF\x02\x01\x00\x00,\x00", "not text"),
        (GRID.encode("utf-16"), "UTF-8"),
        (b"name,colour\nbird,red\n", "needs the columns FileSize, Throughput"),
        (b"FileSize,Throughput\n1,2\n", "Concurrency, Parallelism"),
        (b"{}", "needs the columns"),
        (GRID.encode(), "nothing follows its header"),
        (f"{GRID}\n{grid_line(Throughput='0')}\n".encode(), "1 no throughput"),
    ],
    ids=[
        "empty",
        "blank lines",
        "binary",
        "UTF-16",
        "other CSV",
        "no parameter",
        "JSON",
        "header alone",
        "no good line",
    ],
)
def test_no_table_at_all(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)
    with pytest.raises(ValueError, match=says) as raised:
        read_transfer_table(path)
    assert str(path) in str(raised.value)
    assert len(str(raised.value).splitlines()) == 1


def test_a_directory_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is a directory"):
        read_transfer_table(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_transfer_table(tmp_path / "missing.csv")


def test_a_file_that_is_too_long(monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    monkeypatch.setattr("advisor.store.transfer_tables._LONGEST_FILE", 1000)
    with pytest.raises(ValueError, match="longer than 1000 B: cut it"):
        read(path, GRID, *[grid_line()] * 20)


def test_a_pipe_without_an_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("advisor.store.transfer_tables._LONGEST_FILE", 1000)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # For reading and writing, which does not wait for another end.
    handle = os.open(pipe, os.O_RDWR)
    try:
        os.write(handle, "\n".join([GRID, *[grid_line()] * 80]).encode())
        with pytest.raises(ValueError, match="longer than 1000 B: cut it"):
            read_transfer_table(pipe)
    finally:
        os.close(handle)


@pytest.fixture
def real() -> Path:
    place = os.environ.get("ADVISOR_DATA")
    if not place:
        pytest.skip("ADVISOR_DATA does not name a directory with real measurements")
    return Path(place)


LOST_HOUR = "damaged times of day, replaced by the order of the lines"
NO_DURATION = "durations computed from size and throughput"


# Counted in the files with awk.
@pytest.mark.parametrize(
    ("name", "rows", "too_fast", "repaired"),
    [
        ("gridftp-grids/SGData.csv", 4315, 5, {}),
        ("gridftp-grids/SBData.csv", 4094, 10, {}),
        ("gridftp-grids/sg1G.csv", 4299, 0, {"bandwidths in Mbit/s": 4299, LOST_HOUR: 4299}),
        ("gridftp-grids/sg5-25M.csv", 9781, 0, {"bandwidths in Mbit/s": 9781}),
        ("parallel-streams/loni.csv", 16758, 0, {NO_DURATION: 13158}),
        ("parallel-streams/didclab.csv", 6839, 0, {NO_DURATION: 6839}),
    ],
)
def test_real_tables(
    real: Path, name: str, rows: int, too_fast: int, repaired: dict[str, int]
) -> None:
    table = read_transfer_table(real / name)
    assert len(table.rows) == rows
    assert table.left_out == ({"faster than the link": too_fast} if too_fast else {})
    assert table.repaired == repaired


def test_where_left_out_lines_stand(path: Path) -> None:
    bad = [grid_line(Throughput="0")] * 5
    table = read(path, GRID, grid_line(), *bad, grid_line(FileSize="?"))
    assert table.left_out == {"no throughput": 5, "unreadable": 1}
    assert table.first_left_out == {"no throughput": [3, 4, 5], "unreadable": [8]}


def test_pipelining_counted_from_nought(path: Path) -> None:
    rows = read(path, GRID, grid_line(Pipelining="0"), grid_line(Pipelining="4")).rows
    assert [row.pipelining for row in pipelining_from_one(rows)] == [1, 5]
    assert [row.pipelining for row in pipelining_from_one(rows[1:])] == [4]
