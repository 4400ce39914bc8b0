"""The registry of screens, and who goes by it."""

import subprocess
import sys

import pytest

from advisor.tui.app import AdvisorApp
from advisor.tui.home import HomeScreen
from advisor.tui.page import Page
from advisor.tui.screens import SCREENS, first_screens, screen_class

from .conftest import NewApp


@pytest.mark.parametrize("name", SCREENS)
def test_each_entry_names_a_screen(name: str) -> None:
    assert issubclass(screen_class(name), Page)


def test_names_are_known_without_textual() -> None:
    program = (
        "import sys; from advisor.tui.screens import first_screens; first_screens(); "
        "sys.exit('textual' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.asyncio
@pytest.mark.parametrize("name", first_screens())
async def test_the_program_can_begin_with_it(new_app: NewApp, name: str) -> None:
    app = new_app(first=name)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        await pilot.pause()
        assert type(app.screen) is screen_class(name)


@pytest.mark.asyncio
async def test_home_and_the_palette_offer_what_the_registry_has(new_app: NewApp) -> None:
    app: AdvisorApp = new_app()
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.pause()
        keys = {b.binding.key for b in app.screen.active_bindings.values()}
        commands = {command.title for command in app.get_system_commands(app.screen)}
        assert isinstance(app.screen, HomeScreen)
        for entry in SCREENS.values():
            assert entry.home is None or entry.home.key in keys
            assert not entry.title or f"Open: {entry.title}" in commands
            assert not entry.step or f"Step: {entry.step}" in commands
