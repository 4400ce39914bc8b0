"""`advisor` alone: the terminal interface, or the plain report where it cannot be shown."""

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.cli.config import configuration
from advisor.report.output import say

if TYPE_CHECKING:
    from advisor.domain.events import AnyEvent


def is_possible() -> bool:
    """Whether this terminal can show the interface."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def open_interface(screen: str) -> int:
    """Run the interface, beginning with this screen; returns the exit code."""
    return _shown(screen)


def open_recording(events: "Sequence[AnyEvent]") -> int:
    """Run the interface, beginning with this recording; returns the exit code."""
    from advisor.tui.features.history.screens.recording import RecordingScreen

    return _shown(RecordingScreen(events))


def open_manual(page: Path) -> int:
    """Show a page of the manual, and what it links to; returns the exit code."""
    from advisor.tui.manual import ManualApp

    looks, _ = checked_settings()
    app = ManualApp(page, theme=looks.theme)
    app.run()
    return app.return_code or 0


def _shown(first: Any) -> int:
    # There is no garbage before the first screen; collecting would only delay it.
    gc.disable()
    from advisor.cli.options import configured_store
    from advisor.tui.app import AdvisorApp
    from advisor.tui.features.advising.draft import load_draft

    looks, keys = checked_settings()
    app = AdvisorApp(
        configured_store(),
        load_draft(),
        drawing=looks.drawing,
        theme=looks.theme,
        keys=keys,
        first=first,
    )
    status = app.run()
    return app.return_code or status or 0


def checked_settings() -> tuple[configuration.Screen, dict[str, str]]:
    """The configured look and keys of the interface. Raises BadConfiguration."""
    configured = configuration.load()
    screen = configured.screen
    keys = {name: str(key) for name, key in configured.keys.items()}
    if screen != configuration.Screen() or keys:  # Checking loads every screen.
        from advisor.tui.settings import BadSetting, check

        try:
            check(screen.theme, keys)
        except BadSetting as error:
            raise configuration.BadConfiguration.about(str(configuration.path()), error) from None
    return screen, keys


def plain_report() -> None:
    """The known pairs with their best results, and what to do next."""
    from advisor.cli.history.command import history

    history.main([], prog_name="advisor history", standalone_mode=False)
    say(
        "\nNew advice: advisor advise [USER@]HOST. An interrupted session: advisor resume."
        "\nA session again: advisor history replay PAIR. All commands: advisor --help."
    )
