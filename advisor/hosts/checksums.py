"""SHA-256 of whole files, read in a thread that can be stopped."""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, BinaryIO, Final, TypeVar

import msgspec

from advisor.domain.printable import SHOWN, printable

_BLOCK_BYTES: Final = 2**20
TELL_EVERY_S: Final = 0.2

_REASON_LENGTH: Final = 100
Reason = Annotated[str, msgspec.Meta(max_length=_REASON_LENGTH, pattern=SHOWN)]

_T = TypeVar("_T")


class Checksum(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The SHA-256 of a file in hexadecimal, or a short reason why there is none."""

    sha256: Annotated[str, msgspec.Meta(pattern=r"^([0-9a-f]{64})?\Z")] = ""
    reason: Reason = ""


class ReadingStopped(Exception):
    """The caller no longer wants the result."""


class Reading:
    """The number of bytes a thread has read so far; `stop` ends it within a block."""

    def __init__(self) -> None:
        self.seen_bytes = 0
        self._stopped = False

    def stop(self) -> None:
        """Ask the thread to stop."""
        self._stopped = True

    def check(self) -> None:
        """Called by the thread at intervals. Raises ReadingStopped."""
        if self._stopped:
            raise ReadingStopped

    def each(self, items: Iterable[_T]) -> Iterator[_T]:
        """The items, until stopped. Raises ReadingStopped."""
        for item in items:
            self.check()
            yield item


def reason_of(error: OSError) -> str:
    """Its message without the path."""
    return printable(error.strerror or str(error))[:_REASON_LENGTH]


def checksum_of(open_file: Callable[[], BinaryIO], reading: Reading) -> Checksum:
    """The checksum of the file from `open_file`, or its OSError. Blocks. Raises ReadingStopped."""
    try:
        with open_file() as file:
            return Checksum(sha256=_sha256(file, reading))
    except OSError as error:
        return Checksum(reason=reason_of(error))


def _sha256(file: BinaryIO, reading: Reading) -> str:
    digest = hashlib.sha256()
    while True:
        reading.check()
        block = file.read(_BLOCK_BYTES)
        if not block:
            return digest.hexdigest()
        digest.update(block)
        reading.seen_bytes += len(block)


async def in_thread(work: Callable[[Reading], _T], seen: Callable[[int], None]) -> _T:
    """Run `work` in a thread and return its result; call `seen` with the bytes read, at 5 Hz.

    When cancelled, it returns at once, and the thread ends at its next `check`.
    """
    reading = Reading()
    working = asyncio.create_task(asyncio.to_thread(work, reading))
    try:
        while not working.done():
            await asyncio.wait([working], timeout=TELL_EVERY_S)
            seen(reading.seen_bytes)
        return working.result()
    finally:
        reading.stop()
        working.cancel()
