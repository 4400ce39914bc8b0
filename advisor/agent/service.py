"""The agent's work for the advisors connected to it.

It parses nothing that is too long, answers nothing that is not a valid request, and closes all
ports and ends all child processes of a conversation when the conversation ends.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, Final, Protocol, TypeAlias

import msgspec

import advisor
from advisor import registry
from advisor.agent import message_base as b
from advisor.agent import messages as m
from advisor.agent.delivery import Delivery
from advisor.agent.files import NOWHERE, FileRights, FileWork, TransferWork, remove_scratch
from advisor.agent.keepalive import SILENCE_S, Pulse
from advisor.agent.left_scratch import ScratchFolders
from advisor.agent.steps import run_step
from advisor.agent.turn import GivenUp, Turn
from advisor.api.transport import Ready, ReceiveOrder, Sample, Trouble, Versions
from advisor.domain.measurement import FailureKind
from advisor.hosts.checksums import reason_of
from advisor.hosts.facts import host_facts
from advisor.hosts.interfaces import data_interfaces
from advisor.hosts.path_mtu import UdpEcho
from advisor.probing.end import ProbeEnd, Spares

_GREETING_S: Final = 10.0
# Beyond the probe's own time limit: to connect, and for the request to close.
_MARGIN_S: Final = 15.0
_AT_WORK_EVERY_S: Final = 1.0
_ABOUT_DATA: Final = (m.OpenEcho, m.OpenProbe, m.OpenProbes, m.RunStep)

_ProbeReply: TypeAlias = m.ProbeReady | m.ProbeSample | m.ProbeEnded


class Work(Protocol):
    """One request on files in progress. `seen_bytes`: bytes read for it so far."""

    seen_bytes: int

    async def result(self, request: m.Work) -> m.Reply:
        """The reply that ends the request. Cancelling ends what it started."""


_Say: TypeAlias = Callable[[_ProbeReply], Awaitable[None]]
_SayOfProbe: TypeAlias = Callable[[int, _ProbeReply], Awaitable[None]]


class AgentService:
    """One agent.

    `ports`: the first and last port it may open for data, (0, 0) for any. `files`: where it may
    perform file operations. `silence_s`: after this many seconds in which an advisor sends or
    reads nothing, it is lost. `leaves_nothing`: it creates neither a key nor a lock that would
    outlive it.
    """

    def __init__(
        self,
        ports: tuple[int, int] = (0, 0),
        files: FileRights = NOWHERE,
        silence_s: float = SILENCE_S,
        *,
        leaves_nothing: bool = False,
    ) -> None:
        self.ports = ports
        self.files = files
        self.silence_s = silence_s
        self.leaves_nothing = leaves_nothing
        self.turn = Turn(makes_files=not leaves_nothing)
        self.spares = Spares()
        self.why_no_data = ""
        """Why it receives no data and runs no step; "" if it does."""
        self.scratch_retried_s = 20.0
        """How long it tries to remove what an advisor has left, while servers may write there."""

    def facts(self, facing: str) -> m.Facts:
        """This host's, as seen from the address `facing`."""
        names = [one.name for one in registry.transports() if registry.availability(one).ok]
        facts = msgspec.structs.replace(host_facts(facing), tools=registry.installed_tools())
        return m.Facts(facts=facts, transports=names, interfaces=data_interfaces())

    def work(self, transfer: TransferWork, made: Callable[[str], None]) -> Work:
        """What does one request on files. `made`: told of a scratch folder, in a thread."""
        return FileWork(self.files, self.turn, transfer, made)

    def remove_scratch(self, folder: str) -> None:
        """Remove a scratch folder that its advisor has left. Blocks. Raises FilesRefused."""
        remove_scratch(self.files, folder)

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str | None = None
    ) -> None:
        """Serve one conversation to its end.

        `peer`: the address the advisor connects from, which is then the only one whose data is
        accepted; None where the connection does not show it (ssh): the advisor's claim is trusted.
        """
        conversation = _Conversation(self, reader, writer, peer)
        try:
            await conversation.hold()
        except (OSError, ValueError, msgspec.MsgspecError):  # TimeoutError is an OSError.
            # A peer that left or stopped responding, or sent garbage, which gets no answer.
            pass
        finally:
            await asyncio.shield(conversation.end())

    async def close(self) -> None:
        """End the spare child."""
        await self.spares.close()


