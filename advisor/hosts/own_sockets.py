"""The TCP sockets this process has open, including those opened by foreign code.

Foreign code in the same process may close any of them at any moment, so every access uses a
duplicate of the descriptor, kept for microseconds only: keeping it longer would keep the connection
alive after its owner has closed it.
"""

import contextlib
import os
import socket
from collections.abc import Iterator


@contextlib.contextmanager
def borrowed(fd: int) -> Iterator[socket.socket]:
    """A socket object over a duplicate of `fd`, closed when the block is left.

    The descriptor itself stays its owner's. Raises OSError when `fd` is closed or not a socket.
    """
    duplicate = os.dup(fd)
    try:
        sock = socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise
    with sock:
        yield sock


def is_tcp(sock: socket.socket) -> bool:
    """Whether it is TCP over IPv4 or IPv6."""
    return sock.type == socket.SOCK_STREAM and sock.family in (socket.AF_INET, socket.AF_INET6)


def open_fds() -> list[int]:
    """The present descriptors of this process; some may be closed by the time it is read."""
    return [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208 — names, not paths


def listening_fd(port: int) -> int | None:
    """The descriptor of this process's TCP socket listening on `port`; None without one."""
    for fd in open_fds():
        with contextlib.suppress(OSError), borrowed(fd) as sock:
            if is_tcp(sock) and _listens(sock) and sock.getsockname()[1] == port:
                return fd
    return None


def _listens(sock: socket.socket) -> bool:
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1
