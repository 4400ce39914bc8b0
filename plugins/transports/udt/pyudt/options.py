"""libudt's options, and the encoding of their values."""

import ctypes
import enum
from collections.abc import Collection
from typing import Any, Final

HEADER_BYTES: Final = 44
"""The IP, UDP and UDT headers of each packet, in bytes: the payload is `MSS - HEADER_BYTES`.

libudt always counts 20 bytes for IP, so that an IPv6 packet is 20 bytes longer than its MSS.
"""

MSS_RANGE: Final = (76, 65535)
"""The least and greatest MSS, in bytes.

libudt would accept more, and then every packet would fail: a UDP datagram carries 65507 bytes.
"""


class Option(enum.IntEnum):
    """libudt's socket options, in its order. Sizes are in bytes unless said otherwise.

    MSS, FC and the four buffers apply to connections made afterwards; an accepted socket has its
    listener's. `Socket.configure` sets them in the order in which they limit each other.
    """

    MSS = 0
    """Largest packet with UDP and IPv4 headers; the smaller of both ends counts. See `MSS_RANGE`.

    Over IPv6 packets are 20 bytes longer than this."""
    SNDSYN = 1
    """Whether `send` waits for room (bool)."""
    RCVSYN = 2
    """Whether `recv` waits for data (bool). `accept` needs it off and takes care of it."""
    CC = 3
    """A C++ object: not available here."""
    FC = 4
    """Most packets in flight; at least 32. RCVBUF / (MSS - 28) is silently reduced to it."""
    SNDBUF = 5
    """Sending buffer; a whole number of packets of MSS - 28."""
    RCVBUF = 6
    """Receiving buffer; a whole number of packets of MSS - 28, from 32 to FC."""
    LINGER = 7
    """Seconds `close` waits for unsent data; 0 is off, as `Socket` sets it."""
    UDP_SNDBUF = 8
    """The kernel's sending buffer, at least MSS; net.core.wmem_max limits it silently."""
    UDP_RCVBUF = 9
    """The kernel's receiving buffer, at least MSS; net.core.rmem_max limits it silently."""
    MAXMSG = 10
    """Not implemented by libudt."""
    MSGTTL = 11
    """Not implemented by libudt."""
    RENDEZVOUS = 12
    """Both ends connect, none listens (bool)."""
    SNDTIMEO = 13
    """Milliseconds `send` waits at most; -1 forever."""
    RCVTIMEO = 14
    """Milliseconds `recv` waits at most; -1 forever."""
    REUSEADDR = 15
    """Whether sockets of this process may share a UDP port (bool)."""
    MAXBW = 16
    """Most bytes per second; -1 for no limit."""
    STATE = 17
    """A `State`; read only."""
    EVENT = 18
    """1 readable, 4 writable, 8 broken, added up; read only."""
    SNDDATA = 19
    """Packets in the sending buffer; read only."""
    RCVDATA = 20
    """Packets in the receiving buffer; read only."""


class State(enum.IntEnum):
    """The values of `Option.STATE`."""

    INIT = 1
    OPENED = 2
    LISTENING = 3
    CONNECTING = 4
    CONNECTED = 5
    BROKEN = 6
    CLOSING = 7
    CLOSED = 8
    NONEXIST = 9


class _Linger(ctypes.Structure):
    _fields_ = (("onoff", ctypes.c_int), ("seconds", ctypes.c_int))


_BOOLEANS = frozenset({Option.SNDSYN, Option.RCVSYN, Option.RENDEZVOUS, Option.REUSEADDR})
# Each limits the later ones: the packet size the buffers, the flow window the receiving buffer.
_ORDER = (
    Option.MSS,
    Option.FC,
    Option.UDP_SNDBUF,
    Option.UDP_RCVBUF,
    Option.SNDBUF,
    Option.RCVBUF,
)


def in_order(options: Collection[Option]) -> list[Option]:
    """`options` in the order to set them: those that limit others first."""
    first = [option for option in _ORDER if option in options]
    return [*first, *(option for option in options if option not in _ORDER)]


def value_for(option: Option, value: int) -> Any:
    """`value` as libudt takes it. Raises `ValueError` for an invalid one."""
    if option is Option.CC:
        raise ValueError("UDT_CC takes a C++ object")
    if option is Option.MSS and not MSS_RANGE[0] <= value <= MSS_RANGE[1]:
        raise ValueError(f"MSS {value} is not within {MSS_RANGE[0]} to {MSS_RANGE[1]} bytes")
    if option in _BOOLEANS:
        return ctypes.c_bool(bool(value))
    bits = 64 if option is Option.MAXBW else 32
    if not -(2 ** (bits - 1)) <= value < 2 ** (bits - 1):
        raise ValueError(f"{option.name} {value} does not fit {bits} bits")
    if option is Option.LINGER:
        if value < 0:
            raise ValueError(f"LINGER {value} is negative")
        return _Linger(int(value > 0), value)
    return ctypes.c_int64(value) if bits == 64 else ctypes.c_int(value)


def number_in(content: Any) -> int:
    """The number in the result of `value_for`, after libudt has written into it."""
    if isinstance(content, _Linger):
        return int(content.seconds) if content.onoff else 0
    value: int = content.value
    return value
