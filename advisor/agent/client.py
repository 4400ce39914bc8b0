"""The advisor's end of a conversation with an agent."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial
from typing import Final, TypeVar

import msgspec

import advisor
from advisor.agent import messages as m
from advisor.agent import target_messages as t
from advisor.agent.batches import in_messages, weight
from advisor.agent.keepalive import SILENCE_S, Pulse
from advisor.agent.peer_errors import PeerError, PeerGone, Refusal
from advisor.agent.replies import Inboxes, RemoteStep, Replies, as_many, of_kind
from advisor.api.tool import TransferOrder
from advisor.domain.file_io import FileIoJob, FileIoResult, Filesystem
from advisor.hosts.checksums import Checksum

_ANSWER_S: Final = 15.0
_CLOSE_S: Final = 5.0
# Lines that a login's start-up files may print before the agent's greeting.
_NOISE_LINES: Final = 200

# More than any request has in flight; an agent that sends more waits until they are read.
_UNREAD_REPLIES: Final = 64

_R = TypeVar("_R", bound=m.Reply | t.ClaimReply)


class AgentLink:
    """A conversation after the greeting. `close` ends it and its transport.

    `explain` returns the problem that ended the connection (for example, why ssh failed).
    `silence_s`: after that many seconds without a message the agent is lost.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        close: Callable[[], Awaitable[None]],
        explain: Callable[[], Awaitable[PeerGone]],
        silence_s: float = SILENCE_S,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._close = close
        self._explain = explain
        self._silence_s = silence_s
        self._pulse = Pulse(self._beat, silence_s)
        self._replies: asyncio.Queue[m.Reply | PeerError] = asyncio.Queue(_UNREAD_REPLIES)
        self._hearing: asyncio.Task[None] | None = None
        self.version = ""
        self.knows_several_probes = False
        """Whether the agent can run several probes at once, as far as its facts say."""

    async def _gone(self) -> PeerGone:
        return await self._explain()

    async def _line(self) -> bytes:
        try:
            line = await self._reader.readline()
        except (ConnectionError, ValueError, OSError):
            line = b""
        if not line:
            raise await self._gone()
        return line

    async def _read(self) -> m.Reply:
        reply = await self._replies.get()
        if isinstance(reply, PeerError):
            self._replies.put_nowait(reply)  # The last one: whoever reads next meets it as well.
            raise reply
        return reply

    async def _hear(self) -> None:
        """Read what the agent sends, until it is lost: that is then the last reply."""
        listening = asyncio.create_task(self._listen())
        silent = asyncio.create_task(self._pulse.until_silent())
        try:
            await asyncio.wait((listening, silent), return_when=asyncio.FIRST_COMPLETED)
            end = listening.result() if listening.done() else self._silent()
        finally:
            for task in (listening, silent):
                task.cancel()
            await asyncio.wait((listening, silent))
        if self._replies.full():
            self._replies.get_nowait()
        self._replies.put_nowait(end)

    async def _listen(self) -> PeerError:
        while True:
            try:
                reply = m.read_reply(await self._line())
            except (ValueError, msgspec.MsgspecError):
                return PeerError("the agent sent something that is not in its protocol")
            except PeerError as gone:
                return gone
            self._pulse.heard()
            if not isinstance(reply, m.Alive):
                await self._replies.put(reply)

    def _silent(self) -> PeerGone:
        self._writer.close()
        return PeerGone(
            f"the agent was silent for {self._silence_s:g} s",
            remedy="check its host and the network between",
        )

    def _beat(self) -> None:
        # What was sent before has not left yet: a keepalive behind it would add nothing.
        if not self._writer.is_closing() and not self._writer.transport.get_write_buffer_size():
            self._writer.write(m.as_line(m.KeepAlive()))

    async def _send(self, request: m.Request) -> None:
        try:
            self._writer.write(m.as_line(request))
            async with asyncio.timeout(self._silence_s):
                await self._writer.drain()
        except TimeoutError:
            raise PeerGone("the agent no longer reads what it is sent") from None
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
        self._hearing = asyncio.create_task(self._hear())

    async def _welcome(self) -> m.Welcome:
        for _ in range(_NOISE_LINES):
            line = await self._line()
            with contextlib.suppress(ValueError, msgspec.MsgspecError):
                reply = m.read_reply(line)
                if isinstance(reply, m.Welcome):
                    return reply
        raise PeerError("what answered is not an agent: the remote command printed other text")

    async def _ask(self, request: m.Request, kind: type[_R]) -> _R:
        await self._send(request)
        return of_kind(await self._answer(), kind)

    async def _answer(self) -> m.Reply:
        try:
            async with asyncio.timeout(_ANSWER_S):
                return await self._read()
        except TimeoutError:
            raise PeerGone("the agent stopped answering") from None

    async def facts(self, facing: str, bound: str = "") -> m.Facts:
        """The destination's facts. `bound`: the source address, if the user chose it."""
        request = m.GetFacts(facing=facing, chose_source=bool(bound) or msgspec.UNSET)
        facts = await self._ask(request, m.Facts)
        self.knows_several_probes = facts.interfaces is not None
        return facts

    async def open_echo(self, source_address: str, token: str, bound: str = "") -> int:
        """The UDP port of an echo for the path MTU."""
        request = m.OpenEcho(
            source_address=source_address, token=token, chose_source=bool(bound) or msgspec.UNSET
        )
        return (await self._ask(request, m.EchoReady)).port

    async def close_echo(self) -> None:
        """Close the echo."""
        await self._ask(m.CloseEcho(), m.EchoClosed)

    async def round_trip(self) -> float:
        """The time in seconds of a request that costs the agent nothing; closes the echo.

        Every version of the agent supports it. Raises PeerError.
        """
        began_s = time.monotonic()
        await self.close_echo()
        return time.monotonic() - began_s

    @property
    def connection_fd(self) -> int | None:
        """The descriptor of the socket that carries the conversation; None over pipes."""
        found = self._writer.get_extra_info("socket")
        return None if found is None else int(found.fileno())

    @contextlib.asynccontextmanager
    async def probe(self, request: m.OpenProbe) -> AsyncIterator[Replies]:
        """Run the receiving end of one probe; yields the agent's replies up to `ProbeEnded`.

        Leaving the block early also ends the probe on the other side. Raises PeerGone.
        """
        replies = Replies(self._read)
        await self._send(request)
        try:
            yield replies
        finally:
            if not replies.ended:
                await self._end_probe(replies)

    @contextlib.asynccontextmanager
    async def probes(self, requests: Sequence[m.OpenProbe]) -> AsyncIterator[list[Replies]]:
        """Run the receiving ends of several probes at once; yields the replies about each.

        As `probe`. Only for agents that report their interfaces.
        """
        inboxes = Inboxes(self._read, len(requests))
        several = [Replies(partial(inboxes.next, number)) for number in range(len(requests))]
        await self._send(m.OpenProbes(probes=list(requests)))
        sorting = asyncio.create_task(inboxes.sort())
        try:
            yield several
        finally:
            if not all(replies.ended for replies in several):
                await self._end_probe(*several)
            sorting.cancel()
            await asyncio.wait([sorting])

    async def _end_probe(self, *several: Replies) -> None:
        with contextlib.suppress(PeerError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._send(m.CloseProbe())
                for replies in several:
                    async for _ in replies:
                        pass
            return
        # Out of step with the agent: its later replies could not be attributed.
        self._writer.close()

    async def folder(self, path: str) -> Filesystem:
        """The file system of a folder there. Raises PeerError."""
        weight(path)
        return (await self.work(m.GetFolder(path=path), m.FolderFound)).filesystem

    async def file_io(self, folder: str, job: FileIoJob) -> FileIoResult:
        """Measure reading or writing in a folder there; cancelling also ends it there.

        Raises PeerError.
        """
        weight(folder)
        return (await self.work(m.RunFileIo(folder=folder, job=job), m.FileIoMeasured)).result

    async def sizes(self, paths: Sequence[str]) -> list[int | None]:
        """The sizes of files there in bytes, None where there is no file. Raises PeerError."""
        sizes: list[int | None] = []
        for some in in_messages(paths, weight):
            found = await self.work(m.GetSizes(paths=some), m.SizesFound)
            sizes += as_many(found.sizes, some)
        return sizes

    async def sync(self, paths: Sequence[str]) -> float:
        """Write files there back to the disk; the seconds that took. Raises PeerError."""
        elapsed_s = 0.0
        for some in in_messages(paths, weight):
            elapsed_s += (await self.work(m.SyncFiles(paths=some), m.FilesSynced)).elapsed_s
        return elapsed_s

    async def checksum(self, path: str, seen: Callable[[int], None] | None = None) -> str:
        """The SHA-256 of a file there, in hexadecimal; calls `seen` with the bytes read so far.

        Raises PeerError.
        """
        (found,) = await self.checksums([path], seen)
        if found.reason:
            raise Refusal(f"{path} cannot be read on the agent's side: {found.reason}")
        return found.sha256

    async def checksums(
        self, paths: Sequence[str], seen: Callable[[int], None] | None = None
    ) -> list[Checksum]:
        """The checksums of files there; calls `seen` with the total bytes read so far.

        Cancelling also ends the reading there. Raises PeerError.
        """
        checksums: list[Checksum] = []
        seen_bytes = 0

        def report(count: int) -> None:
            if seen:
                seen(seen_bytes + count)

        for some in in_messages(paths, weight):
            found = await self.work(m.GetChecksums(paths=some), m.ChecksumsFound, report)
            report(found.seen_bytes)
            seen_bytes += found.seen_bytes
            checksums += as_many(found.checksums, some)
        return checksums

    async def make_scratch(self, folder: str, server_port: int = 0, stripes: int = 0) -> str:
        """Create a folder in this one, or in the nearest existing one above; return its path.

        `server_port`: where the server listens that will write in it, -1 if not known. If it is
        another account's, every account there may write in it. 0: only the agent's account will.
        `stripes`: of its new files, on Lustre; 0 leaves them to the folder above. Raises PeerError.
        """
        weight(folder)
        request = m.MakeScratch(folder=folder, server_port=server_port, stripes=stripes)
        return (await self.work(request, m.ScratchMade)).folder

    async def move(self, pairs: Sequence[tuple[str, str]]) -> list[str]:
        """Move files of a scratch folder to their places, creating folders as needed.

        Nothing is overwritten. "" for each that was moved, else the reason. Raises PeerError; the
        files before that point have then been moved.
        """
        reasons: list[str] = []
        for some in in_messages(pairs, lambda pair: weight(*pair)):
            moved = await self.work(m.MoveFiles(pairs=some), m.FilesMoved)
            reasons += as_many(moved.reasons, some)
        return reasons

    async def remove(self, folder: str) -> None:
        """Remove a scratch folder and its content, or what is left of it.

        Raises PeerError if something remains.
        """
        weight(folder)
        await self.work(m.RemoveScratch(folder=folder), m.ScratchRemoved)

    @contextlib.asynccontextmanager
    async def step(self, tool: str, order: TransferOrder) -> AsyncIterator[RemoteStep]:
        """Run the destination's step of a transfer there: yields when it is ready or has ended.

        Leaving the block early ends it. The list file and the base port of the order are ignored:
        the agent chooses its own. Raises PeerError.
        """
        step = RemoteStep(self._answer)
        request = _step_request(tool, order)
        try:
            await self._send(request)
            await step.begin()
            yield step
        finally:
            if not step.is_over:
                await self._end_work()

    async def work(
        self, request: m.Work, kind: type[_R], at: Callable[[int], None] | None = None
    ) -> _R:
        """The reply that ends the work; if this is left early, the work is ended there too.

        `at` is called with the bytes read so far. Raises PeerError.
        """
        try:
            await self._send(request)
            while isinstance(reply := await self._answer(), m.AtWork):
                if at:
                    at(reply.seen_bytes)
        except asyncio.CancelledError:
            await self._end_work()
            raise
        return of_kind(reply, kind)

    async def _end_work(self) -> None:
        with contextlib.suppress(PeerError, TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                await self._send(m.StopWork())
                while isinstance(await self._read(), m.AtWork | m.StepReady):
                    pass
            return
        # Out of step, as after a probe that would not end.
        self._writer.close()

    async def close(self) -> None:
        """End the conversation; the agent ends everything it opened for it."""
        if self._hearing:
            self._hearing.cancel()
            await asyncio.wait([self._hearing])
        self._writer.close()
        await self._close()


def _step_request(tool: str, order: TransferOrder) -> m.RunStep:
    """The order as a message. Raises Refusal if it exceeds the limits of messages."""
    # An older agent refuses what it does not know, and links concern the source alone.
    order = msgspec.structs.replace(order, list_file="", base_port=0, follows_links=msgspec.UNSET)
    try:
        bounded = msgspec.convert(msgspec.to_builtins(order), m.StepOrder)
        request = m.RunStep(tool=tool, order=bounded)
        if len(m.as_line(request)) < m.MESSAGE_LIMIT_BYTES:
            return request
        reason = "its paths are too long"
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        reason = str(error)
    raise Refusal(
        f"the destination cannot run this transfer ({reason}): it accepts at most "
        f"{m.PIECES_LIMIT} files with absolute paths in UTF-8"
    )
