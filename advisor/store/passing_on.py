"""A history for somebody else: nothing is kept here, and each record is passed on.

`--store -` is this, for a session that another host has ordered and keeps. The session itself sees
a history that is empty at first, in a folder of its own that goes with it.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final

from advisor.domain.records import Record
from advisor.store.journal_backend import JournalBackend

PASSED_ON: Final = "-"
"""The value of --store for it."""


class PassingOn(JournalBackend):
    """See Backend. `tell`: called with each record that is stored."""

    def __init__(self, tell: Callable[[Record], None]) -> None:
        self._tell = tell
        self._own = tempfile.TemporaryDirectory(prefix="advisor-", ignore_cleanup_errors=True)
        folder = Path(self._own.name)
        super().__init__(folder / "history", folder / "cache")

    @property
    def argument(self) -> str:
        """The value of --store."""
        return PASSED_ON

    def another(self) -> JournalBackend:
        """The same folder, for reading in another thread."""
        return JournalBackend(self._directory, self._cache)

    def append(self, record: Record) -> None:
        """Store a record, and pass it on."""
        super().append(record)
        self._tell(record)
