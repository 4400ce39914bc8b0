"""Reads the statistics that rclone logs as JSON while it runs."""

import json
from typing import Any

from advisor.api.tool import Progress


class StatsReader:
    """One transfer's log.

    `moved_bytes`: those of files that are complete. What rclone counts of the others is what it has
    read, up to several MiB for each of which nothing has been sent.
    """

    def __init__(self) -> None:
        self._moved_bytes = 0
        self._files = 0

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        stats = logged(line).get("stats")
        if not isinstance(stats, dict):
            return None
        under_way = stats.get("transferring") or []
        if not isinstance(under_way, list):
            return None
        read_bytes = sum(_count(one, "bytes") for one in under_way)
        self._moved_bytes = max(self._moved_bytes, _count(stats, "bytes") - read_bytes)
        self._files = max(self._files, _count(stats, "transfers") + len(under_way))
        return Progress(moved_bytes=self._moved_bytes, files_begun=self._files)


def logged(line: str) -> dict[str, Any]:
    """The entry of a line of the log; empty for other lines."""
    if not line.startswith("{"):
        return {}
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return entry if isinstance(entry, dict) else {}


def _count(entry: object, name: str) -> int:
    found = entry.get(name, 0) if isinstance(entry, dict) else 0
    return found if isinstance(found, int) and found >= 0 else 0
