"""One line for each event, which no stranger can turn into a flood."""

import time
from collections.abc import Callable
from typing import Final

_WINDOW_S: Final = 60.0
_LINES: Final = 5
_LONGEST: Final = 200


class EventLog:
    """Writes at most five lines of a kind in a minute; the others are counted."""

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`clock`: monotonic, in seconds."""
        self._write = write
        self._clock = clock
        self._windows: dict[str, _Window] = {}

    def say(self, kind: str, text: str) -> None:
        """Write a line, or count it. `kind`: a fixed text, never a peer's; there are few."""
        if self.allows(kind):
            printable = "".join(c if c.isprintable() else "?" for c in text[:_LONGEST])
            self._write(f"{kind}: {printable}")

    def allows(self, kind: str) -> bool:
        """Whether one more line of this kind may be written now; it is then counted as written."""
        now_s = self._clock()
        window = self._windows.get(kind)
        if window is None or now_s >= window.began_s + _WINDOW_S:
            if window and window.suppressed:
                self._write(f"{kind}: {window.suppressed} more within a minute")
            window = self._windows[kind] = _Window(now_s)
        window.count += 1
        return window.count <= _LINES


class _Window:
    def __init__(self, began_s: float) -> None:
        self.began_s = began_s
        self.count = 0

    @property
    def suppressed(self) -> int:
        return max(0, self.count - _LINES)
