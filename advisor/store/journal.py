"""TinyDB over a journal: one JSON line per record, appended, synced, and only then acknowledged."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import msgspec
from filelock import Timeout, UnixFileLock
from tinydb.storages import Storage
from tinydb.table import Table

from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.hosts.locks import require_locks
from advisor.store.errors import ELSEWHERE, StoreError, StoreFull, explaining
from advisor.store.files import (
    ensure_file,
    make_directory,
    open_or_create,
    replace_file,
    sync_directory,
    write_all,
)
from advisor.store.reading import ReadPosition, can_resume, unread_lines

__all__ = ["JournalStorage", "JournalTable", "StoreError", "StoreFull"]

TABLE: Final = "records"

# An append holds the lock for one sync: milliseconds, seconds on a busy file server. A process that
# holds it for a minute is stopped or hangs, and waiting longer would hang this process too.
LOCK_TIMEOUT_S: Final = 60.0
# filelock polls. Shorter than one sync, so that waiting costs little more than the work.
_POLL_S: Final = 0.002

_decoder: Final = msgspec.json.Decoder(dict[str, Any])


class JournalStorage(Storage):
    """The journal at `path` as a TinyDB storage: one table, its documents by id.

    A document's id is the byte offset of its line: unique, increasing, and the same in every
    process until the whole journal is rewritten (remove, update, truncate), which moves the lines.

    Writers take turns with a lock on the file `journal.lock` next to it. It uses flock, which Linux
    turns into a lock at the server on NFS, so that it also works between hosts. It is a separate
    file because the journal itself may be replaced while another process waits for it.

    `elsewhere`: how the user has the journal in another place, for the errors.

    Readers take no lock. A line counts once it ends in a newline; a line that is not a JSON object
    is skipped and counted in `bad_lines`. Parsed lines are cached, and only lines appended since
    are read again.
    """

    def __init__(self, path: Path, elsewhere: str = ELSEWHERE) -> None:
        self.path = path
        self._elsewhere = elsewhere
        self._has_locks = False
        self._lock = UnixFileLock(
            path.with_suffix(".lock"), timeout=LOCK_TIMEOUT_S, poll_interval=_POLL_S
        )
        self.forget()

    @property
    def bad_lines(self) -> int:
        """The number of lines read so far that are not records."""
        return self._bad_lines

    def forget(self) -> None:
        """Read everything again the next time."""
        self._documents: dict[str, dict[str, Any]] = {}
        self._bad_lines = 0
        self._place = ReadPosition()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock out all other writers; may be nested.

        Raises StoreError after the time limit, and at once on a file system without locks.
        """
        with explaining(self.path.parent, "write", self._elsewhere):
            make_directory(self.path.parent)
            self._require_locks()
            try:
                self._lock.acquire()
            except Timeout as error:
                raise StoreError(
                    f"cannot write {self.path}: another process has held its lock for "
                    f"{LOCK_TIMEOUT_S:.0f} s",
                    remedy=f"end that process or {self._elsewhere}",
                ) from error
        try:
            yield
        finally:
            self._lock.release()

    def _require_locks(self) -> None:
        file = Path(self._lock.lock_file)
        ensure_file(file)
        if not self._has_locks:
            require_locks(file)
        self._has_locks = True

    def append(self, documents: Iterable[Mapping[str, Any]]) -> list[int]:
        """Append one line per document and return their ids once all are on disk.

        Either all are stored or, when StoreError or StoreFull is raised, none.
        """
        lines = [msgspec.json.encode(document) + b"\n" for document in documents]
        # Open only under the lock: before, the file might be one that is about to be replaced.
        with self.locked(), explaining(self.path, "write", self._elsewhere):
            handle = open_or_create(self.path, os.O_RDWR)
            try:
                return self._append(handle, lines)
            finally:
                os.close(handle)

    def _append(self, handle: int, lines: list[bytes]) -> list[int]:
        size = os.fstat(handle).st_size
        if not size:
            # Before the first byte, so that the name of a non-empty journal survives a crash, even
            # when another process has just created the directory and not synced it yet.
            sync_directory(self.path.parent)
            sync_directory(self.path.parent.parent)
        # Terminate a line that a crashed writer left behind: one bad line, then a clean start.
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        start = size + torn
        kept = False
        try:
            write_all(handle, b"\n" * torn + b"".join(lines), size)
            os.fdatasync(handle)
            kept = True
        finally:
            if not kept:
                # If even this fails, the next writer terminates the remainder.
                with suppress(OSError):
                    os.ftruncate(handle, size)
        ids = []
        for line in lines:
            ids.append(start)
            start += len(line)
        return ids

    def read(self) -> dict[str, dict[str, Any]] | None:
        """All documents of the present journal by id; None when there are none."""
        with explaining(self.path, "read"):
            try:
                file = self.path.open("rb")
            except FileNotFoundError:
                self.forget()
                return None
            with closing(file):
                self._catch_up(file.fileno())
        return {TABLE: self._documents} if self._documents else None

    def _catch_up(self, handle: int) -> None:
        status = os.fstat(handle)
        if not can_resume(handle, status, self._place):
            self.forget()
        for line in unread_lines(handle, status, self._place):
            try:
                document = decoded(_decoder, line, LINE_LIMIT_BYTES)
                self._documents[str(self._place.read_to)] = document
            except BadData:
                self._bad_lines += 1

    def write(self, data: dict[str, dict[str, Any]]) -> None:
        """Replace the journal by these documents, atomically; they get new ids, bad lines go."""
        lines = (msgspec.json.encode(document) + b"\n" for document in data.get(TABLE, {}).values())
        payload = b"".join(lines)
        with self.locked(), explaining(self.path, "write", self._elsewhere):
            replace_file(self.path, payload)
        self.forget()


class JournalTable(Table):
    """TinyDB's table, except that an insert appends instead of rewriting everything.

    Every other change rewrites the whole journal under the lock, from its content at that time.
    """

    def __init__(self, journal: JournalStorage) -> None:
        # No query cache: it would not see what other processes append.
        super().__init__(journal, TABLE, cache_size=0)
        self.journal = journal

    def insert(self, document: Mapping[str, Any]) -> int:
        """Append one document; return its id once it is on disk. Raises StoreError."""
        return self.insert_multiple([document])[0]

    def insert_multiple(self, documents: Iterable[Mapping[str, Any]]) -> list[int]:
        """Append several documents with one sync: all or none."""
        return self.journal.append(documents)

    def _update_table(self, updater: Callable[[dict[int, Mapping[str, Any]]], None]) -> None:
        with self.journal.locked():
            try:
                super()._update_table(updater)
            finally:
                # The updater changes the documents in place: the cache may now differ from the
                # file.
                self.journal.forget()
