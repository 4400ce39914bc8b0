"""`advisor agent`: on standard input and output, or on a port of its own over TLS."""

import asyncio
import signal
import socket
import ssl
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from advisor.agent.files import ANYWHERE, FileRights
from advisor.agent.secret import tls_context
from advisor.agent.service import AgentService
from advisor.hosts.processes import LINE_LIMIT_BYTES


def _stop_on_signals() -> asyncio.Event:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    return stop


async def _standard_streams() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT_BYTES)
    protocol = asyncio.StreamReaderProtocol(reader)
    await loop.connect_read_pipe(lambda: protocol, sys.stdin.buffer)
    transport, writing = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout.buffer
    )
    return reader, asyncio.StreamWriter(transport, writing, reader, loop)


async def serve_stdio(ports: tuple[int, int]) -> None:
    """Serve the one advisor at the other end of standard input and output, until it leaves.

    Anyone with access to this account may use its files freely, and therefore so may the agent.
    """
    stop = _stop_on_signals()
    service = AgentService(ports, ANYWHERE)
    reader, writer = await _standard_streams()
    serving = asyncio.create_task(service.serve(reader, writer))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    for task in (serving, stopping):
        task.cancel()
    await asyncio.wait((serving, stopping))
    await service.close()


def _quiet(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Do not print tracebacks for strangers that fail the handshake; print all others."""
    if not isinstance(context.get("exception"), ssl.SSLError | ConnectionError | TimeoutError):
        loop.default_exception_handler(context)


def _keep_alive(connection: socket.socket) -> None:
    """Detect an advisor whose host vanished within two minutes."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 15)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 4)


async def serve_tls(
    address: str,
    port: int,
    secret: str,
    ports: tuple[int, int],
    folders: Sequence[Path],
    listening: Callable[[int], None],
) -> None:
    """Serve every advisor that has the secret, until a signal. Raises OSError if it cannot listen.

    `folders`: advisors may inspect and change files below these. `listening` is called with the
    port once connections are accepted (`port` 0 means any).
    """
    asyncio.get_running_loop().set_exception_handler(_quiet)
    stop = _stop_on_signals()
    service = AgentService(ports, FileRights(folders))
    conversations: set[asyncio.Task[Any]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            conversations.add(task)
            task.add_done_callback(conversations.discard)
        _keep_alive(writer.get_extra_info("socket"))
        await service.serve(reader, writer, writer.get_extra_info("peername")[0])

    server = await asyncio.start_server(
        serve,
        address,
        port,
        ssl=tls_context(secret, "agent"),
        ssl_handshake_timeout=5,
        limit=LINE_LIMIT_BYTES,
    )
    async with server:
        listening(server.sockets[0].getsockname()[1])
        await stop.wait()
        server.close()
        for task in list(conversations):
            task.cancel()
        if conversations:
            await asyncio.wait(conversations)
    await service.close()
