"""The rows of a pair that were read, kept on this host for when the database does not answer.

It can always be made again, so it is not synced, and no error to be without it.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.store.files import make_directory, open_or_create, replace_file, write_all
from advisor.store.layout import pair_directory
from advisor.store.postgres.rows import Row
from advisor.store.reading import bounded_lines

_decoder: Final = msgspec.json.Decoder(Row)
_pairs_decoder: Final = msgspec.json.Decoder(list[Pair])
# Those of earlier versions do not say who operates.
_COPY: Final = "rows-2.jsonl"
_PAIRS: Final = "pairs.json"


class LocalCopy:
    """What was read of the history `history_id`, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def rows(self, pair: Pair) -> list[Row]:
        """The rows of a pair that are known here, in order; without one in between none after."""
        found: list[Row] = []
        with contextlib.suppress(OSError), self._file(pair).open("rb") as file:
            for line in bounded_lines(file):
                with contextlib.suppress(BadData):
                    row = decoded(_decoder, line, LINE_LIMIT_BYTES)
                    # Two processes may have added the same.
                    if row.number == len(found) + 1:
                        found.append(row)
        return found

    def add(self, pair: Pair, rows: Sequence[Row]) -> None:
        """Keep more rows of a pair."""
        file = self._file(pair)
        lines = b"".join(msgspec.json.encode(row) + b"\n" for row in rows)
        with contextlib.suppress(OSError):
            make_directory(file.parent)
            handle = open_or_create(file, os.O_WRONLY | os.O_APPEND)
            try:
                # A torn line of another process ends here. With O_APPEND no offset counts.
                write_all(handle, b"\n" + lines, 0)
            finally:
                os.close(handle)

    def forget(self, pair: Pair) -> None:
        """Remove what is kept of a pair: the database has other rows."""
        with contextlib.suppress(OSError):
            self._file(pair).unlink()

    def pairs(self) -> list[Pair]:
        """The pairs that the history had when they were last listed."""
        with contextlib.suppress(OSError, BadData):
            data = (self._folder / _PAIRS).read_bytes()
            return decoded(_pairs_decoder, data, LINE_LIMIT_BYTES)
        return []

    def keep_pairs(self, pairs: Sequence[Pair]) -> None:
        """Keep the list of all pairs."""
        with contextlib.suppress(OSError):
            make_directory(self._folder)
            replace_file(self._folder / _PAIRS, msgspec.json.encode(list(pairs)), sync=False)

    def _file(self, pair: Pair) -> Path:
        return pair_directory(self._folder, pair) / _COPY
