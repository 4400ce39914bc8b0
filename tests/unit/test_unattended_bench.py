"""What the bench of a fleet without anybody calls lost, and what two probes at one host."""

from pathlib import Path

import msgspec
import pytest

from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from tests.benchmarks.fleet.unattended.checking import (
    Span,
    at_once,
    missing,
    noted,
    probe_spans,
)
from tests.benchmarks.fleet.unattended.document import tables
from tests.benchmarks.fleet.unattended.results import Found, Results, UnattendedRun
from tests.benchmarks.fleet.unattended.worker import Acknowledged
from tests.benchmarks.wan.results import Machine
from tests.unit.store.conftest import make_a_probe

GOOD = Found(
    attempts={"done": 3, "failed": 1},
    failures={"no | answer": 1},
    acknowledged=9,
    spooled=2,
    lost=0,
    waiting=0,
    probes=9,
    probes_at_once=0,
    attempts_at_once=0,
    pairs=2,
    covered=1,
    named={"a->b": "b is down"},
)


def run_with(**changes: object) -> UnattendedRun:
    return UnattendedRun(
        when="now",
        commit="abc",
        seed=1,
        hosts=2,
        workers=1,
        duration_s=60.0,
        load_1min=1.5,
        troubles={"a worker was killed with kill -9": 2},
        found=msgspec.structs.replace(GOOD, **changes),
    )


def test_a_record_that_is_not_stored_as_it_was_acknowledged_is_lost() -> None:
    first, second = make_a_probe(recorded_s=1.0), make_a_probe(recorded_s=2.0)
    changed = msgspec.structs.replace(second, setting={"streams": 99})
    assert missing([first, second], [second, first]) == []
    assert missing([first, second], [first, changed]) == [second]
    assert missing([first], []) == [first]


def test_the_unfinished_line_of_a_killed_worker_is_no_record(tmp_path: Path) -> None:
    record = make_a_probe(recorded_s=1.0)
    line = msgspec.json.encode(Acknowledged(record, spooled=True)) + b"\n"
    (tmp_path / "1").write_bytes(line + line[:40])
    (tmp_path / "2").write_bytes(line)
    assert [(one.record, one.spooled) for one in noted(tmp_path)] == [(record, True)] * 2


def test_a_probe_lasts_from_its_begin_to_its_record_at_both_hosts() -> None:
    probe = make_a_probe(recorded_s=100.0, session="s")
    assert isinstance(probe, ProbeRecord)
    assert isinstance(probe.result, Measurement)
    began_s = 100.0 - probe.result.elapsed_s
    hosts = (probe.pair.source, probe.pair.destination)
    assert list(probe_spans([probe])) == [Span(host, began_s, 100.0, "s") for host in hosts]


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (Span("a", 1.0, 2.0, "y"), 0),
        (Span("a", 0.9, 2.0, "y"), 1),
        (Span("a", 0.9, 2.0, "x"), 0),
        (Span("b", 0.9, 2.0, "y"), 0),
        (Span("a", 0.2, 0.3, "y"), 1),
    ],
)
def test_what_overlaps_at_one_host_and_is_not_the_same(other: Span, found: int) -> None:
    assert len(at_once([Span("a", 0.0, 1.0, "x"), other])) == found


def test_what_lies_between_hides_nothing() -> None:
    spans = [Span("a", 0.0, 9.0, "x"), Span("a", 1.0, 2.0, "x"), Span("a", 3.0, 4.0, "y")]
    assert at_once(spans) == [(spans[0], spans[2])]


@pytest.mark.parametrize(
    ("changes", "passed"),
    [
        ({}, True),
        ({"lost": 1}, False),
        ({"waiting": 1}, False),
        ({"probes_at_once": 1}, False),
        ({"attempts_at_once": 1}, False),
        ({"named": {"a->b": ""}}, False),
        ({"covered": 2, "named": {}}, True),
    ],
)
def test_what_a_run_has_to_show(changes: dict[str, object], *, passed: bool) -> None:
    assert run_with(**changes).passed == passed


def test_the_page_says_what_happened(tmp_path: Path) -> None:
    results = Results(tmp_path / "runs.jsonl")
    results.add(
        Machine(
            when="now",
            command="python -m x",
            quick=False,
            kernel="6",
            processor="P",
            cores=2,
            memory_bytes=2**34,
            load_1min=1.0,
            hosts_congestion="bbr",
            versions={},
        )
    )
    results.add(run_with())
    results.add(run_with(lost=3))
    text = tables(results)
    assert text.count("| passed |") == 1
    assert text.count("| **failed** |") == 1
    assert "| no / answer | 1 |" in text
    assert "| a->b | b is down |" in text
    assert "2 runs." in text
