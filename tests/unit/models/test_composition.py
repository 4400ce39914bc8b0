"""What the subsystems alone let pass, beside what the transfer reaches."""

import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.file_io import DESTINATION_DISK, NETWORK, SOURCE_DISK, TOOL_IN_MEMORY
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.models.composition import compose, limit_words


def _probe(stage: str, setting: Setting, bps: float | None) -> ProbeRecord:
    result: Measurement | Failure = Failure(kind=FailureKind.CRASHED, message="no", elapsed_s=1)
    if bps is not None:
        result = Measurement(
            throughput_bps=bps,
            stderr_bps=0,
            intervals=[],
            steady_from=0,
            settled=True,
            elapsed_s=1,
        )
    pair = Pair("a", "b")
    return ProbeRecord(
        pair=pair, subject=stage, setting=setting, result=result, recorded_s=1, stage=stage
    )


def _threads(count: int) -> Setting:
    return {"threads": count, "request_bytes": 2**20, "direct": 1}


PROBES = [
    _probe(NETWORK, {"streams": 1, "buffer_bytes": 0}, 400e6),
    _probe(NETWORK, {"streams": 4, "buffer_bytes": 0}, 900e6),
    _probe(NETWORK, {"streams": 16, "buffer_bytes": 0}, None),
    _probe(DESTINATION_DISK, _threads(1), 2e9),
    _probe(DESTINATION_DISK, _threads(4), 3e9),
    _probe("globus-url-copy", {"concurrency": 2, "parallelism": 8}, 5e8),
]


def test_the_least_of_the_best_is_what_is_predicted() -> None:
    composition = compose(PROBES, 450e6, {})
    assert composition is not None
    assert [s.what for s in composition.subsystems] == [NETWORK, DESTINATION_DISK]
    assert composition.predicted_bps == 900e6
    assert composition.limiting == NETWORK
    assert composition.reached == pytest.approx(0.5)
    assert composition.subsystems[0].by_flows == {1: 400e6, 4: 900e6}
    assert composition.subsystems[1].setting == _threads(4)
    assert "network alone reaches 900 Mbit/s" in limit_words(composition)
    assert "50%" in limit_words(composition)


def test_what_reaches_it_is_limited_by_it() -> None:
    composition = compose([*PROBES, _probe(SOURCE_DISK, _threads(1), 460e6)], 450e6, {})
    assert composition is not None
    assert (
        limit_words(composition) == "the source disk is the bottleneck: alone it reaches 460 Mbit/s"
    )


def _disk_at(direct: int, bps: float) -> ProbeRecord:
    return _probe(DESTINATION_DISK, _threads(4) | {"direct": direct}, bps)


@pytest.mark.parametrize(("mode", "predicted_bps"), [(1, 7e8), (0, 5e8), (None, 7e8)])
def test_disks_count_in_the_mode_that_is_advised(mode: int | None, predicted_bps: float) -> None:
    network = _probe(NETWORK, {"streams": 4, "buffer_bytes": 0}, 9e9)
    probes = [network, _disk_at(1, 7e8), _disk_at(0, 5e8)]
    composition = compose(probes, 4e8, {} if mode is None else {"direct": mode})
    assert composition is not None
    assert composition.predicted_bps == predicted_bps


def test_disks_of_another_mode_count_where_the_advised_one_was_not_measured() -> None:
    composition = compose([_disk_at(1, 7e8)], 4e8, {"direct": 0})
    assert composition is not None
    assert composition.predicted_bps == 7e8


def test_nothing_alone_is_no_composition() -> None:
    assert compose(PROBES[-1:], 1e9, {}) is None


ADVISED: Setting = {"concurrency": 4, "parallelism": 2}


def _with_tool(bps: float | None, setting: Setting = ADVISED) -> list[ProbeRecord]:
    return [*PROBES, _probe(TOOL_IN_MEMORY, setting, bps)]


def test_the_tool_itself_limits_where_it_is_slower_than_the_network() -> None:
    composition = compose(_with_tool(480e6), 450e6, ADVISED)
    assert composition is not None
    assert composition.predicted_bps == 480e6
    assert composition.limiting == TOOL_IN_MEMORY
    assert limit_words(composition) == (
        "the tool itself is the bottleneck: memory to memory it reaches 480 Mbit/s, of the "
        "network's 900 Mbit/s"
    )


@pytest.mark.parametrize("bps", [850e6, 950e6])
def test_a_tool_about_as_fast_as_the_network_is_limited_by_it(bps: float) -> None:
    composition = compose(_with_tool(bps), 880e6, ADVISED)
    assert composition is not None
    assert composition.limiting == NETWORK
    assert limit_words(composition) == "the network is the bottleneck: alone it reaches 900 Mbit/s"


def test_the_tool_counts_at_the_advised_setting() -> None:
    probes = [*_with_tool(700e6, {"concurrency": 1, "parallelism": 1}), *_with_tool(600e6)]
    composition = compose(probes, 450e6, ADVISED)
    assert composition is not None
    assert composition.predicted_bps == 600e6


def test_a_part_that_was_not_measured_says_why() -> None:
    absent = {SOURCE_DISK: "fio is not installed", DESTINATION_DISK: "no room"}
    composition = compose(_with_tool(None), 450e6, ADVISED, absent=absent)
    assert composition is not None
    assert [s.what for s in composition.subsystems] == [NETWORK, DESTINATION_DISK]
    assert composition.absent == {SOURCE_DISK: "fio is not installed", TOOL_IN_MEMORY: "no"}
