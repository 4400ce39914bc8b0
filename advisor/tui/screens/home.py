"""Home: the known pairs, and what can be done."""

from collections.abc import Iterable

from textual.widget import Widget
from textual.widgets import Static

from advisor.tui.step import Page


class HomeScreen(Page):
    """What is known, and where to go from here."""

    NAME = "Home"

    def content(self) -> Iterable[Widget]:
        """The known pairs."""
        yield Static("…")
