"""When files that begin one after another are named as the limit."""

from advisor.advising.turns import turns_words
from advisor.domain.dataset import Dataset, Work
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.runtime.request import AdviceRequest

FILES = 1000
SIZE = 30_000
DATASET = Dataset(total_bytes=SIZE * FILES, path="/d", files=FILES, largest="a", largest_bytes=SIZE)
REQUEST = AdviceRequest(
    destination=Endpoint("dtn"), tool="rclone", dataset=DATASET, server_url="sftp://dtn"
)


def _probe(concurrency: int, files: int, seconds: float) -> ProbeRecord:
    work = Work.of_sizes([SIZE] * files)
    measured = Measurement(
        throughput_bps=work.total_bytes * 8 / seconds,
        stderr_bps=1e5,
        intervals=[Interval(0.0, seconds - 1, work.total_bytes)],
        steady_from=0,
        settled=True,
        elapsed_s=seconds,
        work=work,
    )
    return ProbeRecord(
        pair=Pair("a", "b"),
        subject="rclone",
        setting={"concurrency": concurrency, "parallelism": 1},
        result=measured,
        recorded_s=1,
        rtt_s=0.09,
    )


def test_turns_that_take_most_of_the_time_are_named() -> None:
    # 5 s of logins, and then a round trip for each file, however many are moved at a time.
    probes = [_probe(c, files, 5 + 0.09 * files) for c in (8, 16, 64) for files in (100, 300)]
    words = turns_words(REQUEST, probes, 95.0)
    assert "1000 of them take at least 1 min" in words
    assert "another tool" in words
    assert turns_words(REQUEST, probes, None) == ""


def test_files_that_more_at_a_time_hide_are_not() -> None:
    probes = [_probe(c, files, 5 + 1.6 * files / c) for c in (8, 16, 64) for files in (100, 300)]
    assert turns_words(REQUEST, probes, 30.0) == ""
    assert turns_words(AdviceRequest(destination=Endpoint("dtn")), probes, 30.0) == ""


def test_one_number_of_files_at_a_time_does_not_show_turns() -> None:
    probes = [_probe(8, files, 5 + 0.09 * files) for files in (100, 300)]
    assert turns_words(REQUEST, probes, 95.0) == ""
