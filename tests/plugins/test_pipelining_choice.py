"""Methods that learn from past transfers, for a tool with pipelining as a choice of two."""

import numpy as np
import pytest

from advisor import registry
from advisor.api.tool import ToolLimits
from advisor.domain.dataset import Dataset
from advisor.domain.endpoints import Pair
from advisor.domain.records import ProbeRecord
from advisor.domain.space import AUTOMATIC, Setting, Space
from advisor.methods.api import Knowledge
from advisor.models.past_transfers import transfers_of
from advisor.testing.samples import a_path, measured

SMALL = Dataset(
    total_bytes=20_000 * 200_000,
    path="/x",
    files=20_000,
    largest="f",
    largest_bytes=200_000,
    sizes=((17, 20_000, 20_000 * 200_000),),
)
PATH = a_path(rtt_s=0.1)


def _space() -> Space:
    limits = ToolLimits(max_concurrency=16, max_streams=16)
    return registry.transfer_tool("globus-url-copy").space(PATH, SMALL, limits)


def _rate_bps(setting: Setting, factor: float) -> float:
    """With commands sent ahead a multiple of that without."""
    ahead = factor if setting["pipelining"] == AUTOMATIC else 1.0
    return 1e8 * float(np.power(float(setting["concurrency"]), 0.7)) * ahead


def _probes(factor: float) -> list[ProbeRecord]:
    """Stored ones at all corners of a grid."""
    settings: list[Setting] = [
        {"concurrency": c, "parallelism": p, "pipelining": ahead}
        for c in (1, 2, 4, 8, 16)
        for p in (1, 2, 4)
        for ahead in (AUTOMATIC, 1)
    ]
    return [
        ProbeRecord(
            pair=Pair("a", "b"),
            subject="globus-url-copy",
            setting=setting,
            result=measured(_rate_bps(setting, factor)),
            recorded_s=1e9 + 30 * number,
            file_bytes=200_000,
            files=20_000,
            rtt_s=0.1,
            bandwidth_bps=10e9,
            buffer_bytes=2**25,
        )
        for number, setting in enumerate(settings)
    ]


@pytest.mark.parametrize("name", ["harp", "ann-ot"])
@pytest.mark.parametrize(("factor", "wanted"), [(3.0, AUTOMATIC), (1 / 3, 1)])
def test_the_faster_choice_of_past_transfers_is_the_answer(
    name: str, factor: float, wanted: int
) -> None:
    knowledge = Knowledge(
        path=PATH,
        bandwidth_bps=10e9,
        dataset=SMALL,
        transfers=list(transfers_of(_probes(factor))),
    )
    space = _space()
    method = registry.method(name).create(space, np.random.default_rng(0), knowledge, {})
    answer: Setting = {}
    while (setting := method.ask()) is not None:
        answer = setting
        method.tell(setting, measured(_rate_bps(setting, factor)))
    assert space.holds(answer)
    assert answer["pipelining"] == wanted


def test_without_past_transfers_harp_stays_at_its_sample() -> None:
    method = registry.method("harp").create(
        _space(),
        np.random.default_rng(0),
        Knowledge(path=PATH, bandwidth_bps=10e9, dataset=SMALL),
        {},
    )
    sample = method.ask()
    assert sample is not None
    assert sample["pipelining"] == AUTOMATIC
    method.tell(sample, measured(1e9))
    assert method.ask() is None
