"""The standard streams: closed ones are replaced, and an output that is lost is noticed."""

import io
import os
import sys
from typing import Any, Final, TextIO

_STREAMS: Final = (0, 1, 2)


class _Output(io.FileIO):
    """Standard output, which remembers why it could not be written."""

    error: OSError | None = None

    def write(self, data: Any, /) -> int:
        """Write as `io.FileIO` does."""
        try:
            return super().write(data)
        except OSError as error:
            self.error = error
            raise


def prepare_streams() -> None:
    """Make /dev/null of each closed stream, and notice when standard output cannot be written."""
    for number in _STREAMS:
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number, which is this one: else the next file would get it, and what
            # is printed would be written into that.
            os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(number, True)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", closefd=False)
    _watch_output()


def _watch_output() -> None:
    """Put a stream like it in place of standard output."""
    former = sys.stdout
    raw = _Output(1, "wb", closefd=False)
    if former is None:
        sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8")
    elif isinstance(former, io.TextIOWrapper):
        unbuffered = isinstance(former.buffer, io.RawIOBase)
        sys.stdout = io.TextIOWrapper(
            raw if unbuffered else io.BufferedWriter(raw),
            encoding=former.encoding,
            errors=former.errors,
            line_buffering=former.line_buffering,
            write_through=former.write_through,
        )


def lost_output() -> OSError | None:
    """Why standard output could not be written, since `prepare_streams`; None if it could.

    What is left of it is dropped, so that the end of the program does not fail by it.
    """
    buffer = getattr(sys.stdout, "buffer", None)
    raw = getattr(buffer, "raw", buffer)
    if not isinstance(raw, _Output) or raw.error is None:
        return None
    drop(raw)
    return raw.error


def drop(stream: io.IOBase | TextIO) -> None:
    """Make /dev/null of a stream that cannot be written."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
