"""Exported histories and profiles from somebody else: damaged, changed, or made to harm."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from advisor.store.exporters import write_csv, write_sealed
from advisor.store.importers import BadEntry, read_file
from advisor.store.importers.own_records import seal_of
from tests.unit.store.conftest import make_a_probe, make_a_session

SEALED = gzip.decompress(write_sealed([make_a_probe(), make_a_session("s", 5.0)], "advisor 1"))
LINES = SEALED.decode().splitlines(keepends=True)
PROBE = json.loads(LINES[1])


def refused(file: Path) -> list[str]:
    """Why each entry is refused; fails if anything is taken."""
    entries = list(read_file(file))
    assert entries
    assert all(isinstance(one, BadEntry) for one in entries), entries
    return [f"{one.place} {one.why}" for one in entries if isinstance(one, BadEntry)]


@pytest.mark.parametrize(
    "text",
    [
        LINES[0] + LINES[2] + LINES[1],
        LINES[0] + LINES[1],
        LINES[0] + LINES[1] + LINES[2] + LINES[2],
        LINES[0] + LINES[1].replace("1000000000", "9000000000") + LINES[2],
        LINES[0].replace('"records":2', '"records":1') + LINES[1] + LINES[2],
        LINES[0].replace('"format":1', '"format":2') + LINES[1] + LINES[2],
        LINES[0].replace('"format":1', '"format":"1"') + LINES[1] + LINES[2],
        LINES[0].replace("advisor profile", "another thing") + LINES[1] + LINES[2],
        LINES[0],
    ],
)
def test_nothing_is_taken_of_a_sealed_file_that_was_changed(tmp_path: Path, text: str) -> None:
    file = tmp_path / "it.gz"
    file.write_bytes(gzip.compress(text.encode()))
    assert len(refused(file)) == 1


@pytest.mark.parametrize("length", range(1, 200, 17))
def test_nothing_is_taken_of_one_that_was_cut(tmp_path: Path, length: int) -> None:
    file = tmp_path / "it.gz"
    file.write_bytes(write_sealed([make_a_probe()], "advisor 1")[:-length])
    assert len(refused(file)) == 1


def changed(**fields: Any) -> str:
    result = {k: v for k, v in fields.items() if k in PROBE["result"]}
    rest = {k: v for k, v in fields.items() if k not in result}
    return json.dumps(PROBE | rest | {"result": PROBE["result"] | result}) + "\n"


@pytest.mark.parametrize(
    "line",
    [
        changed(subject="tcp\x1b[2J"),
        changed(label="a\u202eb"),
        changed(pair={"source": "a\x07", "destination": "b"}),
        changed(setting={"x\x1b]0;": 1}),
        changed(throughput_bps=-1.0),
        changed(throughput_bps=1e16),
        changed(stderr_bps=-5.0),
        changed(recorded_s=1e300),
        changed(recorded_s=-1.0),
        changed(throughput_bps="fast"),
        changed(intervals=[[0, 1, "x"]]),
        changed(record="command"),
        changed(method_state="x" * 2**20),
        changed(setting={"a": {"b": 1}}),
        changed(setting={"streams": 2**64}),
        changed(setting={"streams": -(10**400)}),
        changed(setting={"streams": 1e300}),
        changed(granted={"send": 2**64}),
        changed(intervals=[[0, 1, 2**64]]),
        changed(seed=2**62 + 1),
        changed(method_state={"iteration": [2**64]}),
        changed(intervals=[[0, 1e308, 1]]),
        changed(intervals=[[0, 1, 1], [-1, 2, 1]]),
        changed(intervals=[[1, 0, 1]]),
        changed(intervals=[[1, 2, 1], [0, 1, 1]]),
        changed(elapsed_s=1e300),
        changed(elapsed_s=-1.0),
        changed(stderr_bps=1e300),
        changed(rtt_s=1e300),
        changed(bandwidth_bps=1e300),
        '{"record":"transfer","pair":{"source":"a","destination":"b"},"recorded_s":1.0,'
        '"session":"s","total_bytes":1,"elapsed_s":1e-320}\n',
        '{"record":"transfer","pair":{"source":"a","destination":"b"},"recorded_s":1.0,'
        f'"session":"s","total_bytes":{2**64},"elapsed_s":1.0}}\n',
        '{"record":"probe"}\n',
        '{"record":"probe",' + '"a":[' * 5000 + "]" * 5000 + "}\n",
        '{"record":"profile","session":"s","pair":{"source":"a","destination":"b"},'
        '"recorded_s":1.0,"name":"n","grids":[{"subject":"tcp","axes":['
        + ",".join(['{"name":"a","values":[' + ",".join(map(str, range(1000))) + "]}"] * 3)
        + "]}]}\n",
    ],
)
@pytest.mark.parametrize("is_sealed", [True, False])
def test_what_no_advisor_recorded_is_refused_with_its_line(
    tmp_path: Path, line: str, is_sealed: bool
) -> None:
    file = tmp_path / "file"
    file.write_text((seal_of(line, 1, "advisor 1") if is_sealed else "") + line)
    (why,) = refused(file)
    assert why.isprintable()


def test_a_request_of_somebody_else_is_never_resumed(tmp_path: Path) -> None:
    session = json.loads(LINES[2]) | {"request": {"agent_command": "rm -rf ~"}}
    profile = {
        "record": "profile",
        "session": "s",
        "pair": session["pair"],
        "recorded_s": 1.0,
        "name": "n",
        "request": {"agent_command": "rm -rf ~"},
    }
    file = tmp_path / "file"
    file.write_text(json.dumps(session) + "\n" + json.dumps(profile) + "\n")
    requests = [getattr(one, "request", None) for one in read_file(file)]
    assert requests == [{}, {}]


def test_no_row_of_a_table_has_an_integer_without_bounds(tmp_path: Path) -> None:
    write_csv([make_a_probe(seed=7)], stream := io.StringIO())
    head, row = stream.getvalue().splitlines()
    for cell, changed_to in ((",7,", f",{2**64},"), ('""streams"":4', f'""streams"":{2**64}')):
        file = tmp_path / "file.csv"
        assert cell in row
        file.write_text(f"{head}\n{row.replace(cell, changed_to)}\n")
        refused(file)


def test_no_other_program_has_recorded_an_integer_without_bounds(tmp_path: Path) -> None:
    whole = {"start": 0, "end": 10, "seconds": 10, "bytes": 10**9}
    result = {
        "start": {
            "connected": [{"local_host": "192.0.2.1", "remote_host": "192.0.2.2"}],
            "timestamp": {"timesecs": 1600000000},
            "connecting_to": {"host": "dtn2"},
            "sock_bufsize": 2**64,
            "test_start": {"protocol": "TCP", "num_streams": 1},
        },
        "intervals": [],
        "end": {"streams": [], "sum_sent": whole, "sum_received": whole},
    }
    file = tmp_path / "file.json"
    file.write_text(json.dumps(result))
    assert "out of range" in refused(file)[0]


@pytest.mark.parametrize(
    "row",
    ["", "x", '"', ",".join(["x"] * 30), ",".join([""] * 29) + ',"{""a"":1}"', "\x00" * 40],
)
def test_a_damaged_row_of_a_table_is_refused(tmp_path: Path, row: str) -> None:
    from advisor.store.probe_rows import CSV_COLUMNS

    file = tmp_path / "file.csv"
    file.write_text(",".join(CSV_COLUMNS) + "\n" + row + "\n")
    found = list(read_file(file))
    assert all(isinstance(one, BadEntry) for one in found)


@pytest.mark.parametrize("field", ["file_bytes", "files", "bandwidth_bps"])
def test_less_than_nothing_is_refused(tmp_path: Path, field: str) -> None:
    file = tmp_path / "it.jsonl"
    file.write_text(json.dumps(PROBE | {field: -1}) + "\n")
    [why] = refused(file)
    assert "less than nothing" in why
