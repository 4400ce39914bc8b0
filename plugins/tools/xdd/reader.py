"""Reads what xdd prints to its standard output: a line of results at the end.

    ` COMBINED   1   1   4   2147483648   512   43.603   49.251   11.742   21.290   1.651   read …`

Pass, target, queue, bytes, operations, seconds, and MB/s with an MB of 10^6 bytes. It reports the
bytes moved so far by heartbeats, at the destination and on standard error.
"""

import re
from typing import Final

from advisor.api.tool import Progress

_COMBINED: Final = re.compile(r" *COMBINED(?: +\d+){3} +(\d{1,18}) +\d+ .*")


class ResultReader:
    """One transfer's output."""

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        found = _COMBINED.fullmatch(line)
        return Progress(moved_bytes=int(found.group(1)), files_begun=1) if found else None