class _Conversation:
    def __init__(
        self,
        service: AgentService,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        peer: str | None,
    ) -> None:
        self._service = service
        self._reader = reader
        self._writer = writer
        self._peer = peer
        self._echo: UdpEcho | None = None
        self._probe: asyncio.Task[None] | None = None
        self._close_probe = asyncio.Event()
        self._work: asyncio.Task[None] | None = None
        self._at_work = False
        self._stop_work = asyncio.Event()
        self._pulse = Pulse(self._beat, service.silence_s)
        self._delivery = Delivery(service.files, keeps_key=not service.leaves_nothing)
        self._scratch = ScratchFolders(service.remove_scratch, service.scratch_retried_s)

    async def _say(self, reply: m.Reply) -> None:
        """Raises ConnectionError if the advisor has left, or does not read."""
        self._writer.write(m.as_line(reply))
        try:
            async with asyncio.timeout(self._service.silence_s):
                await self._writer.drain()
        except TimeoutError:
            self._writer.transport.abort()
            raise ConnectionAbortedError("the advisor does not read what it is sent") from None

    def _beat(self) -> None:
        # What was sent before has not left yet: a keepalive behind it would add nothing.
        if not self._writer.is_closing() and not self._writer.transport.get_write_buffer_size():
            self._writer.write(m.as_line(m.Alive()))

    async def hold(self) -> None:
        await self._say(m.Welcome(protocol=m.PROTOCOL, version=advisor.__version__))
        async with asyncio.timeout(_GREETING_S):
            hello = m.read_request(await self._reader.readline())
        if not isinstance(hello, m.Hello):
            return
        if hello.protocol != m.PROTOCOL:
            await self._say(m.Refused(message=m.mismatch(hello.protocol, hello.version)))
            return
        serving = asyncio.create_task(self._serve_requests())
        silent = asyncio.create_task(self._pulse.until_silent())
        try:
            await asyncio.wait((serving, silent), return_when=asyncio.FIRST_COMPLETED)
            if serving.done():
                serving.result()
        finally:
            for task in (serving, silent):
                task.cancel()
            await asyncio.wait((serving, silent))

    async def _serve_requests(self) -> None:
        while line := await self._reader.readline():
            self._pulse.heard()
            request = m.read_request(line)
            if self._service.why_no_data and isinstance(request, _ABOUT_DATA):
                await self._say(m.Refused(message=self._service.why_no_data))
            else:
                await self._answer(request)

    async def _answer(self, request: m.Request) -> None:
        match request:
            case m.GetFacts():
                facing = self._source(request.facing, request.chose_source)
                await self._say(self._service.facts(facing))
            case m.OpenEcho():
                await self._open_echo(request)
            case m.CloseEcho():
                self._end_echo()
                await self._say(m.EchoClosed())
            case m.OpenProbe() | m.OpenProbes():
                await self._open_probes(request)
            case m.CloseProbe():
                self._close_probe.set()
            case b.FileRequest():
                await self._open_work(request)
            case m.StopWork():
                self._stop_work.set()
            case m.KeepAlive():
                pass
            case m.Hello():
                raise ValueError("a greeting comes once")

    def _source(self, address: str, chose_source: bool | msgspec.UnsetType) -> str:
        """The address that data come from: the connection's, as it is seen here, or the chosen."""
        return address if chose_source else self._peer or address

    async def _open_echo(self, request: m.OpenEcho) -> None:
        self._end_echo()
        source = self._source(request.source_address, request.chose_source)
        try:
            self._echo = await UdpEcho.open(request.token, source, self._service.ports)
        except OSError as error:
            await self._say(m.Refused(message=f"no UDP port could be opened: {error.strerror}"))
            return
        await self._say(m.EchoReady(port=self._echo.port))

    def _end_echo(self) -> None:
        if self._echo:
            self._echo.close()
            self._echo = None

    async def _open_probes(self, request: m.OpenProbe | m.OpenProbes) -> None:
        if self._probe and not self._probe.done():
            await self._say(m.Refused(message="a probe of this session is still running"))
            return
        self._close_probe.clear()
        if isinstance(request, m.OpenProbes):
            running = self._run_probes(request.probes, self._say_of_several)
        else:
            running = self._run_probes([request], self._say_of_single)
        self._probe = asyncio.create_task(running)

    async def _say_of_single(self, _: int, reply: _ProbeReply) -> None:
        await self._say(reply)

    async def _say_of_several(self, number: int, reply: _ProbeReply) -> None:
        await self._say(m.OfProbe(number=number, reply=reply))

    async def _run_probes(self, requests: Sequence[m.OpenProbe], say: _SayOfProbe) -> None:
        async def awaited(ahead: int) -> None:
            await self._say(m.TurnAwaited(ahead=ahead))

        async def run(number: int, request: m.OpenProbe) -> m.ProbeEnded | None:
            with contextlib.suppress(ConnectionError):
                ended = await self._receive(request, partial(say, number))
                if not ended.kind or len(requests) == 1:
                    return ended
                # The others run until the advisor, which hears of it, ends them.
                await say(number, ended)
            return None

        endings: Sequence[m.ProbeEnded | None] = [m.ProbeEnded() for _ in requests]
        with contextlib.suppress(ConnectionError):
            with contextlib.suppress(GivenUp):
                async with self._service.turn.taken(awaited, self._close_probe):
                    endings = await asyncio.gather(*map(run, range(len(requests)), requests))
            # Sent after the turn is released, so that the advisor's next request finds it free.
            for number, ended in enumerate(endings):
                if ended:
                    await say(number, ended)

    async def _receive(self, request: m.OpenProbe, say: _Say) -> m.ProbeEnded:
        order = ReceiveOrder(
            setting=request.setting,
            source_address=self._source(request.source_address, request.chose_source),
            token=request.token,
            ports=self._service.ports,
            ceiling_s=request.ceiling_s,
            sample_every_s=request.sample_every_s,
            own_address=request.destination_address,
        )
        async with contextlib.AsyncExitStack() as stack:
            try:
                end = await stack.enter_async_context(self._service.spares.take())
            except OSError as error:
                why = f"the probe's child cannot be started: {reason_of(error)}"
                return m.ProbeEnded(kind=FailureKind.CRASHED, message=why)
            relay = asyncio.create_task(self._relay(end, request.transport, order, say))
            return await self._until_closed(end, relay, request.ceiling_s + _MARGIN_S)

    async def _until_closed(
        self, end: ProbeEnd, relay: asyncio.Task[m.ProbeEnded], timeout_s: float
    ) -> m.ProbeEnded:
        """How it ended: by itself, by the advisor's request, or by its time limit."""
        closing = asyncio.create_task(self._close_probe.wait())
        try:
            await asyncio.wait(
                (relay, closing), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED
            )
            return relay.result() if relay.done() else m.ProbeEnded(raw_output=_raw(end))
        finally:
            relay.cancel()
            closing.cancel()

    async def _relay(
        self, end: ProbeEnd, transport: str, order: ReceiveOrder, say: _Say
    ) -> m.ProbeEnded:
        versions: dict[str, str] = {}
        try:
            await end.give(transport, order)
        except ConnectionError:
            return m.ProbeEnded(
                kind=FailureKind.CRASHED, message="the probe's child ended", raw_output=_raw(end)
            )
        async for report in end.reports():
            match report:
                case Ready():
                    await say(m.ProbeReady(port=report.port, versions=versions))
                case Versions():
                    versions = report.versions
                case Sample():
                    await say(_as_reply(report))
                    self._service.spares.prepare()
                case Trouble():
                    return m.ProbeEnded(
                        kind=report.kind,
                        message=report.message,
                        raw_output=_raw(end),
                    )
        return m.ProbeEnded(raw_output=_raw(end))

    async def _open_work(self, request: m.Work | m.RunStep) -> None:
        if self._at_work:
            await self._say(m.Refused(message="the agent is still at work for this session"))
            return
        self._at_work = True
        self._stop_work.clear()
        self._work = asyncio.create_task(self._do_work(request))

    async def _do_work(self, request: m.Work | m.RunStep) -> None:
        work = self._service.work(self._delivery, self._scratch.made)
        doing = asyncio.create_task(
            self._run_step(request) if isinstance(request, m.RunStep) else work.result(request)
        )
        stopping = asyncio.create_task(self._stop_work.wait())
        with contextlib.suppress(ConnectionError):
            try:
                while not await _any_done(doing, stopping):
                    await self._say(m.AtWork(seen_bytes=work.seen_bytes))
            finally:
                # Everything it started must have ended before the reply.
                for task in (doing, stopping):
                    task.cancel()
                await asyncio.wait((doing, stopping))
            # Before the reply: the next request may arrive as soon as that is read.
            self._at_work = False
            reply = m.WorkStopped() if doing.cancelled() else doing.result()
            self._scratch.note(request, reply)
            await self._say(reply)

    async def _run_step(self, request: m.RunStep) -> m.Reply:
        async def ready(base_port: int) -> None:
            await self._say(m.StepReady(base_port=base_port))

        service = self._service
        return await run_step(request, service.files, service.turn, service.ports, ready)

    async def end(self) -> None:
        """Clean up everything of this conversation."""
        self._end_echo()
        running = [task for task in (self._probe, self._work) if task]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        self._delivery.close()
        await self._scratch.remove()
        self._writer.close()
        with contextlib.suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(2):
                await self._writer.wait_closed()


async def _any_done(*tasks: asyncio.Task[Any]) -> bool:
    """Whether one of them is done before the next sign of life is due."""
    done, _ = await asyncio.wait(
        tasks, timeout=_AT_WORK_EVERY_S, return_when=asyncio.FIRST_COMPLETED
    )
    return bool(done)


def _as_reply(sample: Sample) -> m.ProbeSample:
    return m.ProbeSample(
        t_s=sample.t_s,
        total_bytes=sample.total_bytes,
        cpu_s=sample.cpu_s,
        busy_s=sample.busy_s,
        host_s=sample.host_s,
        rtt_s=sample.rtt_s,
        arrived_bytes=sample.arrived_bytes,
        granted=sample.granted,
        thread_cpu_s=sample.thread_cpu_s,
    )


def _raw(end: ProbeEnd) -> str:
    return end.raw_output.decode(errors="replace")[-m.RAW_OUTPUT_LIMIT :]
