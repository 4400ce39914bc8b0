"""Reads the statistics that rclone logs as JSON while it runs."""

import re
from typing import Final

from advisor.api.json_lines import json_entry
from advisor.api.tool import Progress

_LOST: Final = re.compile(
    r"couldn't connect SSH|ssh: rejected|couldn't initialise SFTP|connection lost"
    r"|connection reset by peer|connection refused|broken pipe|unexpected EOF|use of closed"
)
ERRORS: Final = frozenset({"error", "critical", "fatal", "panic", "alert", "emergency"})
"""The levels of entries that say what failed; the names differ between versions."""


class StatsReader:
    """One transfer's log.

    A connection that was refused or lost is the end of it: rclone itself would try every other
    file, each with pauses.

    `moved_bytes`: those of files that are complete. What rclone counts of the others is what it has
    read, up to several MiB for each of which nothing has been sent.
    """

    def __init__(self) -> None:
        self._moved_bytes = 0
        self._files = 0

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        entry = json_entry(line)
        if entry.get("level") in ERRORS and _LOST.search(str(entry.get("msg"))):
            return Progress(moved_bytes=self._moved_bytes, has_failed=True)
        stats = entry.get("stats")
        under_way = stats.get("transferring") or [] if isinstance(stats, dict) else None
        if not isinstance(under_way, list):
            return None
        read_bytes = sum(_count(one, "bytes") for one in under_way)
        moved_bytes = max(self._moved_bytes, _count(stats, "bytes") - read_bytes)
        begun = _count(stats, "transfers") + len(under_way) - _count(stats, "errors")
        files = max(self._files, begun)
        if (moved_bytes, files) == (self._moved_bytes, self._files):
            return None
        self._moved_bytes, self._files = moved_bytes, files
        return Progress(moved_bytes=moved_bytes, files_begun=files)


def _count(entry: object, name: str) -> int:
    found = entry.get(name, 0) if isinstance(entry, dict) else 0
    return found if isinstance(found, int) and found >= 0 else 0
