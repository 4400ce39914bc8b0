"""Messages between content and footer, where they cover nothing."""

from typing import Final

from textual.content import Content
from textual.notifications import SeverityLevel
from textual.timer import Timer
from textual.widgets import Static

_STYLES: Final = {"information": "", "warning": "$act", "error": "$failed"}
_MARKS: Final = {"information": "", "warning": "! ", "error": "✗ "}


class MessageLine(Static):
    """Empty and one line high, until `say` is called. A click removes the message."""

    DEFAULT_CSS = """
    MessageLine { height: auto; min-height: 1; max-height: 3; padding: 0 1; }
    """

    _timer: Timer | None = None

    def say(self, message: str, title: str, severity: SeverityLevel, timeout_s: float) -> None:
        """Show a message for this many seconds, instead of the one before. It is never markup."""
        if self._timer:
            self._timer.stop()
        style = _STYLES[severity]
        head = f"{title}: " if title else ""
        mark = _MARKS[severity]
        self.update(Content.assemble((f"{mark}{head}", f"bold {style}".strip()), (message, style)))
        self._timer = self.set_timer(timeout_s, self._forget)

    def _forget(self) -> None:
        self.update("")

    def on_click(self) -> None:
        self._forget()
