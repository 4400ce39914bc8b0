"""A text keeps up with its content, whatever else is laid out meanwhile."""

import pytest
from textual.app import App, ComposeResult

from advisor.tui.kit.static import Static


class Two(App[None]):
    CSS = "Static { height: auto; }"

    def compose(self) -> ComposeResult:
        yield Static("one", id="first")
        yield Static("two", id="second")


@pytest.mark.asyncio
async def test_it_grows_though_the_screen_was_laid_out_between_two_changes() -> None:
    app = Two()
    async with app.run_test(size=(40, 10)) as pilot:
        await pilot.pause()
        first = app.query_one("#first", Static)
        first.update("another line")
        # As when the second one asks for a layout of its own, before the first came to that.
        app.screen._clear_arrangement_cache()
        app.screen._refresh_layout()
        first.update("one\ntwo")
        await pilot.pause(0.2)
        assert first.size.height == 2
