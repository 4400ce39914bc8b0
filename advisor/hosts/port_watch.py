"""Watches who connects to a TCP port that foreign code in this process listens on.

Where the kernel lets this account filter by address (`peer_filter.only_from`), strangers get no
answer. Elsewhere they are accepted by the foreign code, and found here by looking at the sockets of
this process. No low descriptor is opened for that: foreign code that has closed one may look at its
number again.
"""

import contextlib
import os
import socket
import stat
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.hosts.own_sockets import borrowed, is_listening, is_tcp
from advisor.hosts.peer_filter import comes_from, only_from
from advisor.hosts.tcp_info import received_bytes

_GAP: Final = 64
"""Descriptors are given from below: after this many closed ones nothing of interest follows."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """One accepted connection. `inode`: its own. `is_expected`: it comes from the right address.

    `received_bytes`: what it has sent. `age_s`: since it was first seen.
    """

    inode: int
    is_expected: bool
    received_bytes: int
    age_s: float


class PortWatch:
    """The sockets of this process on one TCP port. For one thread at a time."""

    def __init__(self, port: int, source_address: str, idle_s: int) -> None:
        """`source_address`: the only one that may connect.

        `idle_s`: for that long the kernel itself keeps connections that have sent nothing.
        """
        self._port = port
        self._source_address = source_address
        self._idle_s = idle_s
        self._prepared: set[int] = set()
        self._first_seen_s: dict[int, float] = {}
        self._kept: list[int] = []
        self.is_filtered: bool | None = None
        """Whether the kernel keeps others out; None before anything listened."""

    def prepare(self) -> bool:
        """Let the kernel keep out what it can; return whether something has listened yet.

        To be called again and again: foreign code may replace its listening socket.
        """
        for inode, sock in self._sockets():
            if is_listening(sock):
                self._prepare(sock)
                self._prepared.add(inode)
        return bool(self._prepared)

    def _prepare(self, listener: socket.socket) -> None:
        try:
            only_from(listener, self._source_address)
            self.is_filtered = True
        except PermissionError:
            self.is_filtered = False
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, self._idle_s)

    def accepted(self) -> list[Accepted]:
        """All connections to the port that are open now."""
        found = []
        for inode, sock in self._sockets():
            with contextlib.suppress(OSError):  # Closed in the meantime.
                if is_listening(sock):
                    continue
                sock.getpeername()  # Raises for one that was reset.
                now_s = time.monotonic()
                found.append(
                    Accepted(
                        inode=inode,
                        is_expected=comes_from(sock, self._source_address),
                        received_bytes=received_bytes(sock),
                        age_s=now_s - self._first_seen_s.setdefault(inode, now_s),
                    )
                )
        return found

    def refuse(self) -> None:
        """End all connections to the port; foreign code finds them ended by the other side."""
        for _, sock in self._sockets():
            with contextlib.suppress(OSError):
                if not is_listening(sock):
                    sock.shutdown(socket.SHUT_RDWR)

    def close_port(self) -> None:
        """Stop listening, unnoticed by the foreign code: to it, nobody comes any more."""
        for descriptor, _ in _descriptors():
            with contextlib.suppress(OSError):
                with borrowed(descriptor) as sock:
                    ours = self._is_here(sock) and is_listening(sock)
                if ours:
                    silent, kept = os.pipe()
                    self._kept.append(kept)  # As long as it is open, the other end is silent.
                    os.dup2(silent, descriptor, inheritable=False)
                    os.close(silent)

    def _sockets(self) -> Iterator[tuple[int, socket.socket]]:
        """Inode and a borrowed socket, for each on the port but the known listening ones.

        Those are never borrowed twice: foreign code that closes one to listen again at the same
        port would find it in use for as long as it is borrowed.
        """
        for descriptor, inode in _descriptors():
            if inode in self._prepared:
                continue
            with contextlib.suppress(OSError), borrowed(descriptor) as sock:
                if self._is_here(sock):
                    yield inode, sock

    def _is_here(self, sock: socket.socket) -> bool:
        return is_tcp(sock) and sock.getsockname()[1] == self._port


def _descriptors() -> Iterator[tuple[int, int]]:
    """The open sockets of this process and their inodes, without opening a descriptor."""
    descriptor, gap = 0, 0
    while gap < _GAP:
        try:
            found = os.fstat(descriptor)
            if stat.S_ISSOCK(found.st_mode):
                yield descriptor, found.st_ino
            gap = 0
        except OSError:
            gap += 1
        descriptor += 1
