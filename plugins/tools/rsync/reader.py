"""Reads which files rsync has sent: `--out-format` prints a line for each when it is complete."""

import re
from typing import Final

from advisor.api.tool import Progress

FORMAT: Final = "%i %l %b"
"""What was done, the length, and the bytes sent: for these the line is printed when the file has
been sent, and otherwise before."""

_SENT: Final = re.compile(r"<f\S* (\d{1,19}) \d+")


class SentReader:
    """One transfer's lines, of one process or of several at the same time.

    `moved_bytes`: those of complete files. Of the others rsync reports what each process has read.
    """

    def __init__(self) -> None:
        self._moved_bytes = 0
        self._files = 0

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        if not (sent := _SENT.fullmatch(line)):
            return None
        self._moved_bytes += int(sent[1])
        self._files += 1
        return Progress(moved_bytes=self._moved_bytes, files_begun=self._files)
