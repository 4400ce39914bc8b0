"""What probes are worth for the advice."""

import pytest

from advisor.advising.judging import comparable, comparable_outcome
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.records import ProbeRecord
from advisor.runtime.request import AdviceRequest

HERE = Endpoint("localhost")
OF_FILES = AdviceRequest(
    destination=HERE, tool="globus-url-copy", dataset=Dataset(total_bytes=10**9, path="/x")
)


def _measured(overhead_s: float | None = None) -> Measurement:
    return Measurement(
        throughput_bps=8e8,
        stderr_bps=8e6,
        intervals=[],
        steady_from=0,
        settled=True,
        elapsed_s=2,
        overhead_s=overhead_s,
    )


def test_between_memories_all_count_as_they_are() -> None:
    request = AdviceRequest(destination=HERE)
    assert comparable_outcome(request, "tcp", _measured()) == _measured()


def test_of_files_a_slice_counts_as_the_whole() -> None:
    # 10 s of data and 2.5 s beside it.
    found = comparable_outcome(OF_FILES, "globus-url-copy", _measured(2.5))
    assert isinstance(found, Measurement)
    assert found.throughput_bps == pytest.approx(6.4e8)
    assert found.stderr_bps == pytest.approx(6.4e6)


def test_of_files_only_the_tool_is_compared() -> None:
    failure = Failure(kind=FailureKind.RESET, message="no", elapsed_s=1)
    assert comparable_outcome(OF_FILES, "tcp", _measured()) is None
    assert comparable_outcome(OF_FILES, "source disk", _measured()) is None
    assert comparable_outcome(OF_FILES, "globus-url-copy", failure) == failure
    probes = [
        ProbeRecord(pair=Pair("a", "b"), subject=s, setting={}, result=r, recorded_s=1)
        for s, r in (("tcp", _measured()), ("globus-url-copy", _measured(0.0)))
    ]
    [kept] = comparable(OF_FILES, probes)
    assert kept.subject == "globus-url-copy"
