"""The events of a session, stored as they came, so that the session can be shown again.

They are for display; the journal is authoritative. So a log is not synced, and if it cannot be
written the session continues without it.

    raw/SESSION/events.jsonl       while the session runs, and after it was killed
    raw/SESSION/events.jsonl.gz    after it has ended; one member for each time it was resumed
"""

import contextlib
import gzip
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

import msgspec

from advisor.domain.events import AnyEvent
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.store.files import make_directory, open_or_create
from advisor.store.reading import bounded_lines

_DAMAGED = (EOFError, gzip.BadGzipFile, zlib.error)
_PLAIN = "events.jsonl"
PACKED = "events.jsonl.gz"
# A session has some megabytes; a small file may hold any number of them.
_MOST_BYTES = 256 * 2**20


class EventLog:
    """A listener that stores events. Call `close` when the session ends."""

    def __init__(self, folder: Path) -> None:
        self._plain = folder / _PLAIN
        self._packed = folder / PACKED
        self._encoder = msgspec.json.Encoder()
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            make_directory(folder)
            self._file = _appended(self._plain)

    def __call__(self, event: AnyEvent) -> None:
        """Store one event."""
        if self._file is None:
            return
        try:
            self._file.write(self._encoder.encode(event) + b"\n")
            self._file.flush()
        except OSError:
            self.close()

    def close(self) -> None:
        """Compress the stored events. Later events are ignored."""
        file, self._file = self._file, None
        if file is None:
            return
        with contextlib.suppress(OSError):
            file.close()
            with _appended(self._packed) as packed:
                packed.write(gzip.compress(self._plain.read_bytes(), mtime=0))
            self._plain.unlink()


def _appended(path: Path) -> IO[bytes]:
    return os.fdopen(open_or_create(path, os.O_WRONLY | os.O_APPEND), "ab")


def kept_events(folder: Path) -> Iterator[AnyEvent]:
    """The stored events in a session's folder, in order; none without a log.

    Lines that are not events, such as a kill may leave, are skipped. Raises OSError.
    """
    packed, plain = folder / PACKED, folder / _PLAIN
    if packed.is_file():
        with packed.open("rb") as file:
            yield from packed_events(file)
    if plain.is_file():
        with plain.open("rb") as file:
            yield from _events(bounded_lines(file))


def packed_events(file: IO[bytes]) -> Iterator[AnyEvent]:
    """The events in a compressed log; those before the first damage. Raises OSError."""
    with contextlib.suppress(*_DAMAGED), gzip.open(file) as unpacked:
        yield from _events(bounded_lines(unpacked, _MOST_BYTES))


def _events(lines: Iterable[bytes]) -> Iterator[AnyEvent]:
    decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
    for line in lines:
        with contextlib.suppress(BadData):
            yield decoded(decoder, line, LINE_LIMIT_BYTES)
