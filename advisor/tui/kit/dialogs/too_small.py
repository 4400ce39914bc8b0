"""The message shown while the terminal is too small for a screen."""

from typing import Final

from textual.app import ComposeResult
from textual.screen import Screen

from advisor.tui.kit.static import Static

LEAST_COLUMNS: Final = 80
LEAST_LINES: Final = 24


class TooSmallScreen(Screen[None]):
    """Asks for a larger terminal; no state is lost meanwhile."""

    def compose(self) -> ComposeResult:
        yield Static(
            f"The terminal is too small: {LEAST_COLUMNS} × {LEAST_LINES} is the minimum. "
            "Nothing is lost meanwhile."
        )
