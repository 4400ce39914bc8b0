"""Reads a growing journal: only what was appended, unless another file replaced it."""

import math
import os
from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from advisor.hosts.decoding import LINE_LIMIT_BYTES

# How much of the last line read is kept, to detect that the file was replaced.
_TAIL_BYTES: Final = 256
_BLOCK_BYTES: Final = 4 * 2**20


class ReadPosition(msgspec.Struct):
    """How far a file was read, in bytes, and how to detect whether it continues from there.

    `size_bytes` and `modified_ns` are those of the file when it was last examined.
    """

    inode: int = 0
    size_bytes: int = 0
    modified_ns: int = 0
    read_to: int = 0
    tail: bytes = b""


def can_resume(handle: int, status: os.stat_result, place: ReadPosition) -> bool:
    """Whether reading can resume there: the file still starts with what was read already.

    Inode and size alone are not enough: an inode is reused after two rewrites, and a line that was
    read may have been removed because it could not be synced.
    """
    if status.st_ino != place.inode or status.st_size < place.read_to:
        return False
    if status.st_size == place.size_bytes and status.st_mtime_ns != place.modified_ns:
        return False
    return os.pread(handle, len(place.tail), place.read_to - len(place.tail)) == place.tail


def unread_lines(handle: int, status: os.stat_result, place: ReadPosition) -> Iterator[bytes]:
    """The complete lines after `place`, with their ends. Text after the last newline waits.

    While a line is being processed, `place.read_to` is its offset; then `place` moves past it. Of a
    line that is too long only its end is given.
    """
    place.inode = status.st_ino
    rest, start, dropped = b"", place.read_to, 0
    while start < status.st_size:
        part = read_range(handle, start, min(start + _BLOCK_BYTES, status.st_size))
        if not part:
            break
        start += len(part)
        block = rest + part
        end = block.rfind(b"\n") + 1
        rest = block[end:]
        for line in block[:end].splitlines(keepends=True):
            yield b"\n" if dropped else line
            place.read_to += dropped + len(line)
            place.tail, dropped = line[-_TAIL_BYTES:], 0
        if len(rest) > LINE_LIMIT_BYTES:
            rest, dropped = b"", dropped + len(rest)
    place.size_bytes, place.modified_ns = status.st_size, status.st_mtime_ns


class HasLines(Protocol):
    """A binary file, or a decompressed one."""

    def readline(self, size: int, /) -> bytes:
        """The next line, or this much of it."""


def bounded_lines(file: HasLines, most_bytes: float = math.inf) -> Iterator[bytes]:
    """The remaining lines of a file, with their ends; those that are too long are left out.

    `most_bytes`: how much is read at most.
    """
    read_bytes = 0
    while read_bytes < most_bytes and (line := file.readline(LINE_LIMIT_BYTES)):
        read_bytes += len(line)
        if line.endswith(b"\n") or len(line) < LINE_LIMIT_BYTES:
            yield line
            continue
        while line and not line.endswith(b"\n") and read_bytes < most_bytes:
            line = file.readline(LINE_LIMIT_BYTES)
            read_bytes += len(line)


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
