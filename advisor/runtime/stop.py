"""Wait for some work or for the order to stop, whichever comes first."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

_R = TypeVar("_R")


class Stopped(Exception):
    """The user ordered the session to stop."""


async def unless_stopped(
    work: Awaitable[_R], stop: asyncio.Event, *, may_cancel: Callable[[], bool] = lambda: True
) -> _R:
    """The result of `work`. Raises what it raises, and Stopped if `stop` was set first.

    On every way out `work` has ended: if it was not done, it was cancelled. `may_cancel` is asked
    when `stop` is set; if it says no, `work` runs to its own end.
    """
    task, stopping = asyncio.ensure_future(work), asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait((task, stopping), return_when=asyncio.FIRST_COMPLETED)
        if not task.done() and may_cancel():
            raise Stopped
        return await task
    finally:
        for one in (task, stopping):
            one.cancel()
        await asyncio.wait((task, stopping))


async def uninterrupted(work: Coroutine[Any, Any, _R]) -> _R:
    """The result of `work`, which also runs to its end if the caller is cancelled meanwhile.

    A conversation with an agent that is abandoned halfway through an answer cannot continue.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
