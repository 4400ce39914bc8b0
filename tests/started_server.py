"""Runs a server of the tests until a block ends."""

import contextlib
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Final

_START_S: Final = 20.0


class ServerEnded(Exception):
    """It ended before it answered."""


@contextlib.contextmanager
def started_server(
    argv: Sequence[str], address: str, port: int, prefix: Sequence[str] = ()
) -> Iterator[subprocess.Popen[bytes]]:
    """From when it answers there. `prefix`: how programs are started on its host.

    Raises ServerEnded.
    """
    process = subprocess.Popen(
        [*prefix, *argv],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline_s = time.monotonic() + _START_S
        while not _answers(prefix, address, port):
            if process.poll() is not None:
                raise ServerEnded(f"{argv[0]} ended with {process.returncode}")
            assert time.monotonic() < deadline_s, f"{argv[0]} does not answer"
            time.sleep(0.02)
        yield process
    finally:
        process.terminate()
        process.wait()


def _answers(prefix: Sequence[str], address: str, port: int) -> bool:
    connect = f"import socket; socket.create_connection(({address!r}, {port}), timeout=1)"
    argv = [*prefix, sys.executable, "-c", connect]
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0
