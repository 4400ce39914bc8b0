"""The advisor's end of a conversation with an agent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, TypeVar

import msgspec

import advisor
from advisor.agent import messages as m

_ANSWER_S: Final = 15.0
_CLOSE_S: Final = 5.0
# What a login's start-up files may print before the agent speaks.
_NOISE_LINES: Final = 200

_R = TypeVar("_R", bound=m.Reply)


class PeerError(Exception):
    """The other side cannot be worked with; the message is one sentence with its remedy."""


class PeerGone(PeerError):
    """The connection to the agent ended or fell silent."""


class AgentLink:
    """A conversation that has been greeted. `close` ends it and what carries it.

    `explain` turns the end of the connection into a sentence (why ssh failed, say).
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        close: Callable[[], Awaitable[None]],
        explain: Callable[[], Awaitable[str]],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._close = close
        self._explain = explain
        self.version = ""

    async def _gone(self) -> PeerGone:
        return PeerGone(await self._explain())

    async def _line(self) -> bytes:
        try:
            line = await self._reader.readline()
        except (ConnectionError, ValueError, OSError):
            line = b""
        if not line:
            raise await self._gone()
        return line

    async def _read(self) -> m.Reply:
        try:
            return m.read_reply(await self._line())
        except (ValueError, msgspec.MsgspecError):
            raise PeerError("the agent said something that is no message of its protocol") from None

    async def _send(self, request: m.Request) -> None:
        try:
            self._writer.write(m.as_line(request))
            await self._writer.drain()
        except (ConnectionError, OSError):
            raise await self._gone() from None

    async def greet(self, timeout_s: float) -> None:
        """Wait for the agent's greeting and answer it. Raises PeerError."""
        try:
            async with asyncio.timeout(timeout_s):
                welcome = await self._welcome()
        except TimeoutError:
            raise PeerGone(f"the agent did not answer within {timeout_s:g} s") from None
        if welcome.protocol != m.PROTOCOL:
            raise PeerError(m.mismatch(welcome.protocol, welcome.version))
        self.version = welcome.version
        await self._send(m.Hello(protocol=m.PROTOCOL, version=advisor.__version__))

    async def _welcome(self) -> m.Welcome:
        for _ in range(_NOISE_LINES):
            line = await self._line()
            with contextlib.suppress(ValueError, msgspec.MsgspecError):
                reply = m.read_reply(line)
                if isinstance(reply, m.Welcome):
                    return reply
        raise PeerError("what answered is no agent: the remote command printed other things")

    async def _ask(self, request: m.Request, kind: type[_R]) -> _R:
        await self._send(request)
        try:
            async with asyncio.timeout(_ANSWER_S):
                reply = await self._read()
        except TimeoutError:
            raise PeerGone("the agent stopped answering") from None
        if isinstance(reply, m.Refused):
            raise PeerError(reply.message)
        if not isinstance(reply, kind):
            raise PeerError("the agent answered something else than it was asked")
        return reply

    async def facts(self, facing: str) -> m.Facts:
        """The destination's facts."""
        return await self._ask(m.GetFacts(facing=facing), m.Facts)

    async def open_echo(self, source_address: str, token: str) -> int:
        """The UDP port of an echo for the path MTU."""
        request = m.OpenEcho(source_address=source_address, token=token)
        return (await self._ask(request, m.EchoReady)).port

    async def close_echo(self) -> None:
        """Close the echo."""
        await self._ask(m.CloseEcho(), m.EchoClosed)

    @contextlib.asynccontextmanager
    async def probe(self, request: m.OpenProbe) -> AsyncIterator["Replies"]:
        """The receiving end of one probe; gives what the agent says of it, to `ProbeEnded`.

        Leaving the block early ends the probe on the other side too. Raises PeerGone.
        """
        replies = Replies(self._read)
        await self._send(request)
        try:
            yield replies
        finally:
            if not replies.ended:
                await self._end_probe(replies)

    async def _end_probe(self, replies: "Replies") -> None:
        with contextlib.suppress(PeerError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._send(m.CloseProbe())
                async for _ in replies:
                    pass
            return
        # Out of step with the agent: nothing it says later could be told apart.
        self._writer.close()

    async def close(self) -> None:
        """End the conversation; the agent ends what it opened."""
        self._writer.close()
        await self._close()


class Replies:
    """What an agent says of one probe, ending with its ProbeEnded."""

    def __init__(self, read: Callable[[], Awaitable[m.Reply]]) -> None:
        self._read = read
        self.ended = False
        self.last = m.ProbeEnded()

    def __aiter__(self) -> "Replies":
        return self

    async def __anext__(self) -> m.Reply:
        if self.ended:
            raise StopAsyncIteration
        reply = await self._read()
        if isinstance(reply, m.ProbeEnded):
            self.last = reply
        self.ended = isinstance(reply, m.ProbeEnded | m.Refused)
        return reply
