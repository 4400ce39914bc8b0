"""Atomic file operations: a file is either unchanged or complete, whatever happens.

What is made is for its owner alone, files 0600 and folders 0700, whatever the umask. Only in a
folder that was shared on purpose the group has the rights that it has there: in one that is
writable by its group, or hands its group on (setgid). Others never have any.
"""

import os
import secrets
import stat
from pathlib import Path


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a crash of the machine. Raises OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_directory(path: Path) -> None:
    """Create a directory and its parents, each with its name synced. Raises OSError."""
    missing = [p for p in (path, *path.parents) if not p.exists()]
    for directory in reversed(missing):
        shared = _rights_of_group(directory.parent)
        try:
            directory.mkdir(stat.S_IRWXU)
        except FileExistsError:
            if not directory.is_dir():
                raise
        else:
            if shared:
                # Not the umask's: who shares a folder wants others to write in what is below.
                directory.chmod(stat.S_IRWXU | shared)
        sync_directory(directory.parent)


def _rights_of_group(directory: Path) -> int:
    """The mode bits that the group has in a directory shared on purpose; 0 in any other."""
    mode = directory.stat().st_mode
    if not mode & (stat.S_ISGID | stat.S_IWGRP):
        return 0
    return mode & (stat.S_ISGID | stat.S_IRWXG)


def open_or_create(path: Path, flags: int) -> int:
    """Open a file with `os.open`, created if it is missing. Raises OSError."""
    mode = 0o600 | _rights_of_group(path.parent) & (stat.S_IRGRP | stat.S_IWGRP)
    try:
        handle = os.open(path, flags | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    except FileExistsError:
        return os.open(path, flags | os.O_CREAT | os.O_CLOEXEC, mode)
    try:
        os.fchmod(handle, mode)
    except BaseException:
        os.close(handle)
        raise
    return handle


def ensure_file(path: Path) -> None:
    """Create an empty file if there is none. Raises OSError."""
    if not path.exists():
        os.close(open_or_create(path, os.O_RDWR))


def write_all(handle: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset` bytes, with as many calls as needed."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def replace_file(path: Path, data: bytes, *, sync: bool = True, public: bool = False) -> None:
    """Replace the file at `path` by `data`: readers see the old or the new one, never a mixture.

    Its directory must exist. Raises OSError, and the old file is then unchanged. Without `sync` the
    content is undefined after a crash of the machine: use it for files that can be rebuilt.
    `public`: a file that the user asked for, whose mode is the umask's.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666) if public else open_or_create(temporary, os.O_WRONLY)
    try:
        try:
            write_all(handle, data, 0)
            if sync:
                os.fsync(handle)
        finally:
            os.close(handle)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if sync:
        sync_directory(path.parent)


def write_new(path: Path, data: bytes) -> None:
    """Write a file that the user asked for; the umask decides who may read it.

    One that could not be written completely is removed. Raises FileExistsError if there is one,
    OSError.
    """
    with path.open("xb") as file:
        try:
            file.write(data)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise
