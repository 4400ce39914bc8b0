"""Reads what `-vb` prints while it runs.

The names of a file come when it is begun, and now and then a count of its bytes, which does not say
which file it is of. Small files have none. It is written through a buffer of 4 KiB that every count
empties, so that a pipe shows counts at once; a terminal is not needed.
"""

import re
from typing import Final

from advisor.api.tool import Progress

_COUNT: Final = re.compile(r" *(\d{1,18}) bytes +[\d.]+ MB/sec avg +[\d.]+ MB/sec inst *")
_DESTINATION: Final = "Dest:   "


class VerboseReader:
    """One transfer's output.

    `moved_bytes` is what has moved at the least: counts never fall within a file, so each is taken
    for the next of the file that was nearest below. Where it is of another, more has moved.
    """

    def __init__(self) -> None:
        self._name_follows = False
        self._files = 0
        self._counts: list[int] = []

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None when it told nothing."""
        if self._name_follows:
            self._name_follows = False
            # A directory that is made is named too.
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
