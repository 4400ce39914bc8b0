"""Input files of importers: decompressed if gzip, line by line, in bounded memory."""

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
"""What reading raises: the file system's errors, and those of damaged compressed data."""


class OpenFile:
    """A file that is read once from start to end. Reading raises UNREADABLE.

    `head`: its start, up to `HEAD_BYTES` and the end of that line. Later reads return it again.
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
        """The number of bytes read from the file as stored on disk; 0 for a pipe."""
        return self._told()

    def read(self, size: int, /) -> bytes:
        """The next bytes; fewer than `size` only at the end."""
        found = self._left.read(size)
        return found + self._stream.read(size - len(found)) if len(found) < size else found

    def rest(self) -> bytes:
        """The whole remainder at once."""
        return self._left.read() + self._stream.read()

    def lines(self) -> Iterator[str]:
        """The remaining lines; anything beyond 1 MiB of a line is left out."""
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
    """The file, decompressed if it is gzip, whatever its name."""
    with path.open("rb") as raw:

        def told() -> int:
            return raw.tell() if raw.seekable() else 0

        if raw.peek(len(_GZIP)).startswith(_GZIP):
            with gzip.GzipFile(fileobj=raw) as packed:
                yield OpenFile(packed, told)
        else:
            yield OpenFile(raw, told)
