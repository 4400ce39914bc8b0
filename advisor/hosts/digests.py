"""Checksums of ranges of files, read in a thread that can be stopped."""

import errno
import hashlib
import os
from collections.abc import Callable
from typing import BinaryIO, Final, Protocol

from blake3 import blake3

from advisor.domain.proof import Algorithm
from advisor.hosts.checksums import Reading

_BLOCK_BYTES: Final = 2**20


class _Hash(Protocol):
    def update(self, data: bytes, /) -> object: ...

    def hexdigest(self) -> str: ...


_NEW: Final[dict[Algorithm, Callable[[], _Hash]]] = {
    Algorithm.BLAKE3: blake3,
    Algorithm.SHA256: hashlib.sha256,
    # Against accidents alone, for tools that know nothing else.
    Algorithm.MD5: lambda: hashlib.md5(usedforsecurity=False),
}


def digest_of(
    file: BinaryIO, offset_bytes: int, size_bytes: int, algorithm: Algorithm, reading: Reading
) -> str:
    """The digest of a range in hexadecimal. Blocks.

    Raises OSError, also where the file ends before the range; ReadingStopped.

    Both ends read what their kernel returns, which may be its cache. Several ranges are read by as
    many threads: the hashes release the interpreter.
    """
    digest = _NEW[algorithm]()
    os.lseek(file.fileno(), offset_bytes, os.SEEK_SET)
    left = size_bytes
    while left:
        reading.check()
        block = os.read(file.fileno(), min(_BLOCK_BYTES, left))
        if not block:
            raise OSError(errno.ENODATA, f"it ends {left} bytes too early")
        digest.update(block)
        left -= len(block)
        reading.seen_bytes += len(block)
    return digest.hexdigest()
