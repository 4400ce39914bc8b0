"""A tool's sample is compared with past transfers by the same kind of rate as theirs."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from advisor import registry
from advisor.advising import profiling
from advisor.advising.prober import Probed
from advisor.api.tool import ToolLimits
from advisor.domain.dataset import Dataset, Work
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Interval, Measurement
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting
from advisor.methods.api import Knowledge, WithEvidence
from advisor.models.past_transfers import transfers_of
from advisor.testing.samples import a_path

TOOL = "globus-url-copy"
PATH = a_path(rtt_s=0.1, bandwidth_bps=10e9)
START_S = 2.0
SIZE, FILES = 10**9, 4
FEW = Dataset(
    total_bytes=FILES * SIZE,
    path="/x",
    files=FILES,
    largest="f",
    largest_bytes=SIZE,
    sizes=((29, FILES, FILES * SIZE),),
)
"""So little that the start takes as long as the data."""


def _slice(setting: Setting) -> Measurement:
    """On a path that is as it was: the rate depends on the setting alone."""
    flows = float(setting["concurrency"]) * float(setting["parallelism"]) ** 0.8
    bps = min(9e9, 1.2e9 * flows)
    moved = min(bps * 3 / 8, FEW.total_bytes)
    flowed_s = moved * 8 / bps
    several = min(FILES, int(setting["concurrency"]))
    return Measurement(
        throughput_bps=bps,
        stderr_bps=0.0,
        intervals=[
            Interval(n * flowed_s / 20, (n + 1) * flowed_s / 20, round(moved / 20))
            for n in range(20)
        ],
        steady_from=0,
        settled=True,
        elapsed_s=START_S + flowed_s,
        work=Work.of_sizes([moved / several] * several, is_cut=moved < FEW.total_bytes),
        overhead_s=START_S,
    )


def _past() -> list[ProbeRecord]:
    settings: list[Setting] = [
        {"concurrency": c, "parallelism": p, "pipelining": 1}
        for c in (1, 2, 4)
        for p in (1, 2, 4, 8)
    ]
    return [
        ProbeRecord(
            pair=Pair("a", "b"),
            subject=TOOL,
            setting=setting,
            result=_slice(setting),
            recorded_s=1e9 + 20 * number,
            file_bytes=SIZE,
            files=FILES,
            rtt_s=0.1,
            bandwidth_bps=10e9,
            buffer_bytes=2**25,
        )
        for number, setting in enumerate(settings * 2)
    ]


class _Session:
    """What a search sees of a session."""

    def __init__(self) -> None:
        self.request = SimpleNamespace(tool=TOOL, dataset=FEW, server_url=None)
        self.probes: list[Any] = []
        self.path = self.path_now = PATH
        self.has_just_changed = False
        self.budget = SimpleNamespace(left_s=1e6)
        self.control = SimpleNamespace(is_skipped=lambda _: False, tries=[])
        self.evidence: Evidence | None = None
        self.events = SimpleNamespace(emit=lambda *_, **__: None)
        self.runner = SimpleNamespace(
            rtt_s=PATH.rtt_s, next_probe_s=lambda *_: 1.0, update_rtt=self._nothing
        )

    async def _nothing(self) -> None:
        pass

    async def apply_orders(self) -> None:
        pass

    def stage_name(self, stage: str) -> str:
        return stage

    def in_question_bps(self, _subject: str) -> float:
        return 0.0

    async def measure(self, _subject: str, setting: Setting, *_: Any) -> Any:
        return SimpleNamespace(probed=Probed(_slice(setting), b""))

    async def record(self, *_: Any, **__: Any) -> None:
        pass


@pytest.mark.asyncio
async def test_of_a_small_dataset_the_history_has_seen_todays_load() -> None:
    knowledge = Knowledge(
        path=PATH, bandwidth_bps=10e9, dataset=FEW, transfers=list(transfers_of(_past()))
    )
    limits = ToolLimits(max_concurrency=16, max_streams=16)
    space = registry.transfer_tool(TOOL).space(PATH, FEW, limits)
    method = registry.method("harp").create(space, np.random.default_rng(1), knowledge, {})
    sample = method.ask()
    assert sample is not None
    context: Any = _Session()
    stage: Any = SimpleNamespace(name=TOOL, subject=TOOL)
    await profiling._search(context, stage, method, space, 0.0)
    assert isinstance(method, WithEvidence)
    assert method.evidence is not None
    assert method.evidence.sample is not None
    assert method.evidence.sample.throughput_bps == _slice(sample).throughput_bps
    assert "has not seen today's load" not in method.evidence.worth
    # Which setting is best is judged by the whole dataset, which takes longer than its data.
    best = method.best()
    assert best is not None
    assert best[1] < 0.9 * _slice(best[0]).throughput_bps
