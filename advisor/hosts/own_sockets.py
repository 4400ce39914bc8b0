"""The TCP sockets this process has open, including those opened by foreign code.

Foreign code in the same process may close any of them at any moment, so every access uses a
duplicate of the descriptor, kept for microseconds only: keeping it longer would keep the connection
alive after its owner has closed it.
"""

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final

_HIGH: Final = 512
"""Duplicates get numbers from here: foreign code may look again at a low one it has closed."""


@contextlib.contextmanager
def borrowed(fd: int) -> Iterator[socket.socket]:
    """A socket object over a duplicate of `fd`, closed when the block is left.

    The descriptor itself stays its owner's. Raises OSError when `fd` is closed or not a socket.
    """
    duplicate = _duplicate(fd)
    try:
        sock = socket.socket(fileno=duplicate)
    except OSError:
        os.close(duplicate)
        raise
    with sock:
        yield sock


def _duplicate(fd: int) -> int:
    try:
        return fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    except ValueError:
        raise OSError(f"{fd} is no descriptor") from None
    except OSError:
        return os.dup(fd)  # This process may have fewer descriptors than that, or it is closed.


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
            if is_tcp(sock) and is_listening(sock) and sock.getsockname()[1] == port:
                return fd
    return None


def is_listening(sock: socket.socket) -> bool:
    """Whether it is a listening socket. Raises OSError."""
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) == 1


def usable_address(address: str, facing: str) -> str:
    """The own address to listen on for a peer that connects to `address` and comes from `facing`.

    It is `address` itself, unless this host does not have it (behind NAT): then "", for all.
    """
    try:
        if ip_address(address).version != ip_address(facing.partition("%")[0]).version:
            return ""
    except ValueError:
        return ""
    with socket.socket(family_of(address), socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return ""
    return address


def own_address_facing(address: str) -> str:
    """The own address that packets to `address` leave with. Sends nothing. Raises OSError."""
    with socket.socket(family_of(address), socket.SOCK_DGRAM) as trial:
        trial.connect((address, 9))
        return str(trial.getsockname()[0])


def family_of(address: str) -> socket.AddressFamily:
    """The family of an IP address."""
    return socket.AF_INET6 if ":" in address else socket.AF_INET
