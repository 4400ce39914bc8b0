"""Runs on a lab's source: lines as a user copies them into a shell, each timed.

`python -m tests.benchmarks.disk.inside`. For each order on standard input one `Ended`, as JSON
lines. The shell is timed from its start to its end, without entering the lab.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from typing import IO

import msgspec

_LAST_WORDS = 2000


class LineOrder(msgspec.Struct, frozen=True):
    """One line for a shell, ended after `ceiling_s`."""

    line: str
    ceiling_s: float


class Ended(msgspec.Struct, frozen=True):
    """Its outcome. `status`: None when it was cut at the ceiling. `said`: its last words."""

    seconds: float
    status: int | None
    said: str


def run_line(order: LineOrder) -> Ended:
    """Run it to its end or its ceiling; nothing of it is left running."""
    with tempfile.TemporaryFile() as said:
        began_s = time.monotonic()
        shell = subprocess.Popen(
            ["bash", "-c", order.line],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            start_new_session=True,
        )
        status: int | None = None
        try:
            status = shell.wait(order.ceiling_s)
        except subprocess.TimeoutExpired:
            pass
        finally:
            seconds = time.monotonic() - began_s
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
            shell.wait()
        return Ended(seconds, status, _last_words(said))


def _last_words(said: IO[bytes]) -> str:
    said.seek(0, os.SEEK_END)
    said.seek(max(0, said.tell() - _LAST_WORDS))
    return said.read().decode(errors="replace")


def main() -> None:
    """Until standard input ends."""
    for line in sys.stdin.buffer:
        ended = run_line(msgspec.json.decode(line, type=LineOrder))
        sys.stdout.buffer.write(msgspec.json.encode(ended) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
