"""Lists a source: every entry below a path, and every exclusion with its reason.

The one place that walks a source: manifests, the sizes of a dataset and samples are derived from
it.
"""

import fnmatch
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final, TypeAlias

from advisor.domain.file_io import is_claim_name
from advisor.domain.manifest import Entry, EntryKind, Exclusion, ListingRules, Manifest
from advisor.domain.printable import printable
from advisor.hosts import scratch

Listed: TypeAlias = Entry | Exclusion

NOT_UTF8: Final = "its name is not UTF-8"
"""The reason of an exclusion that only another name can mend."""

_KINDS: Final = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_DEFAULT: Final = ListingRules()


def manifest_of(path: Path, rules: ListingRules = _DEFAULT) -> Manifest:
    """The manifest of a file or folder. Blocks. Raises OSError when the path cannot be read."""
    entries: list[Entry] = []
    exclusions: list[Exclusion] = []
    for one in listing(path, rules):
        if isinstance(one, Entry):
            entries.append(one)
        else:
            exclusions.append(one)
    return Manifest(
        source=str(path.absolute()),
        entries=tuple(sorted(entries, key=lambda one: one.name)),
        exclusions=tuple(sorted(exclusions, key=lambda one: one.name)),
    )


def listing(path: Path, rules: ListingRules = _DEFAULT) -> Iterator[Listed]:
    """The path itself and everything below, folders before their content.

    Each directory is read once. What disappears meanwhile is left out. Raises OSError when the path
    itself cannot be read.
    """
    path = path.absolute()
    status = path.stat()
    if not stat.S_ISDIR(status.st_mode):
        yield _regular("", path, status)
        return
    os.scandir(path).close()
    yield _entry("", EntryKind.FOLDER, status)
    # Of each folder its path, its name, and the folders above it: links may lead in circles.
    waiting = [(path, "", frozenset([_identity(status)]))]
    while waiting:
        folder, prefix, above = waiting.pop()
        for name, listed, child in _content(folder, prefix, rules):
            if child is None:
                yield listed
            elif _identity(child) in above:
                yield Exclusion(name=printable(name), reason="a link to a folder above it")
            else:
                yield listed
                waiting.append((path / name, name, above | {_identity(child)}))


def _content(
    folder: Path, prefix: str, rules: ListingRules
) -> Iterator[tuple[str, Listed, os.stat_result | None]]:
    """Name, what is listed, and the status of a folder that is to be read next."""
    try:
        with os.scandir(folder) as found:
            for one in found:
                name = f"{prefix}/{one.name}" if prefix else one.name
                try:
                    listed, child = _looked_at(one, name, rules)
                except FileNotFoundError:
                    continue
                except OSError as error:
                    listed, child = _excluded(name, error.strerror or str(error)), None
                yield name, listed, child
    except FileNotFoundError:
        return
    except OSError as error:
        yield prefix, _excluded(prefix, error.strerror or str(error)), None


def _looked_at(
    one: "os.DirEntry[str]", name: str, rules: ListingRules
) -> tuple[Listed, os.stat_result | None]:
    if any(fnmatch.fnmatch(name, pattern) for pattern in rules.exclude):
        return Exclusion(name=printable(name), reason="excluded", wanted=True), None
    if not is_utf8(one.name):
        return _excluded(name, NOT_UTF8), None
    if mark := _mark(one.name):
        return _excluded(name, mark), None
    if one.is_symlink():
        if not rules.follow_links:
            return _link(one, name), None
        if not Path(one.path).exists():
            return _excluded(name, "a link to a missing file"), None
    status = one.stat()
    if stat.S_ISDIR(status.st_mode):
        return _entry(name, EntryKind.FOLDER, status), status
    return _regular(name, Path(one.path), status), None


def _mark(name: str) -> str:
    """What a file of this name says to an agent, which moves it nowhere; "" for any other."""
    if is_claim_name(name):
        return "it marks a transfer to this folder that was not finished"
    return "it marks a folder of advisor's own" if name == scratch.MARK else ""


def _link(one: "os.DirEntry[str]", name: str) -> Listed:
    target = os.readlink(one.path)  # noqa: PTH115 -- a Path would change the text
    if not is_utf8(target):
        return _excluded(name, "the target of the link is not UTF-8")
    return _entry(name, EntryKind.LINK, one.stat(follow_symlinks=False), target)


def _regular(name: str, path: Path, status: os.stat_result) -> Listed:
    if not stat.S_ISREG(status.st_mode):
        return _excluded(name, _KINDS.get(stat.S_IFMT(status.st_mode), "not a regular file"))
    if not _readable(path, status):
        return _excluded(name, "Permission denied")
    return _entry(name, EntryKind.FILE, status)


def _entry(name: str, kind: EntryKind, status: os.stat_result, target: str = "") -> Entry:
    return Entry(
        name=name,
        kind=kind,
        mode=stat.S_IMODE(status.st_mode),
        mtime_ns=status.st_mtime_ns,
        ctime_ns=status.st_ctime_ns,
        inode=status.st_ino,
        size_bytes=status.st_size if kind is EntryKind.FILE else 0,
        link_target=target,
    )


def _excluded(name: str, reason: str) -> Exclusion:
    return Exclusion(name=printable(name), reason=reason)


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _readable(path: Path, status: os.stat_result) -> bool:
    """Whether it may be opened; skips the check where everyone may read it."""
    everyone = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
    return status.st_mode & everyone == everyone or os.access(path, os.R_OK, effective_ids=True)


def is_utf8(name: str) -> bool:
    """Whether a name as Python has it is UTF-8 on disk."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
