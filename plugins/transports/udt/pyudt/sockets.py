from __future__ import annotations

import contextlib
import ctypes
import socket
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from .addresses import Address, packed, unpacked
from .errors import (
    NO_SUCH_SOCKET,
    NOT_CONNECTED,
    NOTHING_TO_RECEIVE,
    TIMED_OUT,
    UdtClosed,
    UdtError,
    UdtTimeout,
)
from .native import Function, library
from .options import MSS_RANGE, Option, in_order, number_in, value_for
from .perf import Perf, TraceInfo, perf_from

_POLL_S = 0.002


class Socket:
    """A UDT stream socket; as a context manager it closes itself.

    `family` is `socket.AF_INET` or `socket.AF_INET6`. Unlike libudt's own default of 180 s, LINGER
    is off: `close` drops what was not sent. Any thread may call anything, with one limit of libudt:
    setting an option waits for a `send` or `recv` under way.

    Every method raises `UdtError` when libudt rejects a call, `UdtClosed` after a connection ended.
    """

    def __init__(self, family: int = socket.AF_INET) -> None:
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise ValueError(f"family {family} is neither AF_INET nor AF_INET6")
        self._library = library()
        number = self._library.socket(int(family), int(socket.SOCK_STREAM), 0)
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
        # A second after the end, libudt forgets the socket and answers as if it never existed.
        forgotten = self._was_connected and error.code in (NOT_CONNECTED, NO_SUCH_SOCKET)
        if forgotten or self._closed:
            return UdtClosed(error.code, error.text)
        return error

    def _check(self, result: int) -> int:
        if result < 0:
            raise self._failure()
        return result

    def set(self, option: Option, value: int) -> None:
        """Set an option: bytes, packets, milliseconds or bool as `Option` says.

        libudt clamps silently: read back with `get`. Raises `ValueError` for an invalid value, and
        `UdtError` if libudt rejects it (5001, 5002: too late; 5003: out of range; 5000: read only).
        """
        content = value_for(option, value)
        self._check(
            self._library.set_option(
                self._number, 0, option, ctypes.byref(content), ctypes.sizeof(content)
            )
        )

    def get(self, option: Option) -> int:
        """An option's value; a bool for a flag, whole seconds (0: off) for LINGER."""
        content = value_for(option, MSS_RANGE[0])
        size = ctypes.c_int(ctypes.sizeof(content))
        self._check(
            self._library.get_option(
                self._number, 0, option, ctypes.byref(content), ctypes.byref(size)
            )
        )
        return number_in(content)

    def configure(self, options: Mapping[Option, int]) -> dict[Option, int]:
        """Set several options, those that limit others first; return the values libudt chose.

        Raises as `set`; the options before the rejected one are then set.
        """
        for option in in_order(options):
            self.set(option, options[option])
        return {option: self.get(option) for option in options}

    def bind(self, address: Address) -> None:
        """Bind to a local (host, port); port 0 chooses a free one, see `local_address`.

        Raises `UdtError` 1003 when the port is in use.
        """
        name = packed(self._family, address)
        self._check(self._library.bind(self._number, name, len(name)))

    def bind_onto(self, udp: socket.socket) -> None:
        """Bind to a bound UDP socket of the same family, which libudt then owns.

        `udp` is detached: libudt closes it after use. Only its buffer sizes are changed.
        """
        if udp.family != self._family or udp.type != socket.SOCK_DGRAM:
            raise ValueError(f"{udp!r} is not a UDP socket of this family")
        # libudt's receiving thread would spin on a non-blocking socket.
        udp.setblocking(True)
        self._check(self._library.bind_udp(self._number, udp.fileno()))
        udp.detach()

    def listen(self, backlog: int = 1) -> None:
        """Accept connections from now on, up to `backlog` waiting ones. Needs a bound socket."""
        # libudt's accept has no timeout, so it is polled.
        self.set(Option.RCVSYN, False)
        self._check(self._library.listen(self._number, backlog))

    def accept(self, timeout_s: float | None = None) -> tuple[Socket, Address]:
        """Wait for a connection; return its socket and the peer's address.

        None waits forever. Raises `UdtTimeout` after `timeout_s` seconds, and `UdtClosed` when
        another thread closes this socket. The new socket has this one's options and blocks.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        name = ctypes.create_string_buffer(128)
        size = ctypes.c_int(len(name))
        while True:
            number = self._library.accept(self._number, name, ctypes.byref(size))
            if number >= 0:
                break
            error = self._failure()
            if error.code != NOTHING_TO_RECEIVE or self._closed:
                raise error
            if until is not None and time.monotonic() >= until:
                raise UdtTimeout(TIMED_OUT, f"No connection within {timeout_s:g} s")
            time.sleep(_POLL_S)
        made = Socket._accepted(number, self._family)
        # The first recv reports a peer that has already gone.
        with contextlib.suppress(UdtClosed):
            made.set(Option.RCVSYN, True)
        return made, unpacked(self._family, name)

    def connect(self, address: Address, timeout_s: float | None = None) -> None:
        """Connect to (host, port).

        libudt gives up after 3 to 4 s with `UdtError` 1001 (it receives no ICMP, so a closed port
        looks like silence); a longer `timeout_s` changes nothing. A shorter one raises `UdtTimeout`
        and closes this socket, because libudt cannot be stopped: its attempt ends in the
        background. After any failure only `close` may be called. A rejection (full backlog) is
        `UdtError` 1002.
        """
        name = packed(self._family, address)
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
                # The connecting thread closes it: libudt's close would wait for the connect.
                self._closed = not finished.is_set()
            if self._closed:
                raise UdtTimeout(TIMED_OUT, f"No connection within {timeout_s:g} s")
        if failures:
            raise failures[0]

    def local_address(self) -> Address:
        """This end's (host, port). Raises `UdtError` 2002 before `bind` or `connect`."""
        return self._address(self._library.own_name)

    def peer_address(self) -> Address:
        """The other end's (host, port)."""
        return self._address(self._library.peer_name)

    def _address(self, ask: Function) -> Address:
        name = ctypes.create_string_buffer(128)
        size = ctypes.c_int(len(name))
        self._check(ask(self._number, name, ctypes.byref(size)))
        return unpacked(self._family, name)

    def send(self, data: bytes) -> int:
        """Pass `data` to the sending buffer; return how many bytes it accepted, at least one.

        Waits for free space, at most SNDTIMEO: then `UdtTimeout`.
        """
        return self._check(self._library.send(self._number, data, len(data), 0))

    def recv(self, size: int) -> bytes:
        """Receive the data available, 1 to `size` bytes.

        Waits for data, at most RCVTIMEO: then `UdtTimeout`. Raises `UdtClosed` after the last byte.
        """
        buffer = ctypes.create_string_buffer(size)
        got = self._check(self._library.receive(self._number, buffer, size, 0))
        return buffer.raw[:got]

    def perf(self, *, clear: bool = False) -> Perf:
        """The connection's statistics; `clear` starts those of the interval again.

        Never waits for a `send` or `recv`. Raises `UdtError` 2002 before the connection begins, and
        `UdtClosed` after it ended.
        """
        raw = TraceInfo()
        self._check(self._library.perf(self._number, ctypes.byref(raw), clear))
        return perf_from(raw)

    def close(self) -> None:
        """Close this end and wake all waiting threads. A second call does nothing.

        Returns at once, or after up to LINGER seconds where that was set. A listener's port is free
        again some seconds later.
        """
        with self._closing:
            if self._closed:
                return
            self._closed = True
        self._library.close(self._number)
