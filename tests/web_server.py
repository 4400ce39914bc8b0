"""A real web server with range requests, `rclone serve http`."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from advisor.hosts.free_ports import free_run

from .s3_server import NEWER_RCLONE
from .started_server import started_server


class WebServer(msgspec.Struct, frozen=True):
    """Serves what is in `served` at `url`."""

    served: Path
    url: str
    port: int
    process: subprocess.Popen[bytes]


@contextlib.contextmanager
def web_server(
    served: Path, address: str = "127.0.0.1", port: int = 0, prefix: Sequence[str] = ()
) -> Iterator[WebServer]:
    """Run one until the block ends, at a free port unless one is given.

    `prefix`: how it is started elsewhere.
    """
    port = port or free_run(1, (0, 0), socket.AF_INET)
    serve = [str(NEWER_RCLONE), "serve", "http", "--addr", f"{address}:{port}", str(served)]
    with started_server(serve, address, port, prefix) as process:
        yield WebServer(served, f"http://{address}:{port}", port, process)
