"""Children that are given up, at whatever moment and however often."""

import asyncio
import gc
import warnings
from pathlib import Path

import psutil
import pytest

from advisor.hosts.processes import running, server_bound_to_stdin


async def _given_up(after_s: float, times: int) -> None:
    async def work() -> None:
        async with running(server_bound_to_stdin(["sleep", "60"])):
            await asyncio.sleep(60)

    task = asyncio.create_task(work())
    await asyncio.sleep(after_s)
    for _ in range(times):
        task.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task


def _children() -> set[int]:
    """Not those below them: a server of other tests starts processes of its own at any time."""
    return {child.pid for child in psutil.Process().children()}


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("after_s", [0.0, 0.0005, 0.001, 0.002, 0.004, 0.05])
def test_no_process_and_no_pipe_is_left(after_s: float, times: int) -> None:
    before = _children()
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(_given_up(after_s, times))
        gc.collect()
    # What was there before may have ended meanwhile.
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors
    assert _children() <= before
