"""What signals and orders on standard input do to a session that a command runs."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

from advisor.domain import events as ev
from advisor.domain.orders import AnyOrder, Stop
from advisor.hosts.decoding import LINE_LIMIT_BYTES, BadData, decoded
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

    Leaving cancels the session, which ends its child processes on the way out.
    """
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
    reading = asyncio.create_task(_read_orders(control, publish)) if orders else None
    try:
        return await running
    except asyncio.CancelledError:
        return EXIT_INTERRUPTED
    finally:
        if reading:
            reading.cancel()


async def _read_orders(control: Control, publish: Publish) -> None:
    """Execute orders from standard input; its end is the order to stop."""
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    decoder: msgspec.json.Decoder[AnyOrder] = msgspec.json.Decoder(AnyOrder)
    while line := await reader.readline():
        try:
            control.obey(decoded(decoder, line, LINE_LIMIT_BYTES))
        except BadData as error:
            publish(ev.Notice(at_s=0, message=f"not an order: {error}"))
    control.obey(Stop())
