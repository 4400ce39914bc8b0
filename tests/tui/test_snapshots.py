"""The screens as they look, of the session that `advisor demo` plays: three sizes, dark and light.

After a change that is meant: `pytest tests/tui/test_snapshots.py --snapshot-update`, and a look at
every picture that changed.
"""

from collections.abc import Callable
from typing import cast

import pytest
from textual.pilot import Pilot

from advisor.tui.app import AdvisorApp

from .conftest import NewApp
from .recorded import over

SIZES = [(80, 24), (120, 40), (200, 60)]
STEPS = ["profiling", "comparison", "advice"]


def showing(step: str) -> Callable[[Pilot[int]], object]:
    async def go(pilot: Pilot[int]) -> None:
        cast(AdvisorApp, pilot.app).go(step)
        await pilot.pause(0.5)
        await pilot.pause()

    return go


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("step", STEPS)
def test_dark(
    snap_compare: Callable[..., bool], new_app: NewApp, step: str, size: tuple[int, int]
) -> None:
    app = over(new_app())
    assert snap_compare(app, terminal_size=size, run_before=showing(step))


@pytest.mark.parametrize("step", STEPS)
def test_light(snap_compare: Callable[..., bool], new_app: NewApp, step: str) -> None:
    app = over(new_app(theme="textual-light"))
    assert snap_compare(app, terminal_size=(120, 40), run_before=showing(step))


@pytest.mark.parametrize("drawing", ["block", "ascii"])
def test_drawn_otherwise(snap_compare: Callable[..., bool], new_app: NewApp, drawing: str) -> None:
    app = over(new_app(drawing=drawing))
    assert snap_compare(app, terminal_size=(120, 40), run_before=showing("profiling"))


@pytest.mark.parametrize("size", [(60, 15), (80, 24)])
def test_an_empty_home(
    snap_compare: Callable[..., bool], new_app: NewApp, size: tuple[int, int]
) -> None:
    async def settled(pilot: Pilot[int]) -> None:
        await pilot.pause(0.5)

    assert snap_compare(new_app(), terminal_size=size, run_before=settled)
