"""One probe: who measures it, what becomes of a lost agent, and how the user ends it."""

import asyncio
from typing import Any

import pytest

from advisor.advising import probe_runner
from advisor.advising.probe_runner import PeerLost, ProbeRunner
from advisor.advising.prober import Probed, Watcher
from advisor.agent.peer_errors import PeerError, PeerGone
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.space import Setting
from advisor.models.steadiness import ProbeLength
from advisor.runtime.round_trip import GIVEN
from advisor.runtime.stop import Stopped
from advisor.testing.samples import a_path

from .turn_here import is_free

WATCHER = Watcher(lambda _: None, lambda _: None)
SETTING: Setting = {"streams": 2}


def measurement(elapsed_s: float, data_s: float) -> Measurement:
    return Measurement(
        throughput_bps=8e6,
        stderr_bps=0.0,
        intervals=[Interval(0.0, data_s, 10**6)],
        steady_from=0,
        settled=True,
        elapsed_s=elapsed_s,
    )


class FakeFarEnd:
    """An agent that can be reached, or not any more."""

    def __init__(self, *, is_there: bool = True) -> None:
        self.is_there = is_there
        self.connected = 0

    @property
    def link(self) -> str:
        return f"link {self.connected}"

    @property
    def reached(self) -> str:
        return self.link

    async def connect(self) -> None:
        if not self.is_there:
            raise PeerError("no route")
        self.connected += 1


class FakeTransports:
    """Gives the results it was made with, one after the other."""

    def __init__(self, *results: Measurement | PeerGone) -> None:
        self.results = list(results)
        self.links: list[Any] = []
        self.is_closed = False

    async def measure(
        self, link: Any, transport: str, setting: Setting, length: ProbeLength, watcher: Watcher
    ) -> Probed:
        self.links.append(link)
        if not self.results:
            await asyncio.sleep(60)
        result = self.results.pop(0)
        if isinstance(result, PeerGone):
            raise result
        return Probed(result, b"raw")

    async def close(self) -> None:
        self.is_closed = True


class FakeDisk:
    def __init__(self, *, waits_there: bool = False) -> None:
        self._waits_there = waits_there
        self.was_turn_free: bool | None = None

    def next_probe_s(self, _setting: Setting | None = None) -> float:
        return 42.0

    def waits_there(self, setting: Setting) -> bool:
        return self._waits_there

    async def measure(self, link: Any, setting: Setting, watcher: Watcher) -> Probed:
        self.was_turn_free = is_free()
        return Probed(measurement(9.0, 1.0), b"disk")


class Bench:
    """A runner, with all that surrounds it made up."""

    def __init__(self, *results: Measurement | PeerGone, is_there: bool = True) -> None:
        self.far_end = FakeFarEnd(is_there=is_there)
        self.transports = FakeTransports(*results)
        self.stop = asyncio.Event()
        self.notices: list[str] = []
        self.runner = self.runner_on(a_path())

    def runner_on(self, path: PathFacts) -> ProbeRunner:
        far_end: Any = self.far_end
        return ProbeRunner(far_end, self.transports, path, self.stop, self.notices.append)

    async def run(self, subject: str = "tcp") -> Probed:
        return await self.runner.run(subject, SETTING, WATCHER)


@pytest.mark.asyncio
async def test_a_transport_is_measured_and_its_overhead_learnt() -> None:
    bench = Bench(measurement(elapsed_s=3.0, data_s=2.0))
    before_s = bench.runner.next_probe_s("tcp")
    assert (await bench.run()).raw_output == b"raw"
    assert bench.runner.next_probe_s("tcp") == pytest.approx(before_s - 0.3 + 1.0)


