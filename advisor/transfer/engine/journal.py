"""A journal on disk of what has arrived of a transfer, from which it can be resumed.

FOLDER/SOURCE-TARGET-HOST-SERVER--HASH.jsonl, and the lock beside it, HASH.lock.

The first line says what is moved. Each further line is a part that arrived and was checked, with
its digest and the version of its file: parts of a file that changed since are ignored.
"""

import asyncio
import contextlib
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Final, Self

import msgspec
from filelock import FileLock, Timeout

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
from advisor.hosts.locks import require_locks
from advisor.models.slicing import FileEntry, Part
from advisor.store.files import ensure_file, make_directory, replace_file, write_all
from advisor.store.layout import safe_name
from advisor.store.reading import bounded_lines
from advisor.transfer.engine.places import Places

_FORMAT: Final = 2


class TransferRuns(ProblemError):
    """Another process runs the same transfer now; the message is one sentence."""

    kind = ProblemKind.BUSY


class JournalStuck(ProblemError):
    """The journal is out of date and cannot be changed; the message is one sentence."""

    kind = ProblemKind.NO_ACCESS


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`token`: the secret with which this transfer claims its target, also when it is resumed."""

    format: int
    places: Places
    token: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]


class NotedPart(msgspec.Struct, frozen=True):
    """A part that arrived. `digest`: in hexadecimal, "" if only its size was checked."""

    part: Part
    digest: str


class Noted(msgspec.Struct, frozen=True):
    """What the journal says of the files that are moved now.

    `changed`: names of files that were replaced or changed at the source since. `gone`: names of
    files that are not at the source any more.
    """

    parts: tuple[NotedPart, ...] = ()
    changed: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()


class _Line(msgspec.Struct, frozen=True, array_like=True):
    """A part that arrived. Encoded as an array: there may be millions of them."""

    name: str
    file_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    offset_bytes: int
    size_bytes: int
    digest: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{32,128})?\Z")] = ""

    @property
    def file(self) -> FileEntry:
        return FileEntry(self.name, self.file_bytes, self.mtime_ns, self.ctime_ns, self.inode)

    def __post_init__(self) -> None:
        if not 0 <= self.offset_bytes <= self.offset_bytes + self.size_bytes <= self.file_bytes:
            raise ValueError("a piece is within its file")


_decoder: Final = msgspec.json.Decoder(_Line)
_HEADER_LIMIT_BYTES: Final = 64 * 1024


class TransferJournal:
    """The journal of one transfer, which no other process writes inside its `with` block.

    `token`: the secret with which it claims its target; that of the journal once it was read.
    `was_begun`: an earlier run had started to move files, as far as was read.

    If the disk fails, `tell` is called with a sentence and the transfer continues: then `is_kept`
    is False, and what is not written is moved again by a resumed transfer.
    """

    def __init__(self, folder: Path, places: Places, tell: Callable[[str], None]) -> None:
        """`folder`: of all journals; it is created if necessary."""
        self._places = places
        self.token = secrets.token_hex(32)
        self.was_begun = False
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
            ensure_file(Path(self._lock.lock_file))
            require_locks(Path(self._lock.lock_file))
            self._lock.acquire()
        except Timeout:
            raise TransferRuns(
                "the same transfer is already running", remedy="wait for its end, or stop it first"
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

    async def read(self, files: Sequence[FileEntry]) -> Noted:
        """The parts of these files that have arrived, and what changed at the source since."""
        try:
            return await asyncio.to_thread(self._read, files)
        except OSError as error:
            self._say_that_it_fails(error)
            return Noted()

    def _read(self, files: Sequence[FileEntry]) -> Noted:
        now = {file.name: file for file in files}
        parts: list[NotedPart] = []
        changed: set[str] = set()
        gone: set[str] = set()
        for line in self._lines():
            file = now.get(line.name)
            if file is None:
                gone.add(line.name)
            elif file != line.file:
                changed.add(line.name)
            else:
                parts.append(NotedPart(Part(file, line.offset_bytes, line.size_bytes), line.digest))
        return Noted(tuple(parts), frozenset(changed), frozenset(gone))

    def _lines(self) -> Iterator[_Line]:
        """The readable lines: the last one may be torn."""
        if not self._path.exists():
            return
        with self._path.open("rb") as content:
            header = _header(content.readline(_HEADER_LIMIT_BYTES))
            if header is None or header.places != self._places:
                return
            self.token, self.was_begun = header.token, True
            for line in bounded_lines(content):
                with contextlib.suppress(BadData):
                    yield decoded(_decoder, line, LINE_LIMIT_BYTES)

    async def begin(self, parts: Iterable[NotedPart]) -> None:
        """Replace the journal's content by these parts. Raises JournalStuck."""
        try:
            await asyncio.to_thread(self._replace, parts)
        except OSError as error:
            self.forget()
            self._say_that_it_fails(error)

    def _replace(self, parts: Iterable[NotedPart]) -> None:
        header = msgspec.json.encode(_Header(_FORMAT, self._places, self.token)) + b"\n"
        content = header + _encoded(parts)
        self._close()
        with self._writing:
            replace_file(self._path, content)
            self._handle = os.open(self._path, os.O_WRONLY | os.O_CLOEXEC)
            self._end = len(content)

    async def note(self, parts: Sequence[NotedPart]) -> None:
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
        """Delete the journal: the transfer is complete, or restarts. Raises JournalStuck."""
        self._close()
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            if not os.access(self._path, os.R_OK):
                # Then nobody can read it either.
                return
            raise JournalStuck(
                f"{self._path} cannot be removed ({_reason(error)}), and is out of date",
                remedy="remove it, and run the same command again",
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


def _header(line: bytes) -> _Header | None:
    try:
        header = decoded(msgspec.json.Decoder(_Header), line, _HEADER_LIMIT_BYTES)
    except BadData:
        return None
    return header if header.format == _FORMAT else None


def _encoded(parts: Iterable[NotedPart]) -> bytes:
    return b"".join(msgspec.json.encode(_line(one)) + b"\n" for one in parts)


def _line(noted: NotedPart) -> _Line:
    file, part = noted.part.file, noted.part
    return _Line(
        file.name,
        file.size_bytes,
        file.mtime_ns,
        file.ctime_ns,
        file.inode,
        part.offset_bytes,
        part.size_bytes,
        noted.digest,
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
