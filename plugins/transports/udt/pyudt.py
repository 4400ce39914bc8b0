"""A binding for libudt 4 (Debian's `libudt0`): stream sockets, their options, and two fast loops.

Nothing is compiled: the C++ functions are called through ctypes under their mangled names. They
catch every C++ exception themselves and report it by a code kept per thread, which becomes a
`UdtError` here. `library()` says whether libudt can be used at all.

Traps of libudt that the callers meet:

- A process that used libudt takes about a second to end, because the library's own clean-up at
  exit waits for closed sockets. Do not fork after the first socket.
- libudt tells the sender of room in the receiver's buffer only with an acknowledgement, every
  10 ms while packets arrive and every 100 ms when none do. Buffers that the path fills within
  10 ms (2.5 MB for each 2 Gbit/s) therefore stall the transfer for 100 ms at a time.
- Without any other limit than the processor (loopback), the receiver's kernel buffer overflows now
  and then, and libudt slows down for seconds: single short probes there differ by a factor of two.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import socket as sockets
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import islice
from types import TracebackType
from typing import Any, Final, Self

__all__ = [
    "HEADER_BYTES",
    "MSS_RANGE",
    "Counter",
    "End",
    "Option",
    "Perf",
    "Socket",
    "State",
    "UdtClosed",
    "UdtError",
    "UdtMissing",
    "UdtTimeout",
    "library",
    "receive_blocks",
    "send_blocks",
]

HEADER_BYTES: Final = 44
"""What IP, UDP and UDT headers take of each packet, in bytes: the payload is `MSS - HEADER_BYTES`.

libudt always counts 20 bytes for IP, so that an IPv6 packet is 20 bytes longer than its MSS.
"""

MSS_RANGE: Final = (76, 65535)
"""The least and greatest MSS, in bytes.