@pytest.mark.asyncio
async def test_a_disk_is_measured_by_its_own_measurer() -> None:
    bench = Bench()
    bench.runner.use("disk", FakeDisk())
    before_s = bench.runner.next_probe_s("tcp")
    assert (await bench.run("disk")).raw_output == b"disk"
    assert bench.runner.next_probe_s("disk") == 42.0
    assert bench.runner.next_probe_s("tcp") == before_s
    assert bench.runner.is_transport("tcp")
    assert not bench.runner.is_transport("disk")


@pytest.mark.asyncio
@pytest.mark.usefixtures("own_turn")
@pytest.mark.parametrize("waits_there", [False, True])
@pytest.mark.parametrize("destination", ["127.0.0.1", "192.0.2.9"])
async def test_others_wait_for_a_probe_that_waits_nowhere_else(
    waits_there: bool, destination: str
) -> None:
    """A wait at the destination is not reported: two that hold their turns would wait forever."""
    bench = Bench()
    runner = bench.runner_on(a_path(destination_address=destination))
    disk = FakeDisk(waits_there=waits_there)
    runner.use("disk", disk)
    await runner.run("disk", SETTING, WATCHER)
    assert disk.was_turn_free is waits_there
    assert is_free()


@pytest.mark.asyncio
async def test_a_lost_agent_fails_the_probe_and_the_next_one_reconnects() -> None:
    bench = Bench(PeerGone("ssh ended"), measurement(3.0, 2.0))
    lost = (await bench.run()).outcome
    assert isinstance(lost, Failure)
    assert (lost.kind, lost.message) == (FailureKind.PEER_GONE, "ssh ended")
    assert bench.notices == []
    assert isinstance((await bench.run()).outcome, Measurement)
    assert bench.transports.links == ["link 0", "link 1"]
    assert bench.notices == ["the agent was lost: reconnecting"]


@pytest.mark.asyncio
async def test_an_agent_that_stays_away_ends_the_session() -> None:
    bench = Bench(PeerGone("ssh ended"), is_there=False)
    await bench.run()
    with pytest.raises(PeerLost, match="cannot be reached again: no route"):
        await bench.run()


@pytest.mark.asyncio
async def test_stopping_ends_a_running_probe_and_lets_none_begin() -> None:
    bench = Bench()
    asyncio.get_running_loop().call_soon(bench.stop.set)
    with pytest.raises(Stopped):
        await bench.run()
    assert len(bench.transports.links) == 1
    with pytest.raises(Stopped):
        await bench.run()
    assert len(bench.transports.links) == 1


@pytest.mark.asyncio
async def test_closing_ends_what_is_kept_ready() -> None:
    bench = Bench()
    await bench.runner.close()
    assert bench.transports.is_closed


def answering(monkeypatch: pytest.MonkeyPatch, *rtts_s: float | None) -> None:
    """Round trips measured from now on."""
    left = list(rtts_s)

    async def again(*_: Any) -> float | None:
        return left.pop(0)

    monkeypatch.setattr(probe_runner, "rtt_again_s", again)


@pytest.mark.asyncio
async def test_a_given_round_trip_time_is_the_initial_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runner = Bench().runner_on(a_path(rtt_s=0.1, rtt_method=GIVEN))
    answering(monkeypatch, *[0.02] * 30)
    for _ in range(30):
        await runner.update_rtt()
    assert 0.02 < runner.rtt_s < 0.023


@pytest.mark.asyncio
async def test_a_given_round_trip_time_stays_where_nothing_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runner = Bench().runner_on(a_path(rtt_s=0.1, rtt_method=GIVEN))
    answering(monkeypatch, None)
    for _ in range(3):
        await runner.update_rtt()
    assert runner.rtt_s == 0.1


@pytest.mark.asyncio
async def test_a_lost_packet_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    runner = Bench().runner_on(a_path(rtt_s=0.1))
    answering(monkeypatch, None, 0.2)
    await runner.update_rtt()
    assert runner.rtt_s == 0.1
    await runner.update_rtt()
    assert runner.rtt_s == pytest.approx(0.1125)
