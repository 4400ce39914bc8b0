"""Throughput results of pScheduler, by the fields that its schema allows."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from advisor.cli.main import main
from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.store.pscheduler import line_of

_Count = Annotated[int, msgspec.Meta(ge=0)]
_Duration = Annotated[str, msgspec.Meta(pattern=r"^PT[0-9]+(\.[0-9]+)?S$")]


class Data(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    """`throughput-data` of the schema of results, version 1."""

    start: float
    end: float
    throughput_bits: float
    throughput_bytes: float
    receiver_throughput_bits: float | None = None
    sent: int | None = None
    lost: int | None = None
    jitter: float | None = None
    stream_id: str | int = ""
    rtt: float | None = None
    tcp_window_size: int | None = None
    retransmits: int | None = None
    omitted: bool = False


class Part(msgspec.Struct, forbid_unknown_fields=True):
    streams: list[Data]
    summary: Data | None = None


class Result(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    """The schema of results, version 1."""

    succeeded: bool
    diags: str
    intervals: list[Part]
    summary: Part
    schema: Literal[1] = 1
    error: str = ""
    mss: int = 0
    mtu: int = 0
    tcp_window_size: int = 0
    requested_tcp_window_size: int = 0


class Spec(msgspec.Struct, forbid_unknown_fields=True, rename="kebab"):
    """What is used of the schema of a test's specification, version 4."""

    schema: Literal[4]
    source: str
    dest: str
    duration: _Duration
    parallel: Annotated[int, msgspec.Meta(ge=1)]
    window_size: Annotated[int, msgspec.Meta(ge=1)] | None = None
    congestion: Annotated[str, msgspec.Meta(min_length=1)] | None = None


def probe(result: Any = None, **changes: Any) -> ProbeRecord:
    measured = Measurement(
        throughput_bps=8e9,
        stderr_bps=1e8,
        intervals=[
            Interval(0.0, 0.5, 125_000_000),
            Interval(0.5, 1.0, 500_000_000),
            Interval(1.0, 1.5, 500_000_000),
        ],
        steady_from=1,
        settled=True,
        elapsed_s=2.25,
        retransmits=7,
        rtt_s=0.0456,
    )
    one = ProbeRecord(
        pair=Pair("dtn01.example.org", "192.0.2.9"),
        subject="tcp",
        setting={"streams": 4, "buffer_bytes": 33554432, "congestion": "cubic"},
        result=result or measured,
        recorded_s=1_760_000_000.5,
        session="s1",
        mtu_bytes=9000,
    )
    return msgspec.structs.replace(one, **changes)


def document(one: ProbeRecord) -> dict[str, Any]:
    line = line_of(one, "1.2.3")
    assert line is not None
    assert "\n" not in line
    found: dict[str, Any] = json.loads(line)
    assert found["test"]["type"] == "throughput"
    msgspec.convert(found["test"]["spec"], Spec)
    msgspec.convert(found["result"], Result)
    return found


def test_a_probe_is_what_an_archiver_of_pscheduler_gets() -> None:
    found = document(probe())
    assert found["tool"] == {"name": "advisor", "version": "1.2.3"}
    assert found["participants"] == ["dtn01.example.org", "192.0.2.9"]
    assert found["test"]["spec"]["parallel"] == 4
    assert found["test"]["spec"]["window-size"] == 33554432
    ended = datetime.fromisoformat(found["run"]["end-time"])
    began = datetime.fromisoformat(found["schedule"]["start"])
    assert ended.timestamp() == 1_760_000_000.5
    assert (ended - began).total_seconds() == 2.25
    assert found["schedule"]["duration"] == "PT2.25S"


def test_the_summary_is_over_the_steady_part_and_the_rest_is_omitted() -> None:
    result = msgspec.convert(document(probe())["result"], Result)
    summary = result.summary.summary
    assert summary is not None
    assert (summary.start, summary.end) == (0.5, 1.5)
    assert summary.throughput_bits == summary.receiver_throughput_bits == 8e9
    kept = [one.summary for one in result.intervals if one.summary and not one.summary.omitted]
    assert summary.throughput_bytes == sum(one.throughput_bytes for one in kept) == 1e9
    assert len(result.intervals) == 3
    assert (summary.retransmits, summary.rtt) == (7, 45600)
    assert (result.mtu, result.requested_tcp_window_size) == (9000, 33554432)


def test_a_failure_says_why() -> None:
    failure = Failure(kind=FailureKind.TIMED_OUT, message="nothing came", elapsed_s=3.0)
    result = msgspec.convert(document(probe(failure))["result"], Result)
    assert not result.succeeded
    assert result.error == "nothing came"


def test_buffers_of_the_kernel_have_no_size() -> None:
    found = document(probe(setting={"streams": 1, "buffer_bytes": 0}))
    assert "window-size" not in found["test"]["spec"]


@pytest.mark.parametrize(
    "changes",
    [
        {"subject": "udt"},
        {"setting": {"streams": 1, "concurrency": 4}},
        {"pair": Pair("localhost", "lab:wide")},
        {"pair": Pair("me@here", "there")},
    ],
)
def test_what_the_format_does_not_have_is_left_out(changes: dict[str, Any]) -> None:
    assert line_of(probe(**changes), "1") is None


def test_identities_tell_probes_apart() -> None:
    found = {document(probe(recorded_s=1e9 + n))["id"] for n in (1, 2, 1)}
    assert len(found) == 2


def test_a_history_is_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = Store(tmp_path / "history")
    for one in (probe(), probe(recorded_s=1_760_000_100.0), probe(subject="udt")):
        store.append(one)
    with pytest.raises(SystemExit) as ended:
        main(["history", "export", "--format", "pscheduler", "--store", store.argument])
    printed = capsys.readouterr()
    assert ended.value.code == 0
    results = [json.loads(line)["result"] for line in printed.out.splitlines()]
    assert [one["succeeded"] for one in results] == [True, True]
    assert "left out 1 probes that this format cannot hold" in printed.err
