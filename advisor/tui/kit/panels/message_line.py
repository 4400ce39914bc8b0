"""Messages between content and footer, where they cover nothing."""

from typing import Final

from textual.content import Content
from textual.notifications import Notification
from textual.timer import Timer

from advisor.tui.kit.static import Static

_STYLES: Final = {"information": "", "warning": "$act", "error": "$failed"}
_MARKS: Final = {"information": "", "warning": "! ", "error": "✗ "}


class MessageLine(Static):
    """Empty and one line high, until `say` is called. A click removes the message."""

    DEFAULT_CSS = """
    MessageLine { height: auto; min-height: 1; max-height: 3; padding: 0 1; }
    """

    _timer: Timer | None = None

    def say(self, said: Notification) -> None:
        """Show a message for the rest of its time, instead of the one before; never as markup."""
        if self._timer:
            self._timer.stop()
        style = _STYLES[said.severity]
        head = f"{_MARKS[said.severity]}{said.title}{': ' if said.title else ''}"
        self.update(Content.assemble((head, f"bold {style}".strip()), (said.message, style)))
        self._timer = self.set_timer(max(0.0, said.time_left), self._forget)

    def _forget(self) -> None:
        self.update("")

    def on_click(self) -> None:
        self._forget()
