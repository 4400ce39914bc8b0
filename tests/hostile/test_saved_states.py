"""The state of an interrupted search that a file, or another version, has spoilt."""

from typing import Any

import msgspec
import pytest

from tests.unit.advising.simulated import SimulatedPath, simulate

LOSSY = SimulatedPath(name="lossy", rate_bps=5e8, rtt_s=0.02, loss=1e-3)
SPOILT: list[dict[str, Any]] = [
    {"unknown": 1},
    {"told": 3, "generator": None},
    {"told": [[{"streams": "many"}, "fast"]], "generator": {"state": []}, "seconds": ["x"]},
    {"iteration": "nine", "theta": {}, "generator": []},
]


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["bayes", "spsa", "nelder-mead", "doubling"])
@pytest.mark.parametrize("state", SPOILT)
async def test_the_search_begins_again(method: str, state: dict[str, Any]) -> None:
    first = await simulate(LOSSY, 1, method=method, budget_s=12.0)
    earlier = [
        msgspec.structs.replace(one, method_state=state) if one.method_state else one
        for one in first.probes
        if one.stage != "confirm"
    ]
    assert any(one.method_state for one in earlier)
    again = await simulate(LOSSY, 1, method=method, budget_s=24.0, earlier=earlier)
    assert len(again.probes) > len(earlier)
