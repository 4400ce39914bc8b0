"""What signals and orders on standard input do to a session that a command runs."""

import asyncio
import os
import signal
import stat
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import msgspec

from advisor.cli.errors import UsageError
from advisor.domain import events as ev
from advisor.domain.orders import AnyOrder, Stop
from advisor.hosts.decoding import LINE_LIMIT_BYTES, decoded
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.exit_codes import EXIT_INTERRUPTED


async def with_signals(
    session: Callable[[], Coroutine[Any, Any, int]],
    control: Control,
    publish: Publish,
    *,
    orders: bool = False,
    stopping: str = "stopping with the best so far",
) -> int:
    """The first signal stops the session, with a notice; the second leaves at once.

    Leaving cancels the session, which ends its child processes on the way out. `orders`: whether to
    read orders from standard input. Raises UsageError if none can come from there.
    """
    can_order = orders and _can_order()
    running = asyncio.create_task(session())

    def heard() -> None:
        if control.stop.is_set():
            running.cancel()
            return
        publish(ev.Notice(at_s=0, message=f"{stopping}; a second Ctrl-C leaves at once"))
        control.stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, heard)
    reading = asyncio.create_task(_read_orders(control, publish)) if can_order else None
    if orders and not can_order:
        publish(ev.Notice(at_s=0, message="standard input is closed: the session stops"))
        control.obey(Stop())
    try:
        return await running
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    finally:
        if reading:
            reading.cancel()


def _can_order() -> bool:
    """Whether an order can come from standard input; not from /dev/null, which counts as closed.

    Raises UsageError for a file: its end would be the order to stop, at once.
    """
    given = os.fstat(sys.stdin.fileno())
    if sys.stdin.isatty() or stat.S_ISFIFO(given.st_mode) or stat.S_ISSOCK(given.st_mode):
        return True
    if os.path.samestat(given, Path(os.devnull).stat()):
        return False
    raise UsageError(
        "--orders: standard input is a file, and not somebody who gives orders",
        remedy="give a pipe or a terminal",
    )


async def _read_orders(control: Control, publish: Publish) -> None:
    """Execute orders from standard input; its end is the order to stop."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    try:
        await _obey(reader, control, publish)
    finally:
        transport.close()
    control.obey(Stop())


async def _obey(reader: asyncio.StreamReader, control: Control, publish: Publish) -> None:
    decoder: msgspec.json.Decoder[AnyOrder] = msgspec.json.Decoder(AnyOrder)
    while True:
        try:
            line = await reader.readline()
            if not line:
                return
            control.obey(decoded(decoder, line, LINE_LIMIT_BYTES))
        except ValueError as error:  # Also of a line that is longer than the reader takes.
            publish(ev.Notice(at_s=0, message=f"not an order: {error}"))
