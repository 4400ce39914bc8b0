"""Scans datasets on this host."""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.dataset import Dataset, SizeBin
from advisor.models.file_classes import SizeHistogram
from advisor.models.slicing import FileEntry

_KEPT_REASONS: Final = 10


class ScanProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan has found so far.

    `path`: absolute. `largest`: relative to it, "" when it is a file itself. `unreadable`: the
    number of files and folders that could not be read; `reasons`: the first ten of them with the
    reason. A file counts with the size it has when read, including holes, as the tools send it.
    """

    path: str
    files: int
    total_bytes: int
    sizes: tuple[SizeBin, ...]
    largest: str
    largest_bytes: int
    unreadable: int
    reasons: tuple[str, ...]
    finished: bool

    def dataset(self) -> Dataset:
        """The result as a Dataset. Raises ValueError when it contains no bytes."""
        if not self.total_bytes:
            raise ValueError(f"there is nothing to move in it{self._unread()}")
        return Dataset(
            total_bytes=self.total_bytes,
            path=self.path,
            files=self.files,
            largest=self.largest,
            largest_bytes=self.largest_bytes,
            sizes=self.sizes,
            unreadable=self.unreadable,
        )

    def _unread(self) -> str:
        return f" that can be read: {self.reasons[0]}" if self.reasons else ""


def scan(path: Path) -> Dataset:
    """The number, total size and largest of the files in a file or directory.

    Symbolic links to files count as those files; links to directories are not followed. Raises
    OSError when the path itself cannot be read, ValueError when its name is not UTF-8 or it
    contains nothing readable.
    """
    *_, last = scanning(path)
    return last.dataset()


def scanning(path: Path, every: int = 1000) -> Iterator[ScanProgress]:
    """Scan as `scan` does, and report the result after each `every` names and at the end.

    What cannot be read below `path` is counted and skipped; files that vanish meanwhile are not
    counted. Raises as `scan` does, except for a path that contains nothing.
    """
    path = path.absolute()
    if not _is_utf8(str(path)):
        raise ValueError("its name is not UTF-8: rename it, or name it by a symbolic link")
    found = _Found(str(path))
    if not path.is_dir():
        found.count(str(path), path.stat(), name="")
        yield found.progress(finished=True)
        return
    os.scandir(path).close()  # Raises if the path itself cannot be read.
    for seen, entry in enumerate(_entries(found), 1):
        found.look_at(entry)
        if seen % every == 0:
            yield found.progress(finished=False)
    yield found.progress(finished=True)


def regular_files(path: Path) -> Iterator[tuple[str, os.stat_result]]:
    """The files that `scan` counts, with names relative to `path`, "" for the file itself.

    Names that are not UTF-8 are left out. Raises OSError when the path itself cannot be read.
    """
    path = path.absolute()
    if not path.is_dir():
        yield "", path.stat()
        return
    os.scandir(path).close()
    for entry in _entries(_Found(str(path))):
        with contextlib.suppress(OSError):
            status = entry.stat()
            name = os.path.relpath(entry.path, path)
            if stat.S_ISREG(status.st_mode) and _is_utf8(name) and _readable(entry.path, status):
                yield name, status


def listed_files(path: Path) -> list[FileEntry]:
    """The same, sorted by name. Raises OSError."""
    found = regular_files(path)
    entries = (FileEntry(name, status.st_size, status.st_mtime_ns) for name, status in found)
    return sorted(entries, key=lambda one: one.name)


class _Found:
    """The running totals of one scan."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._files = self._total_bytes = self._largest_bytes = self._unreadable = 0
        self._largest = ""
        self._sizes = SizeHistogram()
        self._reasons: list[str] = []

    def look_at(self, entry: os.DirEntry[str]) -> None:
        """Count a name that is not a directory."""
        try:
            self.count(entry.path, entry.stat(), os.path.relpath(entry.path, self.path))
        except FileNotFoundError:
            # A vanished file need not be moved; a dangling link is reported.
            if entry.is_symlink():
                self.missed(entry.path, "a link to a missing file")
        except OSError as error:
            self.missed(entry.path, error.strerror or str(error))

    def count(self, path: str, status: os.stat_result, name: str) -> None:
        """Count a regular file; nothing else is moved, nor the content of linked folders."""
        if not stat.S_ISREG(status.st_mode):
            return
        if not _readable(path, status):
            self.missed(path, "Permission denied")
            return
        self._files += 1
        self._total_bytes += status.st_size
        self._sizes.add(status.st_size)
        if status.st_size > self._largest_bytes:
            self._largest, self._largest_bytes = name, status.st_size

    def missed(self, path: str, reason: str) -> None:
        """Count what could not be read."""
        self._unreadable += 1
        if len(self._reasons) < _KEPT_REASONS:
            self._reasons.append(f"{_as_utf8(path)}: {reason}")

    def progress(self, finished: bool) -> ScanProgress:
        """The present totals."""
        return ScanProgress(
            path=self.path,
            files=self._files,
            total_bytes=self._total_bytes,
            sizes=self._sizes.bins,
            largest=_as_utf8(self._largest),
            largest_bytes=self._largest_bytes,
            unreadable=self._unreadable,
            reasons=tuple(self._reasons),
            finished=finished,
        )


def _entries(found: _Found) -> Iterator[os.DirEntry[str]]:
    """Every name below the path except directories, one open directory at a time."""
    waiting = [found.path]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        yield entry
        except FileNotFoundError:
            continue
        except OSError as error:
            found.missed(folder, error.strerror or str(error))


def _readable(path: str, status: os.stat_result) -> bool:
    """Whether it may be opened; skips the check where everyone may read it."""
    everyone = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
    return status.st_mode & everyone == everyone or os.access(path, os.R_OK, effective_ids=True)


def _is_utf8(name: str) -> bool:
    return _as_utf8(name) == name


def _as_utf8(name: str) -> str:
    """The name with U+FFFD for bytes that are not UTF-8, which JSON cannot represent."""
    return os.fsencode(name).decode("utf-8", "replace")
