"""`advisor agent`: on standard input and output, or on a port of its own over TLS."""

import asyncio
import functools
import select
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from advisor.agent.door import Door
from advisor.agent.event_log import EventLog
from advisor.agent.files import ANYWHERE, FileRights
from advisor.agent.secret import tls_context
from advisor.agent.service import AgentService
from advisor.domain.problem import ProblemError, ProblemKind
from advisor.hosts.processes import LINE_LIMIT_BYTES


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
    transport, writing = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout.buffer
    )
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


async def serve_stdio(ports: tuple[int, int]) -> None:
    """Serve the one advisor at the other end of standard input and output, until it leaves.

    Anyone with access to this account may use its files freely, and therefore so may the agent.
    """
    stop = stop_on_signals()
    service = AgentService(ports, ANYWHERE)
    reader, writer = await standard_streams()
    serving = asyncio.create_task(service.serve(reader, writer))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (serving, stopping):
        task.cancel()
    await asyncio.wait((serving, stopping))
    await service.close()


async def serve_tls(
    address: str,
    port: int,
    secret: str,
    ports: tuple[int, int],
    folders: Sequence[Path],
    listening: Callable[[int], None],
    report: Callable[[str], None],
) -> None:
    """Serve every advisor that has the secret, until a signal. Raises OSError if it cannot listen.

    `folders`: advisors may inspect and change files below these. `listening` is called with the
    port once connections are accepted (`port` 0 means any), `report` with a line for the log.
    """
    log = EventLog(report)
    asyncio.get_running_loop().set_exception_handler(functools.partial(_note, log))
    stop = stop_on_signals()
    service = AgentService(ports, FileRights(folders))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await service.serve(reader, writer, writer.get_extra_info("peername")[0])

    door = Door(tls_context(secret, "agent"), serve, log)
    listening(await door.open(address, port))
    await stop.wait()
    await door.close()
    await service.close()


def _note(log: EventLog, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """A failed connection is a peer's doing and said elsewhere; anything else is a defect of ours.

    Its traceback is written, but not as often as a peer may wish.
    """
    if not isinstance(context.get("exception"), OSError) and log.allows("a defect"):
        loop.default_exception_handler(context)
