"""What attacks: agents and advisors that keep to the protocol only as far as it serves them."""

import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.peer_errors import PeerGone
from advisor.agent.secret import new_secret, tls_context, write_secret
from advisor.agent.service import AgentService
from advisor.testing.samples import a_path

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def _streams() -> tuple[Streams, Streams]:
    """Both ends of a connection."""
    ours, theirs = socket.socketpair()
    limit = m.MESSAGE_LIMIT_BYTES
    return (
        await asyncio.open_connection(sock=ours, limit=limit),
        await asyncio.open_connection(sock=theirs, limit=limit),
    )


@contextlib.asynccontextmanager
async def linked(serve: Serve, silence_s: float) -> AsyncIterator[AgentLink]:
    """Our advisor's end of a conversation with the agent that `serve` plays."""
    ours, theirs = await _streams()
    serving = asyncio.ensure_future(serve(*theirs))

    async def close() -> None:
        serving.cancel()
        await asyncio.wait([serving])
        theirs[1].close()

    async def explain() -> PeerGone:
        return PeerGone("the connection ended")

    link = AgentLink(*ours, close, explain, silence_s=silence_s)
    try:
        await link.greet(10)
        yield link
    finally:
        await link.close()


@contextlib.asynccontextmanager
async def served(service: AgentService) -> AsyncIterator[tuple[Streams, asyncio.Future[None]]]:
    """The far end of a conversation with our agent, after the greeting; and the conversation."""
    ours, theirs = await _streams()
    serving = asyncio.ensure_future(service.serve(*theirs))
    try:
        await ours[0].readline()
        ours[1].write(m.as_line(m.Hello(protocol=m.PROTOCOL, version="1")))
        yield ours, serving
    finally:
        ours[1].close()
        await serving


async def greeted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """What an agent says first, and what it is answered."""
    writer.write(m.as_line(m.Welcome(protocol=m.PROTOCOL, version="1")))
    await reader.readline()


async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ahead: int) -> None:
    """An agent that answers what advisors ask, but to every probe: others come first.

    It still says that it is there.
    """
    await greeted(reader, writer)
    facts = m.Facts(facts=a_path().destination, transports=["tcp", "udt"])
    while line := await reader.readline():
        match m.read_request(line):
            case m.GetFacts():
                writer.write(m.as_line(facts))
            case m.OpenEcho():
                writer.write(m.as_line(m.Refused(message="no")))
            case m.CloseEcho():
                writer.write(m.as_line(m.EchoClosed()))
            case m.OpenProbe():
                writer.write(m.as_line(m.TurnAwaited(ahead=ahead)))
            case m.KeepAlive():
                writer.write(m.as_line(m.Alive()))


@contextlib.contextmanager
def listening(serve: Serve, folder: Path) -> Iterator[list[str]]:
    """An agent that `serve` plays, over TLS; what to tell `advisor` to reach it."""
    secret = new_secret()
    write_secret(folder / "secret", secret)
    loop = asyncio.new_event_loop()
    loop.set_exception_handler(lambda *_: None)
    writers: list[asyncio.StreamWriter] = []

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        await serve(reader, writer)

    async def begin() -> asyncio.Server:
        context = tls_context(secret, "agent")
        return await asyncio.start_server(served, "127.0.0.1", 0, ssl=context)

    server = loop.run_until_complete(begin())
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        port = server.sockets[0].getsockname()[1]
        yield ["--agent", f"127.0.0.1:{port}", "--secret-file", str(folder / "secret")]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        for writer in writers:
            # Else it would wait for the other side to close, which may be gone.
            writer.transport.abort()
        loop.run_until_complete(asyncio.sleep(0.1))
        loop.close()
