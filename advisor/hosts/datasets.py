"""Scans datasets on this host."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.dataset import Dataset, SizeBin
from advisor.domain.manifest import Entry, EntryKind, Exclusion, ListingRules
from advisor.hosts.source_listing import is_utf8, listing
from advisor.models.file_classes import SizeHistogram
from advisor.models.slicing import FileEntry

_KEPT_REASONS: Final = 10
_DEFAULT: Final = ListingRules()


class ScanProgress(msgspec.Struct, frozen=True, kw_only=True):
    """What a scan has found so far.

    `path`: absolute. `largest`: relative to it, "" when it is a file itself. `unreadable`: the
    number of entries that cannot be moved; `reasons`: the first ten of them with the reason. A file
    counts with the size it has when read, including holes, as the tools send it.
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


def scan(path: Path, rules: ListingRules = _DEFAULT) -> Dataset:
    """The number, total size and largest of the files in a file or directory.

    Raises OSError when the path itself cannot be read, ValueError when its name is not UTF-8 or it
    contains nothing that can be moved.
    """
    *_, last = scanning(path, rules)
    return last.dataset()


def scanning(
    path: Path, rules: ListingRules = _DEFAULT, every: int = 1000
) -> Iterator[ScanProgress]:
    """Scan as `scan` does, and report the result after each `every` entries below it and at
    the end.

    Raises as `scan` does, except for a path that contains nothing.
    """
    path = path.absolute()
    if not is_utf8(str(path)):
        raise ValueError("its name is not UTF-8: rename it, or name it by a symbolic link")
    found = _Found(str(path))
    for seen, one in enumerate(listing(path, rules)):
        if isinstance(one, Exclusion):
            found.exclude(one)
        elif one.kind is EntryKind.FILE:
            found.count(one)
        if seen and seen % every == 0:
            yield found.progress(finished=False)
    yield found.progress(finished=True)


def listed_files(path: Path, rules: ListingRules = _DEFAULT) -> Iterator[FileEntry]:
    """The files that `scan` counts, unsorted. Raises OSError when the path cannot be read."""
    return (
        file_entry(one)
        for one in listing(path, rules)
        if isinstance(one, Entry) and one.kind is EntryKind.FILE
    )


def file_entry(entry: Entry) -> FileEntry:
    """A file of a manifest as piece of work."""
    return FileEntry(entry.name, entry.size_bytes, entry.mtime_ns, entry.ctime_ns, entry.inode)


class _Found:
    """The running totals of one scan."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._files = self._total_bytes = self._largest_bytes = self._unreadable = 0
        self._largest = ""
        self._sizes = SizeHistogram()
        self._reasons: list[str] = []

    def count(self, file: Entry) -> None:
        """Count a file."""
        self._files += 1
        self._total_bytes += file.size_bytes
        self._sizes.add(file.size_bytes)
        if file.size_bytes > self._largest_bytes:
            self._largest, self._largest_bytes = file.name, file.size_bytes

    def exclude(self, one: Exclusion) -> None:
        """Count what cannot be moved, unless the user asked for it."""
        if one.wanted:
            return
        self._unreadable += 1
        if len(self._reasons) < _KEPT_REASONS:
            path = f"{self._path}/{one.name}" if one.name else self._path
            self._reasons.append(f"{path}: {one.reason}")

    def progress(self, finished: bool) -> ScanProgress:
        """The present totals."""
        return ScanProgress(
            path=self._path,
            files=self._files,
            total_bytes=self._total_bytes,
            sizes=self._sizes.bins,
            largest=self._largest,
            largest_bytes=self._largest_bytes,
            unreadable=self._unreadable,
            reasons=tuple(self._reasons),
            finished=finished,
        )
