"""What holds on every screen: help, jumping, going and coming back, a small terminal."""

import pytest
from textual.widgets import Static

from advisor.tui.features.advising.screens.where import WhereScreen
from advisor.tui.features.advising.step import WALK
from advisor.tui.home import HomeScreen
from advisor.tui.kit.dialogs.help import HelpScreen
from advisor.tui.kit.dialogs.too_small import TooSmallScreen

from .conftest import NewApp


def text_of(app: object) -> str:
    """All that stands on the screen, as text."""
    lines = app.screen._compositor.render_strips()  # type: ignore[attr-defined]  # for tests only
    return "\n".join("".join(segment.text for segment in strip) for strip in lines)


@pytest.mark.asyncio
async def test_help_tells_the_keys_and_closes(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("f1")
        assert isinstance(app.screen, HelpScreen)
        text = str(app.screen.query_one(Static).render())
        assert "Quit" in text
        assert "All actions" in text
        await pilot.press("escape")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.asyncio
async def test_a_step_is_gone_to_and_left(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("where")
        await pilot.pause()
        assert isinstance(app.screen, WhereScreen)
        app.go("advice")
        await pilot.pause()
        assert len(app.screen_stack) == 3
        await pilot.press("ctrl+g")
        assert isinstance(app.screen, HomeScreen)


@pytest.mark.asyncio
async def test_every_step_opens_without_a_session(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(80, 24)) as pilot:
        for name, word in WALK.items():
            app.go(name)
            await pilot.pause()
            assert word in text_of(app).splitlines()[0]


@pytest.mark.asyncio
async def test_a_small_terminal_has_a_friendly_word_and_loses_nothing(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(100, 30)) as pilot:
        app.go("where")
        await pilot.pause()
        await pilot.resize_terminal(20, 5)
        await pilot.pause()
        assert isinstance(app.screen, TooSmallScreen)
        await pilot.resize_terminal(500, 200)
        await pilot.pause()
        assert isinstance(app.screen, WhereScreen)


@pytest.mark.asyncio
async def test_a_key_can_be_given_by_name(new_app: NewApp) -> None:
    app = new_app(keys={"help": "f9"})
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press("f1")
        assert isinstance(app.screen, HomeScreen)
        await pilot.press("f9")
        assert isinstance(app.screen, HelpScreen)


@pytest.mark.asyncio
async def test_jumping_focuses(new_app: NewApp) -> None:
    app = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        app.go("where")
        await pilot.pause()
        chain = app.screen.focus_chain
        assert len(chain) > 1
        await pilot.press("ctrl+o", "b")
        await pilot.pause()
        assert app.focused is chain[1]
