"""A probe over several processes: real ones, over loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import psutil
import pytest

from advisor.advising.prober import Probed, Watcher
from advisor.advising.transport_prober import Prober
from advisor.agent.client import AgentLink
from advisor.domain.measurement import Failure, Interval, Measurement
from advisor.domain.space import Setting, spread_over_processes
from advisor.models.steadiness import probe_length
from advisor.testing.samples import a_path
from tests.unit.agent.linked import linked

LENGTH = probe_length(0.0001)
PATH = a_path(source_address="127.0.0.1", destination_address="127.0.0.1", rtt_s=0.0001)
SETTING: Setting = {"streams": 3, "processes": 2, "buffer_bytes": 2**18, "congestion": "reno"}


@contextlib.asynccontextmanager
async def proving() -> AsyncIterator[tuple[Prober, AgentLink]]:
    prober = Prober(PATH)
    async with linked() as link:
        try:
            yield prober, link
            # The conversation continues in step.
            await link.round_trip()
        finally:
            await prober.close()


async def probed(
    prober: Prober, link: AgentLink, setting: Setting, seen: list[Interval], transport: str = "tcp"
) -> Probed:
    watcher = Watcher(seen.append, lambda _: None)
    return await prober.measure(link, transport, setting, LENGTH, watcher)


def ends_running() -> int:
    """The children that run an end of a probe, and those that are kept ready."""
    running = 0
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # It has ended meanwhile.
            running += "advisor.probing.child" in child.cmdline()
    return running


def test_one_measurement_of_all_processes() -> None:
    async def run() -> tuple[Probed, list[Interval], int]:
        seen: list[Interval] = []
        most = 0

        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, ends_running())
                await asyncio.sleep(0.1)

        async with proving() as (prober, link):
            watching = asyncio.create_task(watch())
            # A stranger on a busy machine may have spoilt one, as in a session.
            for _ in range(3):
                outcome = await probed(prober, link, SETTING, seen)
                if isinstance(outcome.outcome, Measurement):
                    break
            watching.cancel()
        return outcome, seen, most

    result, seen, most = asyncio.run(run())
    measurement = result.outcome
    assert isinstance(measurement, Measurement)
    assert measurement.throughput_bps > 0
    assert seen[-len(measurement.intervals) :] == measurement.intervals
    assert measurement.sender is not None
    assert measurement.receiver is not None
    assert measurement.versions.keys() >= {"source libiperf", "destination libiperf"}
    assert measurement.granted.keys() == {"send_buffer_bytes", "receive_buffer_bytes"}
    assert most >= 4, "two processes at each end"
    # Both processes tell what their libiperf printed. One may listen again, after a stranger.
    assert result.raw_output.count(b"Server listening on") >= 2


def test_an_agent_tells_that_it_can_run_several_ends() -> None:
    async def run() -> tuple[bool, bool]:
        async with linked() as link:
            before = link.knows_several_probes
            await link.facts("127.0.0.1")
            return before, link.knows_several_probes

    assert asyncio.run(run()) == (False, True)


def test_one_process_that_fails_ends_the_probe_with_one_sentence() -> None:
    rejected = SETTING | {"congestion": "no-such"}

    async def run() -> Probed:
        async with proving() as (prober, link):
            return await probed(prober, link, rejected, [])

    outcome = asyncio.run(run()).outcome
    assert isinstance(outcome, Failure)
    assert "congestion" in outcome.message.lower()
    assert "\n" not in outcome.message


def test_stopping_ends_all_processes() -> None:
    async def run() -> int:
        async with proving() as (prober, link):
            work = asyncio.create_task(probed(prober, link, SETTING, []))
            while ends_running() < 4:
                await asyncio.sleep(0.05)
            work.cancel()
            with pytest.raises(asyncio.CancelledError):
                await work
        return ends_running()

    assert asyncio.run(run()) == 0


@pytest.mark.parametrize(
    ("streams", "processes", "parts"),
    [(1, 1, [1]), (8, 2, [4, 4]), (8, 3, [3, 3, 2]), (4, 4, [1, 1, 1, 1])],
)
def test_streams_are_spread_evenly(streams: int, processes: int, parts: list[int]) -> None:
    setting: Setting = {"streams": streams, "processes": processes, "buffer_bytes": 0}
    found = spread_over_processes(setting, "streams")
    assert found == [{"streams": n, "buffer_bytes": 0} for n in parts]


def test_more_processes_than_streams_are_refused() -> None:
    with pytest.raises(ValueError, match="2 flows cannot be spread over 3 processes"):
        spread_over_processes({"streams": 2, "processes": 3}, "streams")
