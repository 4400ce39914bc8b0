"""Files that are either as they were or as they should be, whatever happens in between."""

import os
import secrets
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
        directory.mkdir(exist_ok=True)
        sync_directory(directory.parent)


def write_all(handle: int, data: bytes, offset: int) -> None:
    """Write all of `data` at `offset` bytes, however little the kernel takes at a time."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def replace_file(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Put `data` in place of the file at `path`: readers see the old or the new, never a mixture.

    Its directory must exist. Raises OSError, and then the old file is as it was. Without `sync` a
    crash of the machine may leave anything: for what can be made again.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    handle = os.open(temporary, flags, 0o666)
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
