"""The kernel's counters for the TCP connections of other processes (sock_diag(7)).

A transfer tool reports its progress every few seconds at best, and not at all for several
concurrent files. The kernel always knows how many bytes the other side's kernel has acknowledged.
Reading the counters needs no privileges: which process of another user has a connection is hidden,
its counters are not.
"""

import contextlib
import math
import os
import socket
import stat
import struct
import threading
import time
from collections.abc import Iterator
from ipaddress import ip_address
from typing import Final, NamedTuple

import msgspec
import psutil

from advisor.hosts.tcp_info import CONNECTED, Counters, counters

_NETLINK_SOCK_DIAG: Final = 4
_SOCK_DIAG_BY_FAMILY: Final = 20
_REQUEST_AND_DUMP: Final = 0x301
_DONE: Final = 3
_ERROR: Final = 2
_INET_DIAG_INFO: Final = 2  # The attribute that holds struct tcp_info.
_STATES: Final = sum(1 << state for state in CONNECTED)

# struct nlmsghdr, and inet_diag_req_v2 with an empty socket id (linux/inet_diag.h).
_HEADER: Final = struct.Struct("=IHHII")
_QUESTION: Final = struct.Struct("=BBBBI48x")
_ATTRIBUTE: Final = struct.Struct("=HH")
# In struct inet_diag_msg: both ports, the remote address, and what is the kernel's own.
_PORTS: Final = struct.Struct("!4xHH")
_REMOTE_AT: Final = 24
_COOKIE_AT: Final = 44
_INODE_AT: Final = 68
_MAPPED: Final = bytes(10) + b"\xff\xff"
"""Before an IPv4 address in an IPv6 socket."""
_MESSAGE_BYTES: Final = 72
_RECEIVE_BYTES: Final = 2**18
_SHARED_S: Final = 0.05
_LOOKING_SHARE: Final = 0.05


class SentTotals(msgspec.Struct, frozen=True, kw_only=True):
    """The sums over all connections seen so far; closed ones count with their last values.

    `acked_bytes`: acknowledged by the other side's kernel. `retransmits`: retransmitted segments.
    `rtt_s`: mean of the kernel's smoothed RTTs of the open connections, None without any.
    """

    connections: int
    acked_bytes: int
    retransmits: int
    rtt_s: float | None


class _Connection(NamedTuple):
    """`cookie`: no other connection ever has it. `inode`: 0 once its process has closed it.

    `remote_address`: as 4 or 16 bytes. `info`: struct tcp_info.
    """

    cookie: int
    inode: int
    local_port: int
    remote_port: int
    remote_address: bytes
    info: bytes


class _Sums:
    """Of the counters last seen of each connection."""

    def __init__(self) -> None:
        self._last: dict[int, Counters] = {}

    def with_open(self, connections: list[_Connection]) -> SentTotals:
        """With what those say that are open now."""
        now_open = {one.cookie: counters(one.info) for one in connections}
        self._last |= now_open
        rtts_s = [c.rtt_s for c in now_open.values() if c.rtt_s > 0]
        return SentTotals(
            connections=len(self._last),
            acked_bytes=sum(c.acked_bytes for c in self._last.values()),
            retransmits=sum(c.retransmits for c in self._last.values()),
            rtt_s=sum(rtts_s) / len(rtts_s) if rtts_s else None,
        )


class ServerSockets:
    """The connections of one client to a server of this host, whoever runs it, from now on.

    For one thread at a time.
    """

    def __init__(self, port: int, client: str) -> None:
        """`port`: where the server listens; `client`: the client's IP address."""
        self._port = port
        self._client = ip_address(client).packed
        self._sums = _Sums()
        self._older = {one.cookie for one in self._open()}

    def totals(self) -> SentTotals:
        """The present sums, without connections that were there before."""
        return self._sums.with_open([one for one in self._open() if one.cookie not in self._older])

    def _open(self) -> list[_Connection]:
        return [
            one
            for one in _TABLE.connections()
            if one.local_port == self._port and one.remote_address == self._client
        ]


