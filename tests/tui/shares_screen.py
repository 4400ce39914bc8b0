"""The screen of shares as its tests drive it, with two destinations that were learned."""

from collections.abc import Sequence

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from advisor.tui.app import AdvisorApp
from advisor.tui.features.shares import forecasts
from advisor.tui.features.shares.screens.shares import SharesScreen
from advisor.tui.features.shares.widgets.share_row import ShareRow

from . import shared
from .driving import until

TWO = ["kraken", "mason"]


def know(monkeypatch: pytest.MonkeyPatch, too_little: Sequence[str] = ()) -> None:
    learned = shared.learned({name: shared.forecast(name) for name in TWO}, too_little)
    monkeypatch.setattr(forecasts, "learned_of", lambda *_: learned)


def screen_of(app: AdvisorApp) -> SharesScreen:
    assert isinstance(app.screen, SharesScreen)
    return app.screen


async def shown(app: AdvisorApp, pilot: Pilot[int]) -> SharesScreen:
    """Gone to, with a plan for what was asked last."""
    app.go("shares")
    await until(pilot, lambda: isinstance(app.screen, SharesScreen))
    screen = screen_of(app)
    await until(pilot, lambda: screen.board.plan)
    await until(pilot, lambda: isinstance(app.focused, ShareRow))
    return screen


def row_of(app: AdvisorApp, name: str) -> ShareRow:
    return next(row for row in app.screen.query(ShareRow) if row.destination == name)


def field_of(app: AdvisorApp, name: str) -> str:
    return row_of(app, name).query_one(Input).value


def planned(screen: SharesScreen) -> dict[str, int]:
    plan = screen.board.plan
    return {row.destination: row.concurrency for row in plan.rows} if plan else {}
