"""Reads which files are complete: aria2c says it of each, but not how large it is."""

import re
from typing import Final

from advisor.api.tool import Progress

_COMPLETE: Final = re.compile(r"\S+ \S+ \[NOTICE\] Download complete: ")


class CompleteReader:
    """One transfer's lines. The bytes are those of the server's connections."""

    def __init__(self) -> None:
        self._files = 0

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        if not _COMPLETE.match(line):
            return None
        self._files += 1
        return Progress(files_begun=self._files)
