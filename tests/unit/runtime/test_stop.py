"""Work that ends by itself, or is cancelled by the order to stop."""

import asyncio

import pytest

from advisor.domain import orders as o
from advisor.runtime.control import Control
from advisor.runtime.stop import Stopped, uninterrupted, unless_stopped


@pytest.mark.asyncio
async def test_work_that_ends_gives_its_result() -> None:
    assert await unless_stopped(asyncio.sleep(0, "done"), asyncio.Event()) == "done"


@pytest.mark.asyncio
async def test_work_that_has_ended_counts_although_the_order_has_come() -> None:
    stop = asyncio.Event()

    async def work() -> str:
        stop.set()
        return "done"

    assert await unless_stopped(work(), stop) == "done"


@pytest.mark.asyncio
async def test_the_order_to_stop_cancels_the_work_and_waits_for_its_end() -> None:
    stop, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.set()

    asyncio.get_running_loop().call_soon(stop.set)
    with pytest.raises(Stopped):
        await unless_stopped(work(), stop)
    assert ended.is_set()


@pytest.mark.asyncio
async def test_work_that_may_not_be_cancelled_runs_to_its_end() -> None:
    stop = asyncio.Event()
    stop.set()
    slow = asyncio.sleep(0.01, "done")
    assert await unless_stopped(slow, stop, may_cancel=lambda: False) == "done"


@pytest.mark.asyncio
async def test_what_the_work_raises_is_raised() -> None:
    async def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        await unless_stopped(work(), asyncio.Event())


@pytest.mark.asyncio
async def test_uninterrupted_work_ends_before_the_caller_is_cancelled() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def work() -> None:
        began.set()
        await asyncio.sleep(0.01)
        ended.set()

    caller = asyncio.create_task(uninterrupted(work()))
    await began.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert ended.is_set()


@pytest.mark.asyncio
async def test_a_pause_ends_by_resuming_or_by_stopping() -> None:
    for order in (o.Resume(), o.Stop()):
        control = Control()
        control.obey(o.Pause())
        waiting = asyncio.create_task(control.wait_while_paused())
        await asyncio.sleep(0)
        assert control.paused
        assert not waiting.done()
        control.obey(order)
        async with asyncio.timeout(1):
            await waiting


@pytest.mark.asyncio
async def test_until_stopped_says_whether_the_work_ended_by_itself() -> None:
    control = Control()
    assert await control.until_stopped(asyncio.sleep(0))
    control.obey(o.Stop())
    assert not await control.until_stopped(asyncio.sleep(60))
