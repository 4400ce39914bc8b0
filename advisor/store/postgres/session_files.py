"""Events of sessions and outputs of tools: written on this host, sent when the session has ended.

SPOOL/raw/SESSION/whose.json      the pair and the session
SPOOL/raw/SESSION/events.jsonl    as in event_log.py
SPOOL/raw/SESSION/*.gz            waits to be sent, and is then removed
"""

import contextlib
import gzip
import io
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.endpoints import Pair
from advisor.domain.events import AnyEvent
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.store.errors import StoreError, explaining
from advisor.store.event_log import PACKED, EventLog, kept_events, packed_events
from advisor.store.files import make_directory, replace_file
from advisor.store.layout import safe_name
from advisor.store.postgres.database import Database
from advisor.store.postgres.queries import event_files, keep
from advisor.store.postgres.spool import Spool

_WHOSE: Final = "whose.json"
_MOST_BYTES: Final = 64 * 2**20


class _Whose(msgspec.Struct, frozen=True):
    pair: Pair
    session: str


_decoder: Final = msgspec.json.Decoder(_Whose)


class SessionFiles:
    """The files of sessions in the shared history and on this host."""

    def __init__(self, database: Database, spool: Spool) -> None:
        self._database = database
        self._spool = spool

    def log(self, pair: Pair, session: str) -> "SharedEventLog":
        """A listener that stores a session's events, and sends them when it is closed."""
        return SharedEventLog(self, self._folder(pair, session))

    def events(self, pair: Pair, session: str) -> list[AnyEvent]:
        """The events of a session in order, those that are not sent last. Raises Unreachable."""
        found: list[AnyEvent] = []
        for data in self._database.ask(partial(event_files, pair=pair, session=session)):
            found += packed_events(io.BytesIO(data))
        return found + self.events_here(session)

    def events_here(self, session: str) -> list[AnyEvent]:
        """Those that are not sent."""
        folder = self._raw() / safe_name(session)
        with explaining(folder, "read"):
            return list(kept_events(folder))

    def keep(self, pair: Pair, session: str, name: str, data: bytes) -> None:
        """Store a tool's output, compressed. Raises StoreError."""
        folder = self._folder(pair, session)
        file = folder / f"{safe_name(name)}.gz"
        with explaining(file, "write"):
            replace_file(file, gzip.compress(data, mtime=0))
        self.send(folder)

    def waiting(self) -> Iterator[Path]:
        """The folders of sessions that have something to send, or a log that is written."""
        with contextlib.suppress(OSError):
            yield from sorted(path.parent for path in self._raw().glob(f"*/{_WHOSE}"))

    def send(self, folder: Path) -> None:
        """Send what a session's folder has, if the history takes it now."""
        with contextlib.suppress(OSError, BadData):
            data = (folder / _WHOSE).read_bytes()
            whose = decoded(_decoder, data, LINE_LIMIT_BYTES)
            for file in sorted(folder.glob("*.gz")):
                if not self._sent(whose, file):
                    return
            if [file.name for file in folder.iterdir()] == [_WHOSE]:
                (folder / _WHOSE).unlink()
                folder.rmdir()

    def _sent(self, whose: _Whose, file: Path) -> bool:
        name = file.name
        if name == PACKED:
            # One for each time that the session ran; of the next, too.
            name = f"events.{file.stat().st_mtime_ns:020}"
        if file.stat().st_size <= _MOST_BYTES:
            work = partial(
                keep, pair=whose.pair, session=whose.session, name=name, data=file.read_bytes()
            )
            try:
                self._database.ask(work)
            except StoreError:
                # It is for display, nothing hangs on it: the next to send tries again.
                return False
        file.unlink()
        return True

    def _folder(self, pair: Pair, session: str) -> Path:
        self._spool.make()
        folder = self._raw() / safe_name(session)
        whose = folder / _WHOSE
        with explaining(folder, "write"):
            make_directory(folder)
            replace_file(whose, msgspec.json.encode(_Whose(pair, session)), sync=False)
        return folder

    def _raw(self) -> Path:
        return self._spool.folder / "raw"


class SharedEventLog:
    """A listener that stores events on this host, and sends them when the session ends."""

    def __init__(self, files: SessionFiles, folder: Path) -> None:
        self._files = files
        self._folder = folder
        self._log = EventLog(folder)

    def __call__(self, event: AnyEvent) -> None:
        """Store one event."""
        self._log(event)

    def close(self) -> None:
        """Compress the events, and send them. Later events are ignored."""
        self._log.close()
        self._files.send(self._folder)
