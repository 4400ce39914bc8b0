"""Reads a growing journal: only what was appended, unless another file replaced it."""

import os
from collections.abc import Iterator
from typing import Final

import msgspec

# How much of the last line read is kept, to detect that the file was replaced.
_TAIL_BYTES: Final = 256
_BLOCK_BYTES: Final = 4 * 2**20


class Place(msgspec.Struct):
    """How far a file was read, in bytes, and how to detect whether it continues from there.

    `size_bytes` and `modified_ns` are those of the file when it was last examined.
    """

    inode: int = 0
    size_bytes: int = 0
    modified_ns: int = 0
    read_to: int = 0
    tail: bytes = b""


def goes_on(handle: int, status: os.stat_result, place: Place) -> bool:
    """Whether the file still starts with what was read already.

    Inode and size alone are not enough: an inode is reused after two rewrites, and a line that was
    read may have been removed because it could not be synced.
    """
    if status.st_ino != place.inode or status.st_size < place.read_to:
        return False
    if status.st_size == place.size_bytes and status.st_mtime_ns != place.modified_ns:
        return False
    return os.pread(handle, len(place.tail), place.read_to - len(place.tail)) == place.tail


def unread_lines(handle: int, status: os.stat_result, place: Place) -> Iterator[bytes]:
    """The complete lines after `place`, with their ends. Text after the last newline waits.

    While a line is being processed, `place.read_to` is its offset; then `place` moves past it.
    """
    place.inode = status.st_ino
    rest, start = b"", place.read_to
    while start < status.st_size:
        part = read_range(handle, start, min(start + _BLOCK_BYTES, status.st_size))
        if not part:
            break
        start += len(part)
        block = rest + part
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        for line in block[:end].splitlines(keepends=True):
            yield line
            place.read_to += len(line)
            place.tail = line[-_TAIL_BYTES:]
    place.size_bytes, place.modified_ns = status.st_size, status.st_mtime_ns


def read_range(handle: int, start: int, end: int) -> bytes:
    """The bytes from `start` to before `end`; fewer if the file was truncated meanwhile."""
    parts = []
    while start < end:
        part = os.pread(handle, end - start, start)
        if not part:
            break
        parts.append(part)
        start += len(part)
    return b"".join(parts)
