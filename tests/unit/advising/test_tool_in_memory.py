"""The time of measuring a tool from memory to memory, at the end of a session."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from advisor import registry
from advisor.advising import tool_in_memory
from advisor.advising.disk_to_disk import DiskToDisk
from advisor.advising.tool_in_memory import MemoryProber
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import Interval, Measurement
from advisor.probing.transfer import Ran
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_path

REQUEST = AdviceRequest(
    destination=Endpoint("dtn2"), tool="globus-url-copy", server_url="ftp://dtn2:2811"
)


def _prober(left_s: Callable[[], float]) -> MemoryProber:
    tool = registry.transfer_tool("globus-url-copy")
    return MemoryProber(tool, REQUEST, a_path(rtt_s=0.01), left_s)


@pytest.mark.asyncio
@pytest.mark.parametrize(("left_share", "expected_share"), [(5.0, 1.0), (0.8, 0.8), (0.1, 0.5)])
async def test_a_probe_is_shorter_where_less_time_is_left(
    monkeypatch: pytest.MonkeyPatch, left_share: float, expected_share: float
) -> None:
    limits: list[float] = []

    async def run(*_step: Any, ceiling_s: float, **_options: Any) -> Ran:
        limits.append(ceiling_s)
        intervals = [Interval(n / 10, (n + 1) / 10, 10**6) for n in range(10)]
        return Ran(
            status=None,
            intervals=intervals,
            moved_bytes=10**7,
            begun_s=0.1,
            elapsed_s=ceiling_s,
            retransmits=None,
            rtt_s=None,
            output="",
            errors="",
        )

    monkeypatch.setattr(tool_in_memory, "run_transfer", run)
    usual_s = _prober(lambda: 0.0).next_probe_s()
    prober = _prober(lambda: left_share * usual_s)
    link: Any = None  # This tool has no step at the destination.
    watcher: Any = SimpleNamespace(interval=lambda _interval: None)
    probed = await prober.measure(link, {"parallelism": 2, "concurrency": 1}, watcher)
    assert isinstance(probed.outcome, Measurement)
    assert limits == [pytest.approx(expected_share * usual_s)]


@pytest.mark.parametrize("left_s", [200.0, 40.0, 15.0, 8.0, 1.0])
def test_the_closing_comparison_may_overrun_and_leaves_time_for_it(left_s: float) -> None:
    context: Any = SimpleNamespace(budget=SimpleNamespace(left_s=left_s))
    overrun_s = 3.0
    slices: Any = SimpleNamespace(overrun_s=overrun_s, stretch=1.0, expect_by=lambda *_by: None)
    stage: Any = None
    memory = _prober(lambda: left_s)
    disks = DiskToDisk(context, stage, slices, {}, memory, {})
    disks.prepare_closing()
    usual_s = memory.next_probe_s()
    if left_s > 30:
        assert disks.held_back_s - overrun_s == pytest.approx(usual_s)
    elif left_s > 12:
        assert memory.least_s < usual_s < disks.held_back_s < 0.5 * left_s
    else:
        assert disks.held_back_s == 0, "the comparison has what little there is"
    without = DiskToDisk(context, stage, slices, {}, None, {})
    without.prepare_closing()
    assert without.held_back_s == 0
