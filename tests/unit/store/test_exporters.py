import csv
import io
from collections.abc import Callable

import msgspec

from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.records import AdviceRecord, ProbeRecord, Record
from advisor.store.exporters import (
    CSV_COLUMNS,
    write_csv,
    write_jsonl,
    write_markdown,
)

FAILURE = Failure(kind=FailureKind.TIMED_OUT, message="nothing, came", elapsed_s=3.0)


def _written(write: Callable[..., None], records: list[Record]) -> str:
    stream = io.StringIO()
    write(iter(records), stream)
    return stream.getvalue()


def test_json_lines_are_the_records(
    make_probe: Callable[..., ProbeRecord], make_advice: Callable[..., AdviceRecord]
) -> None:
    records: list[Record] = [
        make_probe(),
        make_advice("s", 5.0),
        make_probe(result=FAILURE),
    ]
    lines = _written(write_jsonl, records).splitlines()
    assert [msgspec.json.decode(line, type=Record) for line in lines] == records


def test_csv_has_one_row_per_probe(
    make_probe: Callable[..., ProbeRecord], make_advice: Callable[..., AdviceRecord]
) -> None:
    text = _written(
        write_csv, [make_probe(rtt_s=0.05), make_advice("s", 5.0), make_probe(result=FAILURE)]
    )
    measured, failed = csv.DictReader(io.StringIO(text))
    assert tuple(measured) == CSV_COLUMNS
    assert measured["recorded_utc"] == "1970-01-01T00:16:40Z"
    assert measured["throughput_bps"] == "1000000000.0"
    assert (measured["streams"], measured["block_bytes"]) == ("4", "")
    assert measured["setting_json"] == '{"buffer_bytes":4194304,"streams":4}'
    assert measured["rtt_s"] == "0.05"
    assert (failed["outcome"], failed["failure"]) == ("failed", "timed out: nothing, came")
    assert failed["throughput_bps"] == ""
    assert "\r" not in text


def test_csv_of_nothing_is_its_columns() -> None:
    assert _written(write_csv, []) == ",".join(CSV_COLUMNS) + "\n"


def test_markdown_is_one_table(make_probe: Callable[..., ProbeRecord]) -> None:
    odd = make_probe(result=FAILURE, setting={"congestion": "a|b\nc"})
    lines = _written(write_markdown, [make_probe(), odd]).splitlines()
    assert len(lines) == 4
    assert "| 1.00 Gbit/s |" in lines[2].replace("1 Gbit/s", "1.00 Gbit/s")
    assert "4 streams, 4 MiB buffers" in lines[2]
    assert "a\\|b c" in lines[3]
    assert "failed: timed out" in lines[3]
