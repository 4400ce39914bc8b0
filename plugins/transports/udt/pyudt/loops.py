"""Sending and receiving at full speed: the repeated calls bypass `Socket`'s methods."""

import ctypes
import enum
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from .errors import UdtClosed, UdtTimeout
from .options import Option
from .sockets import Socket

# How long one library call of the two loops may wait before the loop checks for a stop again.
_WAIT_MS = 100
# A send loop in C looks at its stop after this many calls, or this many bytes: few enough for a
# 1 Mbit/s path to be counted every second, enough to make the look cost nothing on a fast one.
_BATCH_CALLS = 64
_BATCH_S = 0.004
_BATCH_BYTES = 256 * 1024
# UDT::recv returns up to this, which saves calls for small blocks. Four times as much was
# slower by a few percent: it does not fit in the caches together with the packets.
_RECEIVE_BYTES = 32 * 1024

REPEAT_SOURCE = Path(__file__).with_name("repeat.c")
"""The C source of the library that `send_blocks` takes as `repeat`. Not compiled here."""


class Counter:
    """Bytes moved so far by a loop: one thread adds, any other reads `bytes`, without a lock."""

    __slots__ = ("bytes",)

    def __init__(self) -> None:
        self.bytes = 0


class End(enum.StrEnum):
    """Why a loop ended."""

    STOPPED = "stopped"
    """Its time expired or it was stopped."""
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
    repeat: Path | None = None,
) -> End:
    """Send `block` again and again, each call of libudt being asked to take one whole block.

    It ends at `until` (a `time.monotonic()`), when `stop()` is true (`Event.is_set`), or when the
    connection ends. Both are checked after 64 blocks or 256 KiB, whichever is less, and after
    100 ms without progress; `Socket.close` from another thread is noticed at once. `counter.bytes`
    counts the bytes that libudt accepted, at the same granularity; only the receiver knows how
    many arrived.

    `repeat` is `REPEAT_SOURCE` as a shared library, which makes the calls of a batch: for blocks of
    one packet that is a tenth faster than Python, for larger ones the same. Raises OSError when it
    cannot be loaded.

    Sets SNDTIMEO. Raises `UdtError` for anything but the connection's end.
    """
    size = len(memoryview(block).cast("B"))
    if not 0 < size < 2**31:
        raise ValueError(f"a block of {size} bytes is not within 1 to 2^31 - 1")
    if not _prepared(socket, Option.SNDTIMEO):
        return End.CLOSED
    content = (ctypes.c_char * size).from_buffer_copy(block)
    batch = max(1, min(_BATCH_CALLS, _BATCH_BYTES // size))
    send_batch = (_python_batch if repeat is None else _native_batch(repeat))(
        socket, content, size, batch
    )
    clock = time.monotonic
    last = float("inf") if until is None else until
    while clock() < last and not stop():
        sent, failed = send_batch()
        counter.bytes += sent
        if failed and _ended(socket):
            return End.CLOSED
    return End.STOPPED


_Batch = Callable[[], tuple[int, bool]]
"""Sends up to N blocks; returns the bytes accepted, and whether the last call failed."""


def _python_batch(socket: Socket, content: Any, size: int, batch: int) -> _Batch:
    call = partial(socket._library.send, socket._number, ctypes.byref(content), size, 0)
    full = batch * size

    def send_batch() -> tuple[int, bool]:
        # The calls are made by iter(), islice() and sum() in C; iter() ends at an error.
        calls = iter(call, -1)
        sent = sum(islice(calls, batch))
        if sent == full:
            return sent, False
        # Short because the buffer is full or because of an error: one more call shows which.
        more = next(calls, None)
        return (sent, True) if more is None else (sent + more, False)

    return send_batch


def _native_batch(repeat: Path) -> Callable[[Socket, Any, int, int], _Batch]:
    function = ctypes.CDLL(str(repeat)).repeat_send
    function.restype = ctypes.c_longlong

    def prepare(socket: Socket, content: Any, size: int, batch: int) -> _Batch:
        failed = ctypes.c_int()
        place = (socket._library.send, socket._number, ctypes.byref(content), size, batch)
        call = partial(function, *place, ctypes.byref(failed))

        def send_batch() -> tuple[int, bool]:
            return call(), bool(failed.value)

        return send_batch

    return prepare


def receive_blocks(
    socket: Socket,
    block_bytes: int,
    counter: Counter,
    *,
    until: float | None = None,
    stop: Callable[[], bool] = _never,
) -> End:
    """Receive and discard everything until the connection ends, which is the normal end.

    `block_bytes` (1 to 2^31 - 1) is the least buffer given to each call of libudt, which returns
    the data available. `until` and `stop` are those of `send_blocks`, checked every few
    milliseconds while data arrives, else after 100 ms. `counter.bytes` counts what has arrived.

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
    calls = iter(call, -1)
    batch = 1
    while (began := clock()) < last and not stop():
        counter.bytes += sum(islice(calls, batch))
        more = next(calls, None)
        if more is not None:
            counter.bytes += more
        elif _ended(socket):
            return End.CLOSED
        else:
            calls = iter(call, -1)
        # As many calls as fit in a few milliseconds: all in C on a fast path, each counted at
        # once on a slow one.
        fast = clock() - began < _BATCH_S
        batch = min(_BATCH_CALLS, batch * 2) if fast else max(1, batch // 2)
    return End.STOPPED


def _prepared(socket: Socket, timeout: Option) -> bool:
    # A peer that has already closed may have left data to receive, so only sending stops here.
    try:
        socket.set(timeout, _WAIT_MS)
    except UdtClosed:
        return timeout is Option.RCVTIMEO and not socket.closed
    return True


def _ended(socket: Socket) -> bool:
    """Whether the last error of this thread is the connection's end; raises any other."""
    error = socket._failure()
    if isinstance(error, UdtTimeout):
        return False
    if isinstance(error, UdtClosed):
        return True
    raise error
