"""Input files of importers: decompressed if gzip, line by line, in bounded memory."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from advisor.domain.problem import ProblemError, ProblemKind

_GZIP: Final = b"\x1f\x8b"
_LONGEST_LINE: Final = 2**20
HEAD_BYTES: Final = 2**18
WHOLE_LIMIT_BYTES: Final = 32 * 2**20
"""The largest file whose format requires the whole content at once."""
# Logs and tables shrink to a tenth or a twentieth; what shrinks a thousandfold was made to do harm.
_MOST_SHRUNK: Final = 100
_ANY_SHRUNK_BYTES: Final = 64 * 2**20


class TooLarge(ProblemError):
    """A file has more content than is read of it."""

    kind = ProblemKind.INVALID


UNREADABLE: Final = (OSError, EOFError, zlib.error, TooLarge)
"""What reading raises: the file system's errors, those of damaged compressed data, and too much of
it."""


class OpenFile:
    """A file that is read once from start to end. Reading raises UNREADABLE.

    `head`: its start, up to `HEAD_BYTES` and the end of that line. Later reads return it again.
    """

    def __init__(
        self, stream: io.BufferedReader | gzip.GzipFile, position: Callable[[], int]
    ) -> None:
        self._stream = stream
        self._position = position
        self._got_bytes = 0
        self.head = self._counted(stream.read(HEAD_BYTES))
        if len(self.head) == HEAD_BYTES:
            self.head += self._counted(stream.readline(_LONGEST_LINE))
        self._left = io.BytesIO(self.head)

    def _counted(self, data: bytes) -> bytes:
        """The data. Raises TooLarge if it came of far too little compressed data."""
        self._got_bytes += len(data)
        stored_bytes = self._position() if isinstance(self._stream, gzip.GzipFile) else 0
        if stored_bytes and self._got_bytes > max(_ANY_SHRUNK_BYTES, _MOST_SHRUNK * stored_bytes):
            raise TooLarge(f"it holds more than {_MOST_SHRUNK} times its size")
        return data

    @property
    def read_bytes(self) -> int:
        """The number of bytes read from the file as stored on disk; 0 for a pipe."""
        return self._position()

    def read(self, size: int, /) -> bytes:
        """The next bytes; fewer than `size` only at the end."""
        found = self._left.read(size)
        if len(found) < size:
            found += self._counted(self._stream.read(size - len(found)))
        return found

    def rest(self) -> bytes:
        """The whole remainder at once. Raises TooLarge beyond WHOLE_LIMIT_BYTES."""
        found = self._left.read()
        found += self._stream.read(WHOLE_LIMIT_BYTES + 1 - len(found))
        if len(found) > WHOLE_LIMIT_BYTES:
            raise TooLarge(
                f"it has more than {WHOLE_LIMIT_BYTES // 10**6} million bytes", remedy="divide it"
            )
        return found

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
        return line + self._counted(self._stream.readline(_LONGEST_LINE - len(line)))


@contextmanager
def opened(path: Path) -> Iterator[OpenFile]:
    """The file, decompressed if it is gzip, whatever its name."""
    with path.open("rb") as raw:

        def position() -> int:
            return raw.tell() if raw.seekable() else 0

        if raw.peek(len(_GZIP)).startswith(_GZIP):
            with gzip.GzipFile(fileobj=raw) as packed:
                yield OpenFile(packed, position)
        else:
            yield OpenFile(raw, position)
