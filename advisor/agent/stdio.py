"""`advisor agent --stdio`: serves on standard input and output; ssh starts it so.

It loads no more than this needs: neither TLS nor the command line.
"""

import asyncio
import os
import select
import signal
import sys

from advisor.agent.files import ANYWHERE
from advisor.agent.service import AgentService
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.processes import LINE_LIMIT_BYTES


class _Writing(asyncio.streams.FlowControlMixin):
    """Writing to a pipe, which can be waited for: of asyncio's own class its end cannot."""

    def __init__(self) -> None:
        super().__init__()
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._closed.done():  # It is cancelled with who waits for it.
            self._closed.set_result(None)

    def _get_close_waiter(self, _: asyncio.StreamWriter) -> asyncio.Future[None]:
        return self._closed


def stop_on_signals() -> asyncio.Event:
    """Set by the first signal that asks this process to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop


async def standard_streams(
    limit_bytes: int = LINE_LIMIT_BYTES,
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Standard input, with lines up to this length, and standard output.

    Raises NoChannel where they are files: whoever started this is no advisor at the other end.
    """
    _require_channel()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=limit_bytes)
    protocol = asyncio.StreamReaderProtocol(reader)
    await loop.connect_read_pipe(lambda: protocol, sys.stdin.buffer)
    # One of its own, for asyncio closes it: the program flushes standard output when it ends.
    output = os.fdopen(sys.stdout.fileno(), "wb", buffering=0, closefd=False)
    transport, writing = await loop.connect_write_pipe(_Writing, output)
    return reader, asyncio.StreamWriter(transport, writing, reader, loop)


class NoChannel(ProblemError):
    """Standard input or output is no channel to another program."""

    kind = ProblemKind.INVALID


def _require_channel() -> None:
    try:
        with select.epoll() as events:
            for stream in (sys.stdin, sys.stdout):
                events.register(stream.fileno(), 0)
    except OSError:
        raise NoChannel(
            "standard input or output is a file, not a channel to another advisor",
            remedy="this command is started by advisor on the other host",
        ) from None


async def serve_stdio(ports: tuple[int, int], *, leaves_nothing: bool = False) -> None:
    """Serve the one advisor at the other end of standard input and output, until it leaves.

    Anyone with access to this account may use its files freely, and therefore so may the agent.
    """
    stop = stop_on_signals()
    service = AgentService(ports, ANYWHERE, leaves_nothing=leaves_nothing)
    reader, writer = await standard_streams()
    serving = asyncio.create_task(service.serve(reader, writer))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (serving, stopping):
        task.cancel()
    await asyncio.wait((serving, stopping))
    await service.close()
