"""What probes are worth for the advice."""

import msgspec
import pytest

from advisor.advising.judging import comparable, comparable_outcome, whole_error
from advisor.domain.dataset import Dataset, Work
from advisor.domain.endpoints import Endpoint, Pair
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.runtime.request import AdviceRequest

HERE = Endpoint("localhost")
TOOL = "globus-url-copy"
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
    assert comparable_outcome(request, [], "tcp", {}, _measured()) == _measured()


def test_of_files_a_probe_of_an_earlier_version_counts_as_the_whole() -> None:
    # 10 s of data and 2.5 s beside it.
    found = comparable_outcome(OF_FILES, [], TOOL, {}, _measured(2.5))
    assert isinstance(found, Measurement)
    assert found.throughput_bps == pytest.approx(6.4e8)
    assert found.stderr_bps == pytest.approx(6.4e6)


def test_of_files_only_the_tool_is_compared() -> None:
    failure = Failure(kind=FailureKind.RESET, message="no", elapsed_s=1)
    assert comparable_outcome(OF_FILES, [], "tcp", {}, _measured()) is None
    assert comparable_outcome(OF_FILES, [], "source disk", {}, _measured()) is None
    assert comparable_outcome(OF_FILES, [], TOOL, {}, failure) == failure
    probes = [
        ProbeRecord(pair=Pair("a", "b"), subject=s, setting={}, result=r, recorded_s=1)
        for s, r in (("tcp", _measured()), ("globus-url-copy", _measured(0.0)))
    ]
    [kept] = comparable(OF_FILES, probes)
    assert kept.subject == "globus-url-copy"


def _slice(setting: Setting, files: int, seconds: float, *, cut: bool = False) -> Measurement:
    work = Work.of_sizes([10**6] * files, is_cut=cut)
    flowing = [Interval(0.0, seconds - 1.0, files * 10**6)]
    return msgspec.structs.replace(_measured(), elapsed_s=seconds, work=work, intervals=flowing)


def test_of_files_a_slice_counts_as_the_whole_with_its_start_once() -> None:
    bins = ((19, 1000, 10**9),)
    files = Dataset(total_bytes=10**9, path="/x", files=1000, largest_bytes=10**6, sizes=bins)
    request = msgspec.structs.replace(OF_FILES, dataset=files)
    one: Setting = {"concurrency": 1, "parallelism": 1}
    # 1 s of start and 0.1 s for each file, whether a probe was stopped or not.
    probes = [
        ProbeRecord(
            pair=Pair("a", "b"),
            subject=TOOL,
            setting=one,
            result=_slice(one, files, 1.0 + 0.1 * files, cut=cut),
            recorded_s=1,
            rtt_s=0.03,
        )
        for files, cut in ((20, False), (40, False), (80, True))
    ]
    for kept in comparable(request, probes):
        assert isinstance(kept.result, Measurement)
        assert 8e9 / kept.result.throughput_bps == pytest.approx(101.0, rel=0.06)
        assert 0 < kept.result.stderr_bps < 0.2 * kept.result.throughput_bps
    compared = comparable(request, probes)
    error = whole_error(request, compared, TOOL, one)
    assert 0.03 < error < 0.2
    whole = _slice(one, 1000, 101.0)
    moved = msgspec.structs.replace(probes[0], result=whole)
    assert whole_error(request, comparable(request, [*probes, moved]), TOOL, one) < error / 2
    assert whole_error(request, compared, TOOL, {"concurrency": 2}) == 0.0
