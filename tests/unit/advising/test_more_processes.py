"""Sessions on paths that are faster than a core: when streams are spread over more processes."""

from dataclasses import replace
from typing import Any

import pytest

from advisor.advising.more_processes import SPREAD
from advisor.advising.prober import Probed
from advisor.domain.measurement import Failure, FailureKind
from advisor.domain.space import Setting, processes_of
from tests.unit.advising.simulated import Runner, SimulatedAdvice, SimulatedPath, dataset, simulate

LAN = SimulatedPath(
    name="LAN", rate_bps=100e9, rtt_s=0.0004, core_bps=20e9, mtu_bytes=9000, udt_share=0.05
)


def tried(session: SimulatedAdvice) -> list[int]:
    """The numbers of processes that were measured after the search."""
    return [processes_of(probe.setting) for probe in session.probes if probe.stage == SPREAD]


@pytest.mark.asyncio
@pytest.mark.parametrize("seed", range(3))
async def test_processes_are_doubled_while_a_core_is_full(seed: int) -> None:
    session = await simulate(LAN, seed)
    assert tried(session) == [2, 4, 8]
    assert processes_of(session.setting) == 8
    assert LAN.true_bps("tcp", session.setting) > 0.97 * LAN.data_bps


@pytest.mark.asyncio
async def test_no_more_processes_than_are_needed() -> None:
    path = replace(LAN, name="25 Gbit/s", rate_bps=25e9)
    session = await simulate(path, 1)
    # With two, no core is full any more.
    assert tried(session) == [2]
    assert processes_of(session.setting) == 2
    assert int(session.setting["streams"]) >= 2


@pytest.mark.asyncio
async def test_each_process_has_a_stream() -> None:
    session = await simulate(LAN, 1)
    for probe in session.probes:
        if probe.subject == "tcp":
            assert int(probe.setting["streams"]) >= processes_of(probe.setting)


@pytest.mark.asyncio
async def test_hosts_with_few_cores_bound_the_processes() -> None:
    path = replace(LAN, name="3 cores", cores=3)
    assert tried(await simulate(path, 1)) == [2, 3]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "path",
    [
        replace(LAN, name="slow", rate_bps=1e9),
        replace(LAN, name="threads", libiperf="3.16"),
        replace(LAN, name="one core", cores=1),
        replace(LAN, name="older agent", can_spread=False),
    ],
    ids=lambda path: path.name,
)
async def test_more_processes_are_not_tried_where_they_cannot_help(path: SimulatedPath) -> None:
    session = await simulate(path, 1)
    assert tried(session) == []
    assert SPREAD not in dict(session.ends)
    assert all("processes" not in probe.setting for probe in session.probes)


@pytest.mark.asyncio
async def test_processes_that_do_not_help_are_not_advised() -> None:
    # The hosts' memory, say, limits all processes together.
    path = replace(LAN, name="full hosts", host_bps=20.1e9)
    session = await simulate(path, 1)
    assert tried(session) == [2]
    assert processes_of(session.setting) == 1


@pytest.mark.asyncio
async def test_a_short_transfer_is_not_worth_more_processes() -> None:
    assert tried(await simulate(LAN, 1, dataset=dataset(10**9))) == []


@pytest.mark.asyncio
async def test_a_full_core_is_named_where_flows_reach_the_same_rate() -> None:
    session = await simulate(LAN, 1)
    reason = dict(session.ends)["tcp/cubic"]
    assert "the hosts limit it (a core of the source was full" in reason
    assert "path" not in reason


@pytest.mark.asyncio
async def test_processes_that_fail_are_not_tried_again() -> None:
    """As where the destination has one data port: a second process has none."""

    class OnePort(Runner):
        async def run(self, subject: str, setting: Setting, watcher: Any) -> Probed:
            if processes_of(setting) > 1:
                return Probed(
                    Failure(kind=FailureKind.REFUSED, message="no port is free", elapsed_s=0.1), b""
                )
            return await super().run(subject, setting, watcher)

    session = await simulate(LAN, 1, runner_of=OnePort)
    # Once, and once more as it may have been chance.
    assert tried(session) == [2, 2]
    assert dict(session.ends)[SPREAD] == "more processes failed: no port is free"
    assert processes_of(session.setting) == 1
    longer = await simulate(
        LAN, 1, runner_of=OnePort, earlier=session.probes, more_s=60.0, budget_s=60.0
    )
    assert tried(longer) == [2, 2]
