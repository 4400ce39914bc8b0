"""Sending and receiving at full speed: the repeated calls are made past `Socket`'s methods."""

import ctypes
import enum
import time
from collections.abc import Callable
from functools import partial
from itertools import islice

from .errors import UdtClosed, UdtTimeout
from .options import Option
from .sockets import Socket

# How long one library call of the two loops may wait before the loop looks at its stop again.
_WAIT_MS = 100
# A send loop in C looks at its stop after this many calls, or this many bytes: few enough for a
# 1 Mbit/s path to be counted every second, enough to make the look cost nothing on a fast one.
_BATCH_CALLS = 64
_BATCH_BYTES = 256 * 1024
# UDT::recv gives what is there, up to this, which saves calls where blocks are small. Four times as
# much takes more processor time: it no longer fits the caches beside the packets.
_RECEIVE_BYTES = 128 * 1024


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