class ProcessSockets:
    """The TCP connections of one process of this user. For one thread at a time."""

    def __init__(
        self, pid: int, excluded_port: int | None = None, *, with_children: bool = False
    ) -> None:
        """`excluded_port`: connections to it carry no data, such as a control channel.

        `with_children`: also those of the processes that it has started, and of theirs.
        """
        self._pid = pid
        self._excluded_port = excluded_port
        self._family = _Family(pid) if with_children else None
        self._sums = _Sums()

    def totals(self) -> SentTotals:
        """The present sums. They stay the same once the process has ended."""
        now_open = []
        pids = self._family.pids() if self._family else [self._pid]
        if mine := set[int]().union(*map(_inodes, pids)):
            now_open = [
                one
                for one in _TABLE.connections()
                if one.inode in mine and one.remote_port != self._excluded_port
            ]
        return self._sums.with_open(now_open)


class _Family:
    """A process and all that descend from it.

    Looking for them reads a file of every process of the host, so it is done no more often than
    keeps it at a small share of the time.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._pids = [pid]
        self._next_s = -math.inf

    def pids(self) -> list[int]:
        """Those that were there when they were last looked for."""
        began_s = time.monotonic()
        if began_s >= self._next_s:
            with contextlib.suppress(psutil.NoSuchProcess):
                children = psutil.Process(self._pid).children(recursive=True)
                self._pids = [self._pid, *(child.pid for child in children)]
            now_s = time.monotonic()
            self._next_s = now_s + (now_s - began_s) / _LOOKING_SHARE
        return self._pids


def _inodes(pid: int) -> set[int]:
    """The open sockets of a process; none if it has ended or belongs to another user."""
    found = set()
    with contextlib.suppress(OSError), os.scandir(f"/proc/{pid}/fd") as entries:
        for entry in entries:
            with contextlib.suppress(OSError):  # Closed in the meantime.
                status = entry.stat()
                if stat.S_ISSOCK(status.st_mode):
                    found.add(status.st_ino)
    return found


class _Table:
    """Every connection in this network namespace; requests within a short time share one query.

    With 300 connections a query takes 7 ms, and each of many clients would make its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._read_s = -math.inf
        self._connections: list[_Connection] = []

    def connections(self) -> list[_Connection]:
        """The present ones."""
        with self._lock:
            if time.monotonic() > self._read_s + _SHARED_S:
                self._connections = list(_connections())
                self._read_s = time.monotonic()
            return self._connections


_TABLE: Final = _Table()


def _connections() -> Iterator[_Connection]:
    """Every connection in this network namespace."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as netlink:
        for family in (socket.AF_INET, socket.AF_INET6):
            wanted = 1 << (_INET_DIAG_INFO - 1)
            question = _QUESTION.pack(family, socket.IPPROTO_TCP, wanted, 0, _STATES)
            length = _HEADER.size + len(question)
            header = _HEADER.pack(length, _SOCK_DIAG_BY_FAMILY, _REQUEST_AND_DUMP, 1, 0)
            netlink.send(header + question)
            yield from _answers(netlink, family)


def _answers(netlink: socket.socket, family: socket.AddressFamily) -> Iterator[_Connection]:
    while True:
        data = netlink.recv(_RECEIVE_BYTES)
        at = 0
        while at < len(data):
            length, kind, *_ = _HEADER.unpack_from(data, at)
            if kind in (_DONE, _ERROR):
                return
            message = data[at + _HEADER.size : at + length]
            if info := _attribute(message, _INET_DIAG_INFO):
                (cookie,) = struct.unpack_from("=Q", message, _COOKIE_AT)
                (inode,) = struct.unpack_from("=I", message, _INODE_AT)
                here, there = _PORTS.unpack_from(message)
                address = _address(message, family)
                yield _Connection(cookie, inode, here, there, address, info)
            at += _aligned(length)


def _address(message: bytes, family: socket.AddressFamily) -> bytes:
    """The remote one; as IPv4 also where the server's socket is for both versions."""
    address = message[_REMOTE_AT : _REMOTE_AT + 16]
    if family == socket.AF_INET:
        return address[:4]
    return address.removeprefix(_MAPPED)


def _attribute(message: bytes, wanted: int) -> bytes:
    at = _MESSAGE_BYTES
    while at + _ATTRIBUTE.size <= len(message):
        length, kind = _ATTRIBUTE.unpack_from(message, at)
        if kind == wanted:
            return message[at + _ATTRIBUTE.size : at + length]
        at += _aligned(max(length, _ATTRIBUTE.size))
    return b""


def _aligned(length: int) -> int:
    return (length + 3) & ~3
