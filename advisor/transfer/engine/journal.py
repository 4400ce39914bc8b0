"""A journal on disk of what has arrived of a transfer, from which it can be resumed.

FOLDER/SOURCE-TARGET-HOST-SERVER--HASH.jsonl, and the lock beside it, HASH.lock.

The first line says what is moved. Each further line is a part that arrived and was checked, with
the size and modification time of its file: parts of a file that changed since are ignored.
"""

import asyncio
import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import msgspec
from filelock import FileLock, Timeout

from advisor.models.piecework import Done
from advisor.models.slicing import FileEntry, Part
from advisor.store.files import make_directory, replace_file, write_all
from advisor.store.layout import safe_name
from advisor.transfer.engine.file_group import Places

_FORMAT: Final = 1


class TransferRuns(Exception):
    """Another process runs the same transfer now; the message is one sentence."""


class JournalStuck(Exception):
    """The journal is out of date and cannot be changed; the message is one sentence."""


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: int
    places: Places


class _Line(msgspec.Struct, frozen=True, array_like=True):
    """A part that arrived. Encoded as an array: there may be millions of them."""

    name: str
    file_bytes: int
    mtime_ns: int
    offset_bytes: int
    size_bytes: int

    def __post_init__(self) -> None:
        if not 0 <= self.offset_bytes <= self.offset_bytes + self.size_bytes <= self.file_bytes:
            raise ValueError("a piece is within its file")


_decoder: Final = msgspec.json.Decoder(_Line)


class TransferJournal:
    """The journal of one transfer, which no other process writes inside its `with` block.

    If the disk fails, `tell` is called with a sentence and the transfer continues: then `is_kept`
    is False, and what is not written is moved again by a resumed transfer.
    """

    def __init__(self, folder: Path, places: Places, tell: Callable[[str], None]) -> None:
        """`folder`: of all journals; it is created if necessary."""
        self._header = msgspec.json.encode(_Header(_FORMAT, places)) + b"\n"
        name = safe_name(" ".join(str(one) for one in msgspec.structs.astuple(places)))
        # Not with_suffix(): the name may contain dots.
        self._path, lock_path = folder / f"{name}.jsonl", folder / f"{name}.lock"
        # The lock file stays: deleting it would let two processes lock it. It may be acquired in
        # one thread and released in another, when the program is being ended.
        self._lock = FileLock(lock_path, blocking=False, thread_local=False)
        self._tell = tell
        self._writing = threading.Lock()
        self._handle: int | None = None
        self._end = 0
        self._unwritten = b""
        self.is_kept = True

    def __enter__(self) -> Self:
        """Lock out other processes. Raises TransferRuns."""
        try:
            make_directory(self._path.parent)
            self._lock.acquire()
        except Timeout:
            raise TransferRuns(
                "the same transfer is already running: wait for its end, or stop it first"
            ) from None
        except OSError as error:
            self._say_that_it_fails(error)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the journal and release the lock."""
        self._close()
        self._lock.release()

    async def read(self, files: Sequence[FileEntry]) -> Done:
        """The ranges of these files that have arrived, as in `Piecework`, if the files are
        unchanged."""
        try:
            return await asyncio.to_thread(self._read, files)
        except OSError as error:
            self._say_that_it_fails(error)
            return {}

    def _read(self, files: Sequence[FileEntry]) -> Done:
        now = {file.name: (file.size_bytes, file.mtime_ns) for file in files}
        done: dict[str, list[tuple[int, int]]] = {}
        for line in self._lines():
            if now.get(line.name) == (line.file_bytes, line.mtime_ns):
                done.setdefault(line.name, []).append((line.offset_bytes, line.size_bytes))
        return done

    def _lines(self) -> Iterator[_Line]:
        """The readable lines: the last one may be torn."""
        if not self._path.exists():
            return
        with self._path.open("rb") as content:
            if content.readline() != self._header:
                return
            for line in content:
                with contextlib.suppress(msgspec.DecodeError, UnicodeDecodeError):
                    yield _decoder.decode(line)

    async def begin(self, files: Iterable[FileEntry], done: Done) -> None:
        """Start the journal afresh, with these ranges of these files as its content.

        Raises JournalStuck.
        """
        parts = (Part(file, *range_) for file in files for range_ in done.get(file.name, ()))
        try:
            await asyncio.to_thread(self._replace, parts)
        except OSError as error:
            self.forget()
            self._say_that_it_fails(error)

    def _replace(self, parts: Iterable[Part]) -> None:
        content = self._header + _encoded(parts)
        self._close()
        with self._writing:
            replace_file(self._path, content)
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
            self._end = len(content)

    async def note(self, parts: Sequence[Part]) -> None:
        """Append parts that arrived and were checked. On return they are on disk, or not at all.

        What could not be written is retried with the next parts.
        """
        try:
            await asyncio.to_thread(self._append, _encoded(parts))
        except OSError as error:
            self._say_that_it_fails(error)

    def _append(self, lines: bytes) -> None:
        with self._writing:
            if self._handle is None:
                return
            self._unwritten += lines
            write_all(self._handle, self._unwritten, self._end)
            os.fdatasync(self._handle)
            self._end += len(self._unwritten)
            self._unwritten = b""
        self.is_kept = True

    def forget(self) -> None:
        """Delete the journal: the transfer is complete, or starts anew. Raises JournalStuck."""
        self._close()
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            if not os.access(self._path, os.R_OK):
                # Then nobody can read it either.
                return
            raise JournalStuck(
                f"{self._path} cannot be removed ({_reason(error)}), and is out of date: "
                "remove it, and run the same command again"
            ) from error

    def _close(self) -> None:
        with self._writing:
            if self._handle is not None:
                os.close(self._handle)
            self._handle = None

    def _say_that_it_fails(self, error: OSError) -> None:
        if self.is_kept:
            self._tell(
                f"What has arrived cannot be recorded in {self._path.parent} ({_reason(error)}): "
                "the transfer continues, but once stopped it cannot be resumed."
            )
        self.is_kept = False


def _encoded(parts: Iterable[Part]) -> bytes:
    return b"".join(
        msgspec.json.encode(
            _Line(
                part.file.name,
                part.file.size_bytes,
                part.file.mtime_ns,
                part.offset_bytes,
                part.size_bytes,
            )
        )
        + b"\n"
        for part in parts
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
