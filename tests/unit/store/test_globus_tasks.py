"""Tasks of the Globus service, as its command line prints them. Figures of our own."""

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.store.history import Store
from advisor.store.importers import BadEntry, read_file

TASK = {
    "DATA_TYPE": "task",
    "bytes_checksummed": 0,
    "bytes_transferred": 90_000_000_000,
    "completion_time": "2026-04-01T19:40:07+00:00",
    "destination_endpoint_display_name": "Site B (scratch)",
    "destination_endpoint_id": "83567b16-478d-4ead-a486-645bab0b07dc",
    "effective_bytes_per_second": 150_000_000,
    "faults": 0,
    "files": 320,
    "files_transferred": 300,
    "nice_status": None,
    "request_time": "2026-04-01T19:30:07+00:00",
    "source_endpoint_display_name": "Site A",
    "source_endpoint_id": "dc8e1110-b698-11eb-afd7-e1e7a67e00c1",
    "status": "SUCCEEDED",
    "task_id": "5a4d9f1e-0000-11f1-9bba-0242ac110002",
    "type": "TRANSFER",
}


def imported(
    folder: Path, content: object, pair: Pair | None = None
) -> list[ProbeRecord | BadEntry]:
    file = folder / "tasks.json"
    file.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return [one for one in read_file(file, pair) if isinstance(one, ProbeRecord | BadEntry)]


def task(**changes: object) -> dict[str, Any]:
    return TASK | changes


def test_a_task_is_a_transfer_of_its_whole_time(tmp_path: Path) -> None:
    [record] = imported(tmp_path, {"DATA": [TASK]})
    assert isinstance(record, ProbeRecord)
    assert record.pair == Pair("Site A", "Site B (scratch)")
    assert (record.subject, record.setting, record.origin) == ("globus", {}, "globus-tasks")
    assert isinstance(record.result, Measurement)
    assert record.result.throughput_bps == 8 * TASK["effective_bytes_per_second"]  # type: ignore[operator] # a number
    assert record.result.elapsed_s == 600
    assert record.recorded_s == 1775072407
    assert (record.files, record.file_bytes) == (300, 3e8)


@pytest.mark.parametrize(
    "content",
    [{"DATA": [TASK]}, {"DATA_TYPE": "task_list", "DATA": [TASK], "length": 1}, TASK],
    ids=["the list", "that of the API", "one task"],
)
def test_each_form_is_the_same_transfer(tmp_path: Path, content: object) -> None:
    pair = Pair("dtn1", "dtn2")
    [record] = imported(tmp_path, content, pair)
    assert isinstance(record, ProbeRecord)
    assert record.pair == pair
    store = Store(tmp_path / "history", cache=tmp_path / "cache")
    assert store.append_missing([record]) == 1
    assert store.append_missing(imported(tmp_path, {"DATA": [TASK]}, pair)) == 0  # type: ignore[arg-type] # records


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"status": "ACTIVE", "completion_time": None}, "has not succeeded: its status is ACTIVE"),
        ({"status": "FAILED"}, "its status is FAILED"),
        ({"type": "DELETE"}, "no transfer but DELETE"),
        ({"bytes_transferred": 0}, "no bytes were moved"),
        ({"completion_time": TASK["request_time"]}, "took less than 1 s"),
        ({"completion_time": "2026-04-01T19:00:00+00:00"}, "took less than 1 s"),
        ({"request_time": "1969-04-01T19:00:00+00:00"}, "exceed all limits"),
        (
            {"request_time": "9026-04-01T19:30:07Z", "completion_time": "9026-04-01T19:40:07Z"},
            "exceed all limits",
        ),
        ({"request_time": "yesterday"}, "not a task of Globus"),
        ({"bytes_transferred": -5}, "not a task of Globus"),
        ({"bytes_transferred": 2**70}, "not a task of Globus"),
        ({"status": "S\x1b]52;c;eA\x07"}, "has not succeeded"),
        (
            {"source_endpoint_display_name": None, "source_endpoint_id": None},
            "name hosts with --pair",
        ),
        ({"source_endpoint_display_name": "a\x1b[31mb"}, "control characters"),
    ],
)
def test_what_is_not_imported_is_named(
    tmp_path: Path, changes: dict[str, object], why: str
) -> None:
    refused, taken = imported(tmp_path, {"DATA": [task(**changes), TASK]})
    assert isinstance(taken, ProbeRecord)
    assert isinstance(refused, BadEntry)
    assert refused.place == "task 1"
    assert why in refused.why
    assert "\x1b" not in refused.why


@pytest.mark.parametrize(
    "text",
    ['{"DATA": [{"task_id": "x"', '{"DATA": 5}', '{"DATA": ' + "[" * 5000 + "]" * 5000 + "}"],
    ids=["cut short", "no list", "nested"],
)
def test_what_is_no_such_list_is_one_sentence(tmp_path: Path, text: str) -> None:
    [refused] = imported(tmp_path, text)
    assert isinstance(refused, BadEntry)
    assert "globus task list" in refused.why


def test_a_collection_without_a_name_is_its_id(tmp_path: Path) -> None:
    [record] = imported(tmp_path, {"DATA": [task(source_endpoint_display_name=None)]})
    assert isinstance(record, ProbeRecord)
    assert record.pair.source == TASK["source_endpoint_id"]
