"""Lines, the newest at the bottom, which it stays at unless one has scrolled up to read."""

from collections.abc import Iterable
from typing import Final

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widgets import Static

from advisor.domain.quantities import format_duration

_NOTHING: Final = "Nothing yet."


class LineLog(VerticalScroll, can_focus=True):
    """What happened; `fill` it."""

    DEFAULT_CSS = """
    LineLog { border-top: solid $foreground 30%; border-title-color: $foreground; }
    LineLog:focus { border-title-color: $primary; border-title-style: bold reverse; }
    LineLog > Static { height: auto; padding: 0 1; }
    """

    _said: object = None

    def compose(self) -> ComposeResult:
        yield Static(_NOTHING)

    def on_resize(self, _: Resize) -> None:
        self._to_the_end()

    def fill(self, known: object, lines: Iterable[str]) -> None:
        """All that is `known`, as lines; they are not made where nothing is new."""
        if known == self._said:
            return
        self._said = known
        at_end = self.is_vertical_scroll_end
        self.query_one(Static).update(Content("\n".join(lines) or _NOTHING))
        if at_end:
            self._to_the_end()

    def _to_the_end(self) -> None:
        # How high the text is, is known once it is laid out.
        self.call_after_refresh(self.scroll_end, animate=False)


def moment_words(at_s: float) -> str:
    """When it was, in front of a line."""
    return format_duration(round(at_s)) if at_s >= 1 else "0 s"