libudt would accept more, and then every packet would fail: a UDP datagram carries 65507 bytes.
"""

Address = tuple[str, int]

_SONAME = "libudt.so.0"
_REMEDY = "apt-get install libudt0"

# How long one library call of the two loops may wait before the loop looks at its stop again.
_WAIT_MS = 100
# A send loop in C looks at its stop after this many calls, or this many bytes: few enough for a
# 1 Mbit/s path to be counted every second, enough to make the look cost nothing on a fast one.
_BATCH_CALLS = 64
_BATCH_BYTES = 256 * 1024
# UDT::recv gives what is there, up to this, which saves calls where blocks are small. Four times as
# much takes more processor time: it no longer fits the caches beside the packets.
_RECEIVE_BYTES = 128 * 1024
_POLL_S = 0.002

_CLOSED = 2001
_NOT_CONNECTED = 2002
_NO_SUCH_SOCKET = 5004
_NOTHING_TO_RECEIVE = 6002
_TIMED_OUT = 6003


class UdtMissing(OSError):
    """libudt cannot be loaded; the text names the remedy."""


class UdtError(OSError):
    """A call that libudt refused or that failed.

    `code` is libudt's own (1001 no answer, 1002 rejected, 5003 bad value, 6003 timed out, ...), and
    `text` its sentence. `errno` stays None: these are not the system's numbers.
    """

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{text} (libudt {code})")
        self.code = code
        self.text = text


class UdtClosed(UdtError):
    """The connection has ended: the peer closed it, it was lost, or this end closed the socket.

    libudt has one code for a close and for a loss; whoever must tell them apart counts the bytes.
    """


class UdtTimeout(UdtError, TimeoutError):
    """The time given was over before anything happened."""


class Option(enum.IntEnum):
    """libudt's socket options, in its order. Sizes are in bytes unless said otherwise.

    MSS, FC and the four buffers hold for a connection made afterwards; an accepted socket has its
    listener's. `Socket.configure` sets them in the order in which they bound each other.
    """

    MSS = 0
    """Largest packet with IP and UDP headers; the smaller of both ends counts. See `MSS_RANGE`."""
    SNDSYN = 1
    """Whether `send` waits for room (bool)."""
    RCVSYN = 2
    """Whether `recv` waits for data (bool). `accept` needs it off and takes care of it."""
    CC = 3
    """A C++ object: not available here."""
    FC = 4
    """Most packets in flight; at least 32. RCVBUF / (MSS - 28) packets are cut to it silently."""
    SNDBUF = 5
    """Sending buffer; a whole number of packets of MSS - 28."""
    RCVBUF = 6
    """Receiving buffer; a whole number of packets of MSS - 28, from 32 to FC."""
    LINGER = 7
    """Seconds `close` waits for unsent data; 0 is off, as `Socket` sets it."""
    UDP_SNDBUF = 8
    """The kernel's sending buffer, at least MSS; net.core.wmem_max cuts it silently."""
    UDP_RCVBUF = 9
    """The kernel's receiving buffer, at least MSS; net.core.rmem_max cuts it silently."""
    MAXMSG = 10
    """Not implemented by libudt."""
    MSGTTL = 11
    """Not implemented by libudt."""
    RENDEZVOUS = 12
    """Both ends connect, none listens (bool)."""
    SNDTIMEO = 13
    """Milliseconds `send` waits at most; -1 for ever."""
    RCVTIMEO = 14
    """Milliseconds `recv` waits at most; -1 for ever."""
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
    """What `Option.STATE` can be."""

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
# Each bounds the later ones: the packet size the buffers, the flight the receiving buffer.
_ORDER = (
    Option.MSS,
    Option.FC,
    Option.UDP_SNDBUF,
    Option.UDP_RCVBUF,
    Option.SNDBUF,
    Option.RCVBUF,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Perf:
    """libudt's statistics of a connection (CPerfMon), its names in snake case.

    Prefixes are units: `pkt` packets, `us` and `ms` times, `mbps` 10^6 bit/s, `byte` bytes. The
    `*_total` fields count from the connection's start, the ones without since the last `clear`.
    libudt's 32-bit counters may wrap in long transfers.
    """

    ms_time_stamp: int
    pkt_sent_total: int
    """Retransmissions included."""
    pkt_recv_total: int
    pkt_snd_loss_total: int
    pkt_rcv_loss_total: int
    pkt_retrans_total: int
    pkt_sent_ack_total: int
    pkt_recv_ack_total: int
    pkt_sent_nak_total: int
    pkt_recv_nak_total: int
    us_snd_duration_total: int
    """Time with something to send."""
    pkt_sent: int
    pkt_recv: int
    pkt_snd_loss: int
    pkt_rcv_loss: int
    pkt_retrans: int
    pkt_sent_ack: int
    pkt_recv_ack: int
    pkt_sent_nak: int
    pkt_recv_nak: int
    mbps_send_rate: float
    mbps_recv_rate: float
    us_snd_duration: int
    us_pkt_snd_period: float
    pkt_flow_window: int
    """Room at the receiver as of its last acknowledgement."""
    pkt_congestion_window: int
    pkt_flight_size: int
    ms_rtt: float
    """Smoothed; starts at 100 ms and comes down with the acknowledgements."""
    mbps_bandwidth: float
    """libudt's estimate; it can be negative and is not to be trusted alone."""
    byte_avail_snd_buf: int
    """0 also when libudt had no time to look; wraps above 2 GiB."""
    byte_avail_rcv_buf: int
    """0 also when libudt had no time to look; wraps above 2 GiB."""


class _TraceInfo(ctypes.Structure):
    # CPerfMon of udt.h, field by field; `Perf` has the same order.
    _fields_ = (
        ("msTimeStamp", ctypes.c_int64),
        ("pktSentTotal", ctypes.c_int64),
        ("pktRecvTotal", ctypes.c_int64),
        ("pktSndLossTotal", ctypes.c_int),
        ("pktRcvLossTotal", ctypes.c_int),
        ("pktRetransTotal", ctypes.c_int),
        ("pktSentACKTotal", ctypes.c_int),
        ("pktRecvACKTotal", ctypes.c_int),
        ("pktSentNAKTotal", ctypes.c_int),
        ("pktRecvNAKTotal", ctypes.c_int),
        ("usSndDurationTotal", ctypes.c_int64),
        ("pktSent", ctypes.c_int64),
        ("pktRecv", ctypes.c_int64),
        ("pktSndLoss", ctypes.c_int),
        ("pktRcvLoss", ctypes.c_int),
        ("pktRetrans", ctypes.c_int),
        ("pktSentACK", ctypes.c_int),
        ("pktRecvACK", ctypes.c_int),
        ("pktSentNAK", ctypes.c_int),
        ("pktRecvNAK", ctypes.c_int),
        ("mbpsSendRate", ctypes.c_double),
        ("mbpsRecvRate", ctypes.c_double),
        ("usSndDuration", ctypes.c_int64),
        ("usPktSndPeriod", ctypes.c_double),
        ("pktFlowWindow", ctypes.c_int),
        ("pktCongestionWindow", ctypes.c_int),
        ("pktFlightSize", ctypes.c_int),
        ("msRTT", ctypes.c_double),
        ("mbpsBandwidth", ctypes.c_double),
        ("byteAvailSndBuf", ctypes.c_int),
        ("byteAvailRcvBuf", ctypes.c_int),
    )


_Function = Callable[..., int]


@dataclass(frozen=True, slots=True)
class _Library:
    """libudt's functions, found once."""

    socket: _Function
    bind: _Function
    bind_udp: _Function
    listen: _Function
    accept: _Function
    connect: _Function
    close: _Function
    peer_name: _Function
    own_name: _Function
    get_option: _Function
    set_option: _Function
    send: _Function
    receive: _Function
    perf: _Function
    error_code: _Function
    error_text: Callable[[], bytes]

    def failure(self) -> UdtError:
        """The calling thread's last error."""
        code = self.error_code()
        text = self.error_text().decode(errors="replace").strip().rstrip(".")
        return _KINDS.get(code, UdtError)(code, text)


_KINDS: Mapping[int, type[UdtError]] = {_CLOSED: UdtClosed, _TIMED_OUT: UdtTimeout}


@cache
def library() -> _Library:
    """Load libudt and start it; later calls give the same object.

    Raises `UdtMissing` when there is no libudt, or one with other functions.
    """
    try:
        loaded = ctypes.CDLL(_SONAME)
        return _bound(loaded)
    except (OSError, AttributeError) as error:
        raise UdtMissing(f"libudt 4 cannot be loaded ({error}); remedy: {_REMEDY}") from error


def _bound(loaded: ctypes.CDLL) -> _Library:
    def function(symbol: str, *arguments: Any, result: Any = ctypes.c_int) -> Any:
        found = loaded[f"_ZN3UDT{symbol}"]
        found.restype = result
        # Left unset where no types are given: ctypes then takes plain ints and byref() as they
        # are, which is three times faster, and matters in the two loops.
        if arguments:
            found.argtypes = arguments
        return found

    number, pointer = ctypes.c_int, ctypes.c_void_p
    functions = _Library(
        socket=function("6socketEiii", number, number, number),
        bind=function("4bindEiPK8sockaddri", number, pointer, number),
        bind_udp=function("5bind2Eii", number, number),
        listen=function("6listenEii", number, number),
        accept=function("6acceptEiP8sockaddrPi", number, pointer, pointer),
        connect=function("7connectEiPK8sockaddri", number, pointer, number),
        close=function("5closeEi", number),
        peer_name=function("11getpeernameEiP8sockaddrPi", number, pointer, pointer),
        own_name=function("11getsocknameEiP8sockaddrPi", number, pointer, pointer),
        get_option=function("10getsockoptEii6UDTOptPvPi", number, number, number, pointer, pointer),
        set_option=function("10setsockoptEii6UDTOptPKvi", number, number, number, pointer, number),
        send=function("4sendEiPKcii"),
        receive=function("4recvEiPcii"),
        perf=function("7perfmonEiP8CPerfMonb", number, pointer, ctypes.c_bool),
        error_code=function("17getlasterror_codeEv"),
        error_text=function("17getlasterror_descEv", result=ctypes.c_char_p),
    )
    function("7startupEv")()
    return functions


def _packed(family: int, address: Address) -> ctypes.Array[ctypes.c_char]:
    """`address` as a sockaddr; names are resolved. Raises `socket.gaierror`."""
    found = sockets.getaddrinfo(*address, family=family, type=sockets.SOCK_DGRAM)[0][4]
    host, port = str(found[0]), int(found[1])
    if family == sockets.AF_INET:
        raw = struct.pack("=H2s4s8x", family, port.to_bytes(2, "big"), _number(family, host))
    else:
        flow, scope = (int(part) for part in found[2:4])
        number = _number(family, host.partition("%")[0])
        raw = struct.pack("=H2sI16sI", family, port.to_bytes(2, "big"), flow, number, scope)
    return ctypes.create_string_buffer(raw, len(raw))


def _number(family: int, host: str) -> bytes:
    return sockets.inet_pton(family, host)


def _unpacked(family: int, name: ctypes.Array[ctypes.c_char]) -> Address:
    first, length = (4, 4) if family == sockets.AF_INET else (8, 16)
    host = sockets.inet_ntop(family, name.raw[first : first + length])
    return host, int.from_bytes(name.raw[2:4], "big")


def _value_for(option: Option, value: int) -> Any:
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


class Socket:
    """A UDT stream socket; as a context manager it closes itself.

    `family` is `socket.AF_INET` or `socket.AF_INET6`. Unlike libudt's own default of 180 s, LINGER
    is off: `close` drops what was not sent. Any thread may call anything, with one limit of libudt:
    setting an option waits for a `send` or `recv` under way.

    Every method raises `UdtError` for what libudt refuses, `UdtClosed` once a connection has ended.
    """

    def __init__(self, family: int = sockets.AF_INET) -> None:
        if family not in (sockets.AF_INET, sockets.AF_INET6):
            raise ValueError(f"family {family} is neither AF_INET nor AF_INET6")
        self._library = library()
        number = self._library.socket(int(family), int(sockets.SOCK_STREAM), 0)
        if number < 0:
            raise self._library.failure()
        self._adopt(number, int(family))
        self.set(Option.LINGER, 0)

    def _adopt(self, number: int, family: int) -> None:
        self._number = number
        self._family = family
        self._closed = False
        self._was_connected = False
        self._closing = threading.Lock()

    @classmethod
    def _accepted(cls, number: int, family: int) -> Self:
        made = cls.__new__(cls)
        made._library = library()
        made._adopt(number, family)
        made._was_connected = True
        return made

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<pyudt.Socket {self._number}{' closed' if self._closed else ''}>"

    @property
    def closed(self) -> bool:
        """Whether this end has been closed."""
        return self._closed

    def _failure(self) -> UdtError:
        error = self._library.failure()
        # A second after the end, libudt forgets the socket, and answers as if it had never been.
        forgotten = self._was_connected and error.code in (_NOT_CONNECTED, _NO_SUCH_SOCKET)
        if forgotten or self._closed:
            return UdtClosed(error.code, error.text)
        return error

    def _check(self, result: int) -> int:
        if result < 0:
            raise self._failure()
        return result

    def set(self, option: Option, value: int) -> None:
        """Set an option: bytes, packets, milliseconds or bool as `Option` says.

        libudt clamps silently: read back with `get`. Raises `ValueError` for what cannot work, and
        `UdtError` where libudt refuses (5001, 5002: too late; 5003: out of range; 5000: read only).
        """
        content = _value_for(option, value)
        self._check(
            self._library.set_option(
                self._number, 0, option, ctypes.byref(content), ctypes.sizeof(content)
            )
        )

    def get(self, option: Option) -> int:
        """An option's value; a bool for the yes or no ones, whole seconds (0: off) for LINGER."""
        content = _value_for(option, MSS_RANGE[0])
        size = ctypes.c_int(ctypes.sizeof(content))
        self._check(
            self._library.get_option(
                self._number, 0, option, ctypes.byref(content), ctypes.byref(size)
            )
        )
        if isinstance(content, _Linger):
            return int(content.seconds) if content.onoff else 0
        value: int = content.value
        return value

    def configure(self, options: Mapping[Option, int]) -> dict[Option, int]:
        """Set several options, those first that bound others, and return what libudt made of them.

        Raises as `set`; the options before the refused one are then set.
        """
        first = [option for option in _ORDER if option in options]
        for option in (*first, *(option for option in options if option not in _ORDER)):
            self.set(option, options[option])
        return {option: self.get(option) for option in options}

    def bind(self, address: Address) -> None:
        """Bind to a local (host, port); port 0 chooses a free one, which `local_address` tells.

        Raises `UdtError` 1003 when the port is in use.
        """
        name = _packed(self._family, address)
        self._check(self._library.bind(self._number, name, len(name)))

    def bind_onto(self, udp: sockets.socket) -> None:
        """Bind onto a bound UDP socket of the same family, which libudt then owns.

        `udp` is detached: libudt closes it after its own use. Only its buffer sizes are changed.
        """
        if udp.family != self._family or udp.type != sockets.SOCK_DGRAM:
            raise ValueError(f"{udp!r} is not a UDP socket of this family")
        # libudt's receiving thread would spin on a socket that does not wait.
        udp.setblocking(True)
        self._check(self._library.bind_udp(self._number, udp.fileno()))
        udp.detach()

    def listen(self, backlog: int = 1) -> None:
        """Accept connections from now on, up to `backlog` waiting ones. Needs a bound socket."""
        # libudt's accept cannot be given a time: it is asked without waiting, again and again.
        self.set(Option.RCVSYN, False)
        self._check(self._library.listen(self._number, backlog))

    def accept(self, timeout_s: float | None = None) -> tuple[Socket, Address]:
        """Wait for a connection; return its socket and the peer's address.

        None waits for ever. Raises `UdtTimeout` after `timeout_s` seconds, and `UdtClosed` when
        another thread closes this socket. The new socket has this one's options and waits.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        name = ctypes.create_string_buffer(128)
        size = ctypes.c_int(len(name))
        while True:
            number = self._library.accept(self._number, name, ctypes.byref(size))
            if number >= 0:
                break
            error = self._failure()
            if error.code != _NOTHING_TO_RECEIVE or self._closed:
                raise error
            if until is not None and time.monotonic() >= until:
                raise UdtTimeout(_TIMED_OUT, f"No connection within {timeout_s:g} s")
            time.sleep(_POLL_S)
        made = Socket._accepted(number, self._family)
        # A peer that has gone already is told by the first recv.
        with contextlib.suppress(UdtClosed):
            made.set(Option.RCVSYN, True)
        return made, _unpacked(self._family, name)

    def connect(self, address: Address, timeout_s: float | None = None) -> None:
        """Connect to (host, port).

        libudt gives up by itself after 3 to 4 s with `UdtError` 1001 (it hears no ICMP, so that a
        closed port looks like silence); a longer `timeout_s` changes nothing. A shorter one raises
        `UdtTimeout` and closes this socket, because libudt cannot be stopped: what it began ends
        in the background. After any failure the socket is good for `close` only. A rejection (full
        backlog) is `UdtError` 1002.
        """
        name = _packed(self._family, address)
        if timeout_s is None:
            self._check(self._library.connect(self._number, name, len(name)))
        else:
            self._connect_within(name, timeout_s)
        self._was_connected = True

    def _connect_within(self, name: ctypes.Array[ctypes.c_char], timeout_s: float) -> None:
        finished = threading.Event()
        failures: list[UdtError] = []

        def run() -> None:
            if self._library.connect(self._number, name, len(name)) < 0:
                failures.append(self._failure())
            with self._closing:
                finished.set()
                if self._closed:
                    self._library.close(self._number)

        threading.Thread(target=run, name="udt-connect", daemon=True).start()
        if not finished.wait(timeout_s):
            with self._closing:
                # Its thread closes it: libudt's close would wait for the connect.
                self._closed = not finished.is_set()
            if self._closed:
                raise UdtTimeout(_TIMED_OUT, f"No connection within {timeout_s:g} s")
        if failures:
            raise failures[0]

    def local_address(self) -> Address:
        """This end's (host, port). Raises `UdtError` 2002 before `bind` or `connect`."""
        return self._address(self._library.own_name)

    def peer_address(self) -> Address:
        """The other end's (host, port)."""
        return self._address(self._library.peer_name)

    def _address(self, ask: _Function) -> Address:
        name = ctypes.create_string_buffer(128)
        size = ctypes.c_int(len(name))
        self._check(ask(self._number, name, ctypes.byref(size)))
        return _unpacked(self._family, name)

    def send(self, data: bytes) -> int:
        """Hand over `data` to the sending buffer; return how many bytes it took, at least one.

        Waits for room, at most SNDTIMEO: then `UdtTimeout`.
        """
        return self._check(self._library.send(self._number, data, len(data), 0))

    def recv(self, size: int) -> bytes:
        """Receive what is there, 1 to `size` bytes.

        Waits for data, at most RCVTIMEO: then `UdtTimeout`. Raises `UdtClosed` after the last byte.
        """
        buffer = ctypes.create_string_buffer(size)
        got = self._check(self._library.receive(self._number, buffer, size, 0))
        return buffer.raw[:got]

    def perf(self, *, clear: bool = False) -> Perf:
        """The connection's statistics; `clear` starts the interval's ones anew.

        Never waits for a `send` or `recv`. Raises `UdtError` 2002 before, `UdtClosed` after it.
        """
        raw = _TraceInfo()
        self._check(self._library.perf(self._number, ctypes.byref(raw), clear))
        values = (getattr(raw, name) for name, _ in _TraceInfo._fields_)
        return Perf(**dict(zip(Perf.__slots__, values, strict=True)))

    def close(self) -> None:
        """Close this end and wake whoever waits in it. A second call does nothing.

        Returns at once, or after up to LINGER seconds where that was set. A listener's port is free
        again some seconds later.
        """
        with self._closing:
            if self._closed:
                return
            self._closed = True
        self._library.close(self._number)


class Counter:
    """Bytes moved so far by a loop: one thread adds, any other reads `bytes`, without a lock."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class End(enum.StrEnum):
    """Why a loop ended."""

    STOPPED = "stopped"
    """Its time was over or its stop said so."""
    CLOSED = "closed"
    """The connection ended, or a thread closed the socket."""


def _never() -> bool:
    return False


def send_blocks(
    socket: Socket,
    block: bytes | bytearray | memoryview,
    counter: Counter,
    *,
    until: float | None = None,
    stop: Callable[[], bool] = _never,
) -> End:
    """Send `block` again and again, each call of libudt being asked to take one whole block.

    It ends at `until` (a `time.monotonic()`), when `stop()` is true (`Event.is_set`), or when the
    connection ends. Both are looked at after 64 blocks or 256 KiB, whichever is less, and after
    100 ms of standstill; `Socket.close` from another thread is noticed at once. `counter.bytes`
    counts what libudt took, with the same grain: what arrives is the receiver's to say.

    Sets SNDTIMEO. Raises `UdtError` for anything but the connection's end.
    """
    size = len(memoryview(block).cast("B"))
    if not 0 < size < 2**31:
        raise ValueError(f"a block of {size} bytes is not within 1 to 2^31 - 1")
    if not _prepared(socket, Option.SNDTIMEO):
        return End.CLOSED
    content = (ctypes.c_char * size).from_buffer_copy(block)
    call = partial(socket._library.send, socket._number, ctypes.byref(content), size, 0)
    batch = max(1, min(_BATCH_CALLS, _BATCH_BYTES // size))
    full = batch * size
    clock = time.monotonic
    last = float("inf") if until is None else until
    # The calls of a batch are made by iter(), islice() and sum() in C; iter() ends at an error.
    calls = iter(call, -1)
    while clock() < last and not stop():
        sent = sum(islice(calls, batch))
        counter.bytes += sent
        if sent < full:
            # Short either because the buffer is full, or because of an error: one more call tells.
            more = next(calls, None)
            if more is not None:
                counter.bytes += more
            elif _ended(socket):
                return End.CLOSED
            else:
                calls = iter(call, -1)
    return End.STOPPED


def receive_blocks(
    socket: Socket,
    block_bytes: int,
    counter: Counter,
    *,
    until: float | None = None,
    stop: Callable[[], bool] = _never,
) -> End:
    """Receive and drop everything until the connection ends, which is the normal way to end.

    `block_bytes` (1 to 2^31 - 1) is the least room given to each call of libudt, which returns what
    is there. `until` and `stop` are those of `send_blocks`, looked at after each call, or 100 ms.
    `counter.bytes` is what has arrived.

    Sets RCVTIMEO. Raises `UdtError` for anything but the connection's end.
    """
    if not 0 < block_bytes < 2**31:
        raise ValueError(f"a block of {block_bytes} bytes is not within 1 to 2^31 - 1")
    if not _prepared(socket, Option.RCVTIMEO):
        return End.CLOSED
    size = max(block_bytes, _RECEIVE_BYTES)
    content = (ctypes.c_char * size)()
    call = partial(socket._library.receive, socket._number, ctypes.byref(content), size, 0)
    clock = time.monotonic
    last = float("inf") if until is None else until
    while clock() < last and not stop():
        got = call()
        if got >= 0:
            counter.bytes += got
        elif _ended(socket):
            return End.CLOSED
    return End.STOPPED


def _prepared(socket: Socket, timeout: Option) -> bool:
    # A peer that has closed already may have left data to receive, so only sending stops here.
    try:
        socket.set(timeout, _WAIT_MS)
    except UdtClosed:
        return timeout is Option.RCVTIMEO and not socket.closed
    return True


def _ended(socket: Socket) -> bool:
    """Whether the last error of this thread is the connection's end; raises other ones."""
    error = socket._failure()
    if isinstance(error, UdtTimeout):
        return False
    if isinstance(error, UdtClosed):
        return True
    raise error
