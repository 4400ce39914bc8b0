"""Reads the lines of JSON that s5cmd prints, one for each complete file."""

from advisor.api.json_lines import json_entry
from advisor.api.tool import Progress


class CopiedReader:
    """One transfer's lines. `moved_bytes`: those of files that are complete."""

    def __init__(self) -> None:
        self._moved_bytes = 0
        self._files = 0

    def feed(self, line: str) -> Progress | None:
        """The state after one more line, without its end; None if the line has no progress."""
        entry = json_entry(line)
        copied = entry.get("object")
        if entry.get("success") is not True or not isinstance(copied, dict):
            return None
        size = copied.get("size", 0)  # An empty file has none.
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            return None
        self._moved_bytes += size
        self._files += 1
        return Progress(moved_bytes=self._moved_bytes, files_begun=self._files)
