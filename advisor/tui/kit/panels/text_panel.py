"""A panel of text that scrolls, and is drawn again only where it changed."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content

from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.static import Static


class TextPanel(Titled, VerticalScroll):
    """`fill` it as often as you like."""

    DEFAULT_CSS = (
        f"TextPanel {{ {PANEL_CSS} }}"
        + """
    TextPanel { height: 1fr; min-height: 4; scrollbar-size-vertical: 1; }
    TextPanel > Static { height: auto; min-height: 100%; }
    """
    )

    _filled = Content("")
    _rows = 0

    def compose(self) -> ComposeResult:
        yield Static()

    def fill(self, words: Content) -> None:
        """Show these words, if they changed."""
        if not self.is_mounted or words.is_same(self._filled):
            return
        self._filled = words
        rows = len(words.wrap(max(self.content_size.width, 1)))
        # Layout is expensive: only when the scroll height changes.
        scrolls = max(rows, self._rows) > self.content_size.height
        self.query_one(Static).update(words, layout=scrolls and rows != self._rows)
        self._rows = rows
