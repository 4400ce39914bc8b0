"""How tests wait for a screen, and read it."""

import asyncio
import contextlib
from collections.abc import Callable

from textual.pilot import Pilot
from textual.widgets import DataTable, Static
from textual.worker import WorkerCancelled

from advisor.tui.app import AdvisorApp


async def until(pilot: Pilot[int], condition: Callable[[], object], timeout_s: float = 60) -> None:
    """Return as soon as it holds. Raises AssertionError with the screen if it does not in time."""
    try:
        async with asyncio.timeout(timeout_s):
            while not condition():
                await pilot.pause(0.05)
    except TimeoutError:
        strips = pilot.app.screen._compositor.render_strips()
        lines = ["".join(segment.text for segment in strip).rstrip() for strip in strips]
        raise AssertionError("\n".join([f"not within {timeout_s} s:", *lines])) from None


async def settle(pilot: Pilot[int]) -> None:
    """Until what was started in the background is over, and drawn."""
    await pilot.pause()
    for worker in list(pilot.app.workers):
        # One that takes its own dialog away is cancelled with it.
        with contextlib.suppress(WorkerCancelled):
            await worker.wait()
    await pilot.pause()


def words(app: AdvisorApp, selector: str) -> str:
    """What stands in one text of the screen, "" where it is not there yet."""
    return "".join(str(text.render()) for text in app.screen.query(selector).results(Static))


def row_count(app: AdvisorApp, selector: str) -> int:
    """How many rows a table of the screen has, 0 where it is not there yet."""
    return sum(table.row_count for table in app.screen.query(selector).results(DataTable))
