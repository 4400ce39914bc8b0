"""A schedule that plays in a running lab: replaced by another one, and after what fails."""

import asyncio
import errno
import os
from collections.abc import Sequence
from typing import cast

import pytest

from advisor.lab.backend import Backend, Crossings
from advisor.lab.messages import Crossing, Cut, Play, ScheduledStep
from advisor.lab.networks import Network, NetworkError
from advisor.lab.paths import EmulatedPath
from advisor.lab.running import Lab, LabOrder


class Emulator:
    """Cuts and restores, one after the other, as soon as `goes_on`; fails with what is given."""

    name = "none"

    def __init__(self, failures: Sequence[Exception] = ()) -> None:
        self.begun = asyncio.Event()
        self.goes_on = asyncio.Event()
        self.was_restored = asyncio.Event()
        self.done: list[bool] = []
        self._failures = list(failures)

    async def set_cut(self, _: int, is_cut: bool) -> None:
        self.begun.set()
        await self.goes_on.wait()
        if self._failures:
            raise self._failures.pop(0)
        self.done.append(is_cut)
        if not is_cut:
            self.was_restored.set()

    async def crossings(self) -> Crossings:
        return Crossings([Crossing(), Crossing()], [Crossing(), Crossing()], None)


def lab_with(emulator: Emulator) -> Lab:
    path = EmulatedPath()
    order = LabOrder(
        name="wan", mark="none", outside=0, program="", user_namespace=True, hosts={"kraken": path}
    )
    return Lab(order, cast(Backend, emulator), cast(list[Network], []))


def step(*, is_cut: bool) -> ScheduledStep:
    return ScheduledStep(at_s=0.0, actions=[Cut(is_cut=is_cut)])


def test_a_new_schedule_waits_for_the_action_that_runs() -> None:
    """Ended between its command and the reply, it would leave that reply to the next command."""

    async def run() -> None:
        emulator = Emulator()
        lab = lab_with(emulator)
        await lab.obey(Play(steps=[step(is_cut=True), step(is_cut=False)]))
        async with asyncio.timeout(20):
            await emulator.begun.wait()
            replacing = asyncio.create_task(lab.obey(Play(steps=[])))
            await asyncio.wait([replacing], timeout=0.05)
            emulator.goes_on.set()
            status = await replacing
        assert emulator.done == [True]
        assert status.hosts[0].is_cut
        assert status.schedule == []
        await lab.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    "failure",
    [
        OSError(errno.EAGAIN, os.strerror(errno.EAGAIN)),
        TimeoutError(),
        NetworkError("the emulator no longer answers"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_step_that_fails_does_not_end_the_schedule(
    caplog: pytest.LogCaptureFixture, failure: Exception
) -> None:
    async def run() -> None:
        emulator = Emulator([failure])
        emulator.goes_on.set()
        lab = lab_with(emulator)
        await lab.obey(Play(steps=[step(is_cut=True), step(is_cut=False)]))
        async with asyncio.timeout(5):
            await emulator.was_restored.wait()
        await lab.close()

    asyncio.run(run())
    [record] = caplog.records
    assert record.message.startswith("schedule, at 0 s: ")
    assert not record.message.endswith(": ")
