"""Completions that a field offers while typing; right arrow accepts."""

import asyncio
import os
from pathlib import Path

from textual.suggester import Suggester

from advisor.hosts.source_listing import is_utf8


class DestinationSuggester(Suggester):
    """Completes from `names`, which may be set later; a `user@` prefix is kept."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self.names: list[str] = []

    async def get_suggestion(self, value: str) -> str | None:
        user, at, host = value.rpartition("@")
        if not host:
            return None
        found = next((name for name in self.names if name.startswith(host)), None)
        return f"{user}{at}{found}" if found else None


class PathSuggester(Suggester):
    """Files and folders of this host."""

    def __init__(self) -> None:
        super().__init__(use_cache=False, case_sensitive=True)

    async def get_suggestion(self, value: str) -> str | None:
        return await asyncio.to_thread(_first_below, value)


def _first_below(typed: str) -> str | None:
    """The first name that starts with the typed text; a folder with its slash.

    Only of those that are UTF-8, as the names of all that is moved must be.
    """
    folder, start = os.path.split(typed)
    if not start:
        return None
    try:
        with os.scandir(Path(folder or ".").expanduser()) as entries:
            names = sorted(
                f"{entry.name}/" if entry.is_dir() else entry.name
                for entry in entries
                if entry.name.startswith(start) and is_utf8(entry.name)
            )
    except (OSError, RuntimeError, ValueError):
        # What is typed is seldom complete: no folder, or the home directory of nobody.
        return None
    return os.path.join(folder, names[0]) if names else None  # noqa: PTH118  # "./" and "~" as typed
