"""Against coreutils' own sha256sum."""

import asyncio
import io
import os
import subprocess
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from advisor.hosts.checksums import Checksum, Reading, ReadingStopped, checksum_of, in_thread


@pytest.mark.parametrize("size", [0, 1, 2**20 - 1, 2**20, 3 * 2**20 + 7])
def test_it_is_that_of_sha256sum(tmp_path: Path, size: int) -> None:
    file = tmp_path / "data"
    file.write_bytes(os.urandom(size))
    said = subprocess.run(["sha256sum", file], capture_output=True, text=True, check=True).stdout
    reading = Reading()
    assert checksum_of(lambda: file.open("rb"), reading) == Checksum(sha256=said.split()[0])
    assert reading.seen_bytes == size


def test_why_there_is_none(tmp_path: Path) -> None:
    found = checksum_of(lambda: (tmp_path / "none").open("rb"), Reading())
    assert found == Checksum(reason="No such file or directory")


def test_what_was_read_is_reported(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(5_000_000))
    counts: list[int] = []

    async def read() -> Checksum:
        return await in_thread(
            lambda reading: checksum_of(lambda: file.open("rb"), reading), counts.append
        )

    assert asyncio.run(read()).sha256
    assert counts[-1] == 5_000_000
    assert counts == sorted(counts)


class Endless(io.RawIOBase):
    """A file without an end; `begun` is set once it is read."""

    def __init__(self) -> None:
        self.begun = threading.Event()

    def read(self, size: int = -1) -> bytes:
        self.begun.set()
        return bytes(size)


def test_cancelled_it_stops_to_read() -> None:
    endless, left = Endless(), threading.Event()

    def work(reading: Reading) -> None:
        file: BinaryIO = endless  # type: ignore[assignment] -- all that is read of it is `read`
        try:
            checksum_of(lambda: file, reading)
        except ReadingStopped:
            left.set()

    async def cancel() -> None:
        reading = asyncio.create_task(in_thread(work, lambda _: None))
        await asyncio.to_thread(endless.begun.wait)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading

    asyncio.run(cancel())
    assert left.is_set()
    assert endless.closed
