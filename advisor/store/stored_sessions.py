"""The sessions that a journal has records of, without the records."""

import os
from pathlib import Path
from typing import Final

import msgspec

from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.store.errors import explaining
from advisor.store.reading import ReadPosition, can_resume, unread_lines


class _Line(msgspec.Struct):
    session: str = ""


_decoder: Final = msgspec.json.Decoder(_Line)


class StoredSessions:
    """The sessions in one journal; lines read once are not read again."""

    def __init__(self) -> None:
        self._place = ReadPosition()
        self._found: set[str] = set()

    def look(self, journal: Path) -> set[str]:
        """The present sessions; none if the journal is missing. Raises StoreError."""
        with explaining(journal, "read"):
            try:
                handle = os.open(journal, os.O_RDONLY | os.O_CLOEXEC)
            except FileNotFoundError:
                self._place, self._found = ReadPosition(), set()
                return self._found
            try:
                self._catch_up(handle)
            finally:
                os.close(handle)
        return self._found

    def _catch_up(self, handle: int) -> None:
        status = os.fstat(handle)
        if not can_resume(handle, status, self._place):
            self._place, self._found = ReadPosition(), set()
        for line in unread_lines(handle, status, self._place):
            try:
                self._found.add(decoded(_decoder, line, LINE_LIMIT_BYTES).session)
            except BadData:
                continue
