"""In which order the closing comparison measures."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.advising.confirming import confirm
from advisor.advising.prober import Probed
from advisor.domain.dataset import Dataset, Work
from advisor.domain.endpoints import Endpoint
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.runtime.request import AdviceRequest

from .contexts import PAIR, a_context

TOOL = "rclone"
SIZES = [10**6] * 20
DATASET = Dataset(
    total_bytes=sum(SIZES), path="/x", files=20, largest="f", sizes=((19, 20, sum(SIZES)),)
)
DEFAULT: Setting = {"concurrency": 4, "parallelism": 1, "options": "none"}


def _moved(files: int, seconds: float) -> Measurement:
    return Measurement(
        throughput_bps=files * 8e6 / seconds,
        stderr_bps=0.0,
        intervals=[],
        steady_from=0,
        settled=True,
        elapsed_s=seconds,
        work=Work.of_sizes(SIZES[:files], is_cut=files < len(SIZES)),
    )


def _probe(setting: Setting, files: int, seconds: float, **purpose: Any) -> ProbeRecord:
    return ProbeRecord(
        pair=PAIR,
        subject=TOOL,
        setting=setting,
        result=_moved(files, seconds),
        recorded_s=0.0,
        rtt_s=0.05,
        **purpose,
    )


class _Runner:
    """Moves everything in 10 s, of which the session has few."""

    rtt_s = 0.05

    def __init__(self) -> None:
        self.now_s = 0.0
        self.ran: list[Setting] = []

    def clock(self) -> float:
        return self.now_s

    def is_transport(self, _subject: str) -> bool:
        return False

    def next_probe_s(self, _subject: str = "", _setting: Setting | None = None) -> float:
        return 10.0

    async def run(self, _subject: str, setting: Setting, _watcher: Any) -> Probed:
        self.now_s += 10.0
        self.ran.append(setting)
        return Probed(_moved(20, 10.0), b"")


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(8))
async def test_what_only_a_slice_moved_is_moved_before_what_was_moved_whole(seed: int) -> None:
    request = AdviceRequest(
        destination=Endpoint("there"),
        tool=TOOL,
        tools=[TOOL],
        dataset=DATASET,
        destination_path="/there/",
        seed=seed,
    )
    earlier = [
        _probe(DEFAULT, 5, 4.0, stage="baseline", purpose="baseline", label="default"),
        *(
            _probe({"concurrency": c, "parallelism": 1}, 20, 9.0, stage=TOOL, purpose="search")
            for c in (8, 16)
        ),
    ]
    runner = _Runner()
    await confirm(a_context(request, runner, 25.0, earlier), [], {})
    assert len(runner.ran) == 2
    assert runner.ran[0] == DEFAULT
