"""A log that follows its newest line unless it was scrolled up."""

from collections.abc import Iterable
from typing import Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize

from advisor.tui.kit.panels.titled import PANEL_CSS, Titled
from advisor.tui.kit.static import Static

_NOTHING: Final = "Nothing yet."


class LineLog(Titled, VerticalScroll, can_focus=True):
    """A log; `fill` sets its lines."""

    DEFAULT_CSS = (
        f"LineLog {{ {PANEL_CSS} }}"
        + """
    LineLog > Static { height: auto; }
    """
    )

    _said: object = None

    def compose(self) -> ComposeResult:
        yield Static(_NOTHING)

    def on_resize(self, _: Resize) -> None:
        self._to_the_end()

    def fill(self, known: object, lines: Iterable[str]) -> None:
        """Show `known` as lines; nothing is done where nothing is new."""
        if known == self._said:
            return
        self._said = known
        at_end = self.is_vertical_scroll_end
        self.query_one(Static).update(Content("\n".join(lines) or _NOTHING))
        if at_end:
            self._to_the_end()

    def _to_the_end(self) -> None:
        # The height of the text is known only after layout.
        self.call_after_refresh(self.scroll_end, animate=False)
