"""A probe that failed is retried, and again where the agent was lost meanwhile."""

from typing import Any

import pytest

from advisor.advising.prober import Probed
from advisor.domain.measurement import Failure, FailureKind, Measurement
from advisor.domain.space import Setting, setting_key

from .simulated import Runner, SimulatedPath, simulate

RESET, GONE = FailureKind.RESET, FailureKind.PEER_GONE


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kinds", "measured"),
    [
        ([], True),
        ([RESET], True),
        ([GONE], True),
        ([RESET, GONE], True),
        ([GONE, RESET], True),
        ([RESET, FailureKind.TIMED_OUT], False),
        ([GONE, GONE], False),
        ([RESET, GONE, RESET], False),
        ([FailureKind.REJECTED_SETTING], False),
    ],
)
async def test_how_often(kinds: list[FailureKind], measured: bool) -> None:
    left = list(kinds)

    class Failing(Runner):
        async def run(self, subject: str, setting: Setting, watcher: Any) -> Probed:
            if left:
                return Probed(Failure(kind=left.pop(0), message="it failed", elapsed_s=0.1), b"")
            return await super().run(subject, setting, watcher)

    path = SimulatedPath(name="clean")
    probes = (await simulate(path, 1, runner_of=Failing)).probes
    assert [one.result.kind for one in probes[: len(kinds)]] == kinds
    first = setting_key(probes[0].setting)
    assert {setting_key(one.setting) for one in probes[: len(kinds)]} <= {first}
    again = isinstance(probes[len(kinds)].result, Measurement) and (
        setting_key(probes[len(kinds)].setting) == first
    )
    assert again == measured
