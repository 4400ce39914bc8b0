"""The screen of shares as it looks: planning and live, at three sizes, in light and in ASCII.

After a change that is meant: `pytest tests/tui/test_shares_snapshots.py --snapshot-update`, and a
look at every picture that changed.
"""

from collections.abc import Callable
from typing import cast

import pytest
from textual.pilot import Pilot

from advisor.tui.app import AdvisorApp
from advisor.tui.features.shares.draft import SharesDraft, save_shares_draft
from advisor.tui.features.shares.screens.shares import SharesScreen
from advisor.tui.features.shares.widgets.share_row import ShareRow

from . import shared
from .conftest import NewApp
from .driving import until

SIZES = pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 60)])
ASKED = dict(zip(shared.NAMES, ["2", "@4", "3", "4Gbit", "1.5"], strict=True))


@pytest.fixture
def five(monkeypatch: pytest.MonkeyPatch) -> None:
    shared.know_by_name(monkeypatch, shared.NAMES)
    save_shares_draft(SharesDraft(asked=ASKED))


async def show(pilot: Pilot[int]) -> None:
    app = cast(AdvisorApp, pilot.app)
    app.go("shares")
    await until(pilot, lambda: isinstance(app.screen, SharesScreen))
    screen = cast(SharesScreen, app.screen)
    await until(pilot, lambda: screen.board.plan and isinstance(app.focused, ShareRow))
    await pilot.press("down", "down")
    # What is drawn from a timer is drawn by then.
    await pilot.pause(1.5)
    await pilot.pause()


@SIZES
def test_planning(
    snap_compare: Callable[..., bool], new_app: NewApp, five: None, size: tuple[int, int]
) -> None:
    assert snap_compare(new_app(), terminal_size=size, run_before=show)


@SIZES
def test_live(
    snap_compare: Callable[..., bool], new_app: NewApp, five: None, size: tuple[int, int]
) -> None:
    app = new_app()
    shared.run_in(app, shared.RecordedShares(shared.under_way()))
    assert snap_compare(app, terminal_size=size, run_before=show)


@pytest.mark.parametrize("looks", [{"theme": "textual-light"}, {"drawing": "ascii"}])
def test_live_with_other_looks(
    snap_compare: Callable[..., bool], new_app: NewApp, five: None, looks: dict[str, str]
) -> None:
    app = new_app(**looks)
    shared.run_in(app, shared.RecordedShares(shared.under_way()))
    assert snap_compare(app, terminal_size=(120, 40), run_before=show)


def test_the_end(snap_compare: Callable[..., bool], new_app: NewApp, five: None) -> None:
    app = new_app()
    over = [*shared.under_way(), shared.ended(complete=False)]
    shared.run_in(app, shared.RecordedShares(over, is_running=False))
    assert snap_compare(app, terminal_size=(80, 24), run_before=show)
