"""Files as importers read them: unpacked where they are gzip, line by line, in bounded memory."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

_GZIP: Final = b"\x1f\x8b"
_LONGEST_LINE: Final = 2**20
HEAD_BYTES: Final = 2**18
UNREADABLE: Final = (OSError, EOFError, zlib.error)
"""What reading raises: the file system's errors, and those of damaged compression."""


class OpenFile:
    """A file that is read once from its beginning to its end. Reading raises UNREADABLE.

    `head`: what it begins with, up to `HEAD_BYTES` and whole lines after that. Nothing of it is
    lost to what is read later.
    """

    def __init__(self, stream: io.BufferedReader | gzip.GzipFile, told: Callable[[], int]) -> None:
        self._stream = stream
        self._told = told
        self.head = stream.read(HEAD_BYTES)
        if len(self.head) == HEAD_BYTES:
            self.head += stream.readline(_LONGEST_LINE)
        self._left = io.BytesIO(self.head)

    @property
    def read_bytes(self) -> int:
        """How much of the file as it lies there was read; 0 of a pipe."""
        return self._told()

    def read(self, size: int, /) -> bytes:
        """The next bytes; fewer than `size` only at the end."""
        found = self._left.read(size)
        return found + self._stream.read(size - len(found)) if len(found) < size else found

    def rest(self) -> bytes:
        """All that is left, at once."""
        return self._left.read() + self._stream.read()

    def lines(self) -> Iterator[str]:
        """What is left, by lines, of which more than 1 MiB is left out."""
        while line := self._line():
            yield line.decode("utf-8", "replace")
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = self._line()

    def _line(self) -> bytes:
        line = self._left.readline(_LONGEST_LINE)
        if line.endswith(b"\n"):
            return line
        return line + self._stream.readline(_LONGEST_LINE - len(line))


@contextmanager
def opened(path: Path) -> Iterator[OpenFile]:
    """The file, unpacked where it is gzip, whatever its name."""
    with path.open("rb") as raw:

        def told() -> int:
            return raw.tell() if raw.seekable() else 0

        if raw.peek(len(_GZIP)).startswith(_GZIP):
            with gzip.GzipFile(fileobj=raw) as packed:
                yield OpenFile(packed, told)
        else:
            yield OpenFile(raw, told)
