"""An agent's replies, sorted by what they are about."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from advisor.agent import messages as m
from advisor.agent import target_messages as t
from advisor.agent.peer_errors import PeerError, Refusal

_R = TypeVar("_R", bound=m.Reply | t.ClaimReply)
_T = TypeVar("_T")


def of_kind(reply: m.Reply, kind: type[_R]) -> _R:
    """The reply, if it is of the expected kind. Raises PeerError."""
    if isinstance(reply, m.Refused):
        raise Refusal(reply.message)
    if not isinstance(reply, kind):
        raise PeerError("the agent sent an unexpected answer")
    return reply


def as_many(answers: Sequence[_T], questions: Sequence[object]) -> Sequence[_T]:
    """The answers, if there is one for each question. Raises PeerError."""
    if len(answers) != len(questions):
        raise PeerError("the agent sent an unexpected answer")
    return answers


class Replies:
    """An agent's replies about one probe, ending with its ProbeEnded."""

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


class Inboxes:
    """Sorts the replies about several probes that run at once, by the probe."""

    def __init__(self, read: Callable[[], Awaitable[m.Reply]], count: int) -> None:
        self._read = read
        self._boxes: list[asyncio.Queue[m.Reply | PeerError]] = [
            asyncio.Queue() for _ in range(count)
        ]

    async def sort(self) -> None:
        """Until all have ended, or the agent is lost."""
        running = set(range(len(self._boxes)))
        while running:
            try:
                reply = await self._read()
            except PeerError as error:
                self._put_in_all(error)
                return
            if not isinstance(reply, m.OfProbe):
                self._put_in_all(reply)
                if isinstance(reply, m.Refused):
                    return
            elif reply.number in running:
                self._boxes[reply.number].put_nowait(reply.reply)
                if isinstance(reply.reply, m.ProbeEnded):
                    running.discard(reply.number)

    def _put_in_all(self, reply: m.Reply | PeerError) -> None:
        for box in self._boxes:
            box.put_nowait(reply)

    async def next(self, number: int) -> m.Reply:
        """The next reply about that probe. Raises PeerError."""
        reply = await self._boxes[number].get()
        if isinstance(reply, PeerError):
            self._boxes[number].put_nowait(reply)  # Whoever reads next meets it as well.
            raise reply
        return reply


class RemoteStep:
    """A tool's step that runs on the agent's side.

    `base_port`: the first port it listens on; None if it ended before it was ready. `is_over`:
    whether no further replies about it follow.
    """

    def __init__(self, read: Callable[[], Awaitable[m.Reply]]) -> None:
        self._read = read
        self._end: m.StepEnded | None = None
        self.base_port: int | None = None
        self.is_over = False

    async def begin(self) -> None:
        """Wait until it is ready, or has ended. Raises PeerError."""
        reply = await self._next()
        if isinstance(reply, m.StepReady):
            self.base_port = reply.base_port
        else:
            self._end = of_kind(reply, m.StepEnded)

    async def ended(self) -> tuple[int, str, str]:
        """Exit status, and the ends of standard output and error, once it has ended.

        May be cancelled and called again. Raises PeerError.
        """
        if self._end is None:
            self._end = of_kind(await self._next(), m.StepEnded)
        return self._end.status, self._end.output, self._end.errors

    async def _next(self) -> m.Reply:
        while isinstance(reply := await self._read(), m.AtWork):
            pass
        self.is_over = not isinstance(reply, m.StepReady)
        return reply
