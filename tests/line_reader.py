"""Lines of a pipe, awaited for a limited time."""

import os
import select
import time
from typing import IO, Any


class LineReader:
    """Reads what another process writes, line by line."""

    def __init__(self, pipe: IO[Any]) -> None:
        self._pipe = pipe
        # Begun lines: select sees the pipe, not what a text stream has buffered.
        self._unread = b""

    def line(self, deadline_s: float) -> bytes:
        """The next line without its end; nothing after the deadline or the end."""
        while b"\n" not in self._unread:
            left_s = max(0.0, deadline_s - time.monotonic())
            ready, _, _ = select.select([self._pipe], [], [], left_s)
            more = os.read(self._pipe.fileno(), 65536) if ready else b""
            if not more:
                return b""
            self._unread += more
        line, _, self._unread = self._unread.partition(b"\n")
        return line

    def rest(self) -> bytes:
        """What was read and belongs to no line that was returned; forgotten here."""
        rest, self._unread = self._unread, b""
        return rest
