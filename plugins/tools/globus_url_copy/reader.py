"""Reads what `-vb` prints while it runs.

It prints the names of a file when it begins, and from time to time a count of bytes, which does not
say which file it belongs to. Small files have none. Every count flushes the output buffer of 4 KiB,
so a pipe shows counts at once; a terminal is not needed.
"""

import re
from typing import Final

from advisor.api.tool import Progress

_COUNT: Final = re.compile(r" *(\d{1,18}) bytes +[\d.]+ MB/sec avg +[\d.]+ MB/sec inst *")
_DESTINATION: Final = "Dest:   "


class VerboseReader:
    """One transfer's output.

    `moved_bytes` is a lower bound: counts never fall within a file, so each is attributed to the
    file with the nearest lower count. If it belongs to another file, more has moved.
    """

    def __init__(self) -> None:
        self._name_follows = False
        self._files = 0
        self._counts: list[int] = []

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        if self._name_follows:
            self._name_follows = False
            # Directories that are created are named too.
            self._files += not line.endswith("/")
        elif count := _COUNT.fullmatch(line):
            self._add(int(count.group(1)))
        else:
            self._name_follows = line.startswith(_DESTINATION)
            return None
        return Progress(
            moved_bytes=sum(self._counts) if self._counts else None, files_begun=self._files
        )

    def _add(self, count: int) -> None:
        below = [earlier for earlier in self._counts if earlier <= count]
        if below:
            self._counts.remove(max(below))
        self._counts.append(count)
