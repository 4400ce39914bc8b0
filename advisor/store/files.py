"""Atomic file operations: a file is either unchanged or complete, whatever happens."""

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
    """Write all of `data` at `offset` bytes, with as many calls as needed."""
    rest = memoryview(data)
    while rest:
        written = os.pwrite(handle, rest, offset)
        rest, offset = rest[written:], offset + written


def replace_file(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Replace the file at `path` by `data`: readers see the old or the new one, never a mixture.

    Its directory must exist. Raises OSError, and the old file is then unchanged. Without `sync` the
    content is undefined after a crash of the machine: use it for files that can be rebuilt.
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
