"""The queueing discipline of an interface, queried over rtnetlink.

No library reports it without privileges, and net.core.default_qdisc applies only to interfaces that
are set up after it was written.
"""

import os
import socket
import struct
from collections.abc import Iterator
from typing import Final

import msgspec

# linux/rtnetlink.h, linux/netlink.h, linux/pkt_sched.h
_GET_QDISC: Final = 38
_NEW_QDISC: Final = 36
_DONE: Final = 3
_ERROR: Final = 2
_REQUEST_DUMP: Final = 0x301
_KIND: Final = 1
_ROOT: Final = 0xFFFFFFFF
_HEADER: Final = struct.Struct("=IHHII")  # struct nlmsghdr
_MESSAGE: Final = struct.Struct("=BxxxiIII")  # struct tcmsg
_ATTRIBUTE: Final = struct.Struct("=HH")  # struct rtattr
_TIMEOUT_S: Final = 1.0
_MULTI_QUEUE: Final = frozenset({"mq", "mqprio"})


class _Qdisc(msgspec.Struct, frozen=True):
    interface: int
    parent: int
    kind: str


def qdisc_of(interface: str) -> str | None:
    """The kind of queueing discipline for packets leaving by `interface`; None if not known.

    A card with several queues has one per queue under a root called `mq`: their kind is returned.
    """
    try:
        index = socket.if_nametoindex(interface)
        found = [q for q in _dump() if q.interface == index]
    except OSError:
        return None
    roots = [q.kind for q in found if q.parent == _ROOT]
    below = [q.kind for q in found if q.parent != _ROOT]
    if roots and roots[0] in _MULTI_QUEUE and below:
        return below[0]
    return roots[0] if roots else None


def _dump() -> Iterator[_Qdisc]:
    """All queueing disciplines of this network namespace. Raises OSError."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        sock.settimeout(_TIMEOUT_S)
        length = _HEADER.size + _MESSAGE.size
        sock.send(
            _HEADER.pack(length, _GET_QDISC, _REQUEST_DUMP, 1, 0) + _MESSAGE.pack(0, 0, 0, 0, 0)
        )
        while True:
            for kind, body in _messages(sock.recv(65536)):
                if kind == _DONE:
                    return
                if kind == _ERROR:
                    number = -struct.unpack_from("=i", body)[0]
                    raise OSError(number, os.strerror(number))
                if kind == _NEW_QDISC:
                    yield _qdisc(body)


def _messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    while len(data) >= _HEADER.size:
        length, kind, *_ = _HEADER.unpack_from(data)
        yield kind, data[_HEADER.size : length]
        data = data[_aligned(max(length, _HEADER.size)) :]


def _qdisc(body: bytes) -> _Qdisc:
    _, interface, _, parent, _ = _MESSAGE.unpack_from(body)
    attributes, kind = body[_MESSAGE.size :], ""
    while len(attributes) >= _ATTRIBUTE.size:
        length, name = _ATTRIBUTE.unpack_from(attributes)
        if name == _KIND:
            kind = attributes[_ATTRIBUTE.size : length].rstrip(b"\0").decode("ascii", "replace")
        attributes = attributes[_aligned(max(length, _ATTRIBUTE.size)) :]
    return _Qdisc(interface, parent, kind)


def _aligned(length: int) -> int:
    return (length + 3) & ~3
