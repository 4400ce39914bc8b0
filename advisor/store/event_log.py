"""The events of a session, kept as they came, so that it can be shown again as it was.

They are for looking at: what counts is in the journal. So a log is not synced, and where it cannot
be written the session goes on without.

    raw/SESSION/events.jsonl       while the session runs, and after it was killed
    raw/SESSION/events.jsonl.gz    when it has ended; one member for each time it was resumed
"""

import contextlib
import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from advisor.domain.events import AnyEvent
from advisor.store.files import make_directory

_PLAIN = "events.jsonl"
_PACKED = "events.jsonl.gz"


class EventLog:
    """A listener that keeps what it hears. `close` it when the session ends."""

    def __init__(self, folder: Path) -> None:
        self._plain = folder / _PLAIN
        self._packed = folder / _PACKED
        self._encoder = msgspec.json.Encoder()
        self._file: IO[bytes] | None = None
        with contextlib.suppress(OSError):
            make_directory(folder)
            self._file = self._plain.open("ab")

    def __call__(self, event: AnyEvent) -> None:
        """Keep one event."""
        if self._file is None:
            return
        try:
            self._file.write(self._encoder.encode(event) + b"\n")
            self._file.flush()
        except OSError:
            self.close()

    def close(self) -> None:
        """Pack what was kept. Nothing that is called later is kept any more."""
        file, self._file = self._file, None
        if file is None:
            return
        with contextlib.suppress(OSError):
            file.close()
            with self._packed.open("ab") as packed:
                packed.write(gzip.compress(self._plain.read_bytes(), mtime=0))
            self._plain.unlink()


def kept_events(folder: Path) -> Iterator[AnyEvent]:
    """The events that were kept in a session's folder, in their order; none without a log.

    Lines that are no events, as a kill leaves them, are passed over. Raises OSError.
    """
    decoder: msgspec.json.Decoder[AnyEvent] = msgspec.json.Decoder(AnyEvent)
    for line in _lines(folder):
        with contextlib.suppress(msgspec.MsgspecError):
            yield decoder.decode(line)


def _lines(folder: Path) -> Iterator[bytes]:
    packed, plain = folder / _PACKED, folder / _PLAIN
    if packed.is_file():
        with contextlib.suppress(EOFError, gzip.BadGzipFile), gzip.open(packed) as file:
            yield from file
    if plain.is_file():
        with plain.open("rb") as file:
            yield from file
