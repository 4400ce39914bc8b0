"""The recorded session that comes with the program."""

import pytest

from advisor.domain.events import AdviceGiven
from advisor.store.event_log import kept_events
from advisor.store.layout import shipped_recording
from advisor.tui.features.advising.screens.advice import AdviceScreen
from advisor.tui.features.history.screens.recording import RecordingScreen
from advisor.tui.home import HomeScreen

from .conftest import NewApp
from .driving import until, words


def test_it_ends_with_an_advice_that_was_worth_it() -> None:
    folder = shipped_recording()
    assert folder
    advice = list(kept_events(folder))[-1]
    assert isinstance(advice, AdviceGiven)
    assert advice.gain
    assert advice.gain.interval[0] > 2


@pytest.mark.asyncio
async def test_it_plays_says_what_it_is_and_leads_home(new_app: NewApp) -> None:
    folder = shipped_recording()
    assert folder
    screen = RecordingScreen(list(kept_events(folder)))
    app = new_app(first=screen)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, lambda: app.screen is screen and "▶" in words(app, "#film"))
        assert "RECORDING" in words(app, "#about")
        await until(pilot, lambda: screen.playing_at_s > 0)
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, AdviceScreen))
        await pilot.press("escape")
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, HomeScreen))
