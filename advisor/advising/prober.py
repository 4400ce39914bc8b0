"""One probe of a transport: both its ends are started, and stopped when its result is known."""

import asyncio
import contextlib
import itertools
import math
import secrets
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import msgspec

from advisor.agent import messages as m
from advisor.agent.peer_errors import PeerGone
from advisor.agent.replies import Replies
from advisor.api.transport import Sample, SendOrder, Trouble, Versions
from advisor.domain.bounded import SHORTEST_S
from advisor.domain.measurement import (
    EndLoad,
    Failure,
    FailureKind,
    Interval,
    Measurement,
    Outcome,
)
from advisor.domain.path import PathFacts
from advisor.domain.sending import SenderReport
from advisor.domain.space import Setting
from advisor.models.arrival import reached_bytes
from advisor.models.steadiness import (
    ProbeLength,
    SteadyPart,
    is_behind,
    stated_stderr_bps,
    steady_part,
)
from advisor.probing.end import ProbeEnd, Spares

_READY_S: Final = 10.0
_CONNECT_S: Final = 5.0
# Streams connect one after the other; each takes one round trip, or two.
_ROUND_TRIPS_A_STREAM: Final = 2
# When one end fails first, the other may know the reason: wait for its report.
_EXPLAIN_S: Final = 0.5
# A receiver that was silent for longer would have been taken for lost.
_LATE_S: Final = 60.0
_CONSEQUENCES: Final = {FailureKind.RESET, FailureKind.PEER_GONE}
"""What one end sees when the other has failed."""


class Watcher(msgspec.Struct, frozen=True):
    """Called while a probe runs: with each interval, and with the number of probes queued ahead.

    `waiting`: at the destination, `waiting_here`: at this host. `ready`: it waits no longer, and
    ends within its own time limit. `least_bps`: a probe that will certainly not reach this rate
    ends; 0 for one that is wanted whatever it reaches.
    """

    interval: Callable[[Interval], None]
    waiting: Callable[[int], None]
    ready: Callable[[], None] = lambda: None
    waiting_here: Callable[[int], None] = lambda _: None
    least_bps: float = 0.0


class Probed(msgspec.Struct, frozen=True):
    """The outcome, and the output of foreign code at both ends."""

    outcome: Outcome
    raw_output: bytes


class _Failed(Exception):
    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Meeting:
    """What probes that run at once do together: they begin, and end when all are known well enough.

    `courses`: how many means must be known, by default one of each probe. `over`: set when they may
    end. `cause`: why the first of them that failed did; that ends all.
    """

    def __init__(self, probes: int = 1, courses: int = 0) -> None:
        self._courses = courses or probes
        self._at_the_start = asyncio.Barrier(probes)
        self._settled: set[int] = set()
        self.over = asyncio.Event()
        self.cause: _Failed | None = None

    async def begin(self) -> None:
        """Wait until all can begin. Raises _Failed when one of them has failed."""
        with contextlib.suppress(asyncio.BrokenBarrierError):
            await self._at_the_start.wait()
        if self.cause:
            raise self.cause

    def settle(self, probe: int) -> None:
        """The mean of the probe with this number is known well enough."""
        self._settled.add(probe)
        if len(self._settled) == self._courses:
            self.over.set()

    async def fail(self, cause: _Failed) -> None:
        """One of them has failed: the others end."""
        self.cause = self.cause or cause
        self.over.set()
        await self._at_the_start.abort()


class Listener(Protocol):
    """Receives what both ends of a probe report. `meeting`: see `Course`."""

    @property
    def meeting(self) -> Meeting:
        """What the probe shares with those that run at the same time."""

    def add_received(self, sample: Sample) -> None:
        """The receiver's running totals."""

    def add_sent(self, sample: Sample) -> None:
        """The sender's running totals."""

    def add_versions(self, side: str, versions: dict[str, str]) -> None:
        """The libraries of one side."""


class Course:
    """What both ends have reported of the probe so far.

    `meeting`: what it shares with the probes that run at the same time; it is the one with this
    `number` among them. `least_bps`: see `Watcher`.
    """

    def __init__(
        self,
        length: ProbeLength,
        seen: Callable[[Interval], None],
        meeting: Meeting | None = None,
        number: int = 0,
        least_bps: float = 0.0,
    ) -> None:
        self._length = length
        self._seen = seen
        self._least_bps = least_bps
        self._number = number
        self._clock = asyncio.get_running_loop().time
        self.meeting = meeting or Meeting()
        self.received: list[Sample] = []
        self.received_at_s: list[float] = []
        self.sent: list[Sample] = []
        self._reports: list[SenderReport] = []
        self.intervals: list[Interval] = []
        self.versions: dict[str, str] = {}
        self.steady: SteadyPart | None = None

    def add_received(self, sample: Sample) -> None:
        """The receiver's running totals. Raises _Failed for times that are none of a probe's."""
        self._require_advancing(sample)
        self.received.append(sample)
        self.received_at_s.append(self._clock())
        if len(self.received) < 2:
            return
        self.intervals = _intervals(self.received)
        interval = self.intervals[-1]
        self._seen(interval)
        self.steady = steady_part(self.intervals, self._length, reports=self._reports)
        is_over = self.steady.settled or interval.end_s >= self._length.ceiling_s
        if is_over or is_behind(
            self.steady, self.intervals, self._length, self._least_bps, self._reports
        ):
            self.meeting.settle(self._number)

    def _require_advancing(self, sample: Sample) -> None:
        """Raises _Failed unless the receiver's clock advances as clocks do while a probe runs."""
        if not self.received:
            return
        passed_s = sample.t_s - self.received[-1].t_s
        lasts_s = sample.t_s - self.received[0].t_s
        is_possible = passed_s == 0 or passed_s >= SHORTEST_S
        if not is_possible or lasts_s > self._length.ceiling_s + _LATE_S:
            raise _Failed(FailureKind.CRASHED, "the receiver's reports have impossible times")

    def add_sent(self, sample: Sample) -> None:
        """The sender's running totals."""
        self.sent.append(sample)
        self._reports.append(
            SenderReport(
                t_s=sample.t_s - self.sent[0].t_s,
                retransmits=sample.retransmits,
                rtt_s=sample.rtt_s,
                state=sample.sending,
            )
        )

    def add_versions(self, side: str, versions: dict[str, str]) -> None:
        """The libraries of one side."""
        self.versions |= {f"{side} {name}": version for name, version in versions.items()}

    @property
    def steady_at_s(self) -> float:
        """When the part began that counts, by this host's clock; after `measurement` succeeded."""
        assert self.steady is not None
        return self.received_at_s[self.steady.first - len(self.intervals) - 1]

    def mean_bps_since(self, at_s: float) -> float:
        """The mean rate from that time on, by this host's clock; 0 where nothing came after it."""
        received = [
            sample
            for sample, seen_s in zip(self.received, self.received_at_s, strict=True)
            if seen_s >= at_s
        ]
        lasted_s = received[-1].t_s - received[0].t_s if received else 0.0
        if lasted_s <= 0:
            return 0.0
        received_bytes = received[-1].total_bytes - received[0].total_bytes
        return min(received_bytes * 8 / lasted_s, _arrived_bps(received))

    def measurement(self, elapsed_s: float) -> Measurement:
        """The result. Raises _Failed if no data arrived."""
        if self.steady is None or self.steady.throughput_bps <= 0:
            raise _Failed(FailureKind.TIMED_OUT, "no data arrived at the receiver")
        steady_samples = len(self.intervals) - self.steady.first + 1
        received = self.received[-steady_samples:]
        sent = self.sent[-steady_samples:]
        rtts = [s.rtt_s for s in sent if s.rtt_s]
        bps = self.steady.throughput_bps
        return Measurement(
            throughput_bps=bps if self.steady.predicted else min(bps, _arrived_bps(received)),
            stderr_bps=stated_stderr_bps(self.steady),
            intervals=self.intervals,
            steady_from=self.steady.first,
            settled=self.steady.settled,
            predicted=self.steady.predicted or msgspec.UNSET,
            losses=self.steady.losses or msgspec.UNSET,
            elapsed_s=elapsed_s,
            retransmits=self.sent[-1].retransmits if self.sent else None,
            rtt_s=sum(rtts) / len(rtts) if rtts else None,
            sender=_load(sent),
            receiver=_load(received),
            granted=(sent[-1].granted if sent else {}) | received[-1].granted,
            versions=self.versions,
        )


def _intervals(received: Sequence[Sample]) -> list[Interval]:
    """What reached the receiver between each two samples: what it read, or could not read yet."""
    read = [sample.total_bytes for sample in received]
    reached = reached_bytes(read, [sample.arrived_bytes for sample in received])
    begin_s = received[0].t_s
    return [
        Interval(before.t_s - begin_s, after.t_s - begin_s, max(0, total - total_before))
        for (before, total_before), (after, total) in itertools.pairwise(
            zip(received, reached, strict=True)
        )
    ]


def _arrived_bps(received: list[Sample]) -> float:
    """The rate at which data reached the receiver, in any order, over these samples.

    In-order delivery is bursty where there is loss: when a hole is filled, all data behind it
    counts at once. Over a short window that can exceed the rate of the link; the rate of arrival
    cannot.
    """
    first, last = received[0], received[-1]
    if first.arrived_bytes is None or last.arrived_bytes is None or last.t_s <= first.t_s:
        return math.inf
    return (last.arrived_bytes - first.arrived_bytes) * 8 / (last.t_s - first.t_s)


def _load(samples: list[Sample]) -> EndLoad | None:
    if len(samples) < 2:
        return None
    first, last = samples[0], samples[-1]
    lasted_s, host_s = last.t_s - first.t_s, last.host_s - first.host_s
    if lasted_s <= 0 or host_s <= 0:
        return None
    thread_cores: float | msgspec.UnsetType = msgspec.UNSET
    if first.thread_cpu_s is not None and last.thread_cpu_s is not None:
        thread_cores = (last.thread_cpu_s - first.thread_cpu_s) / lasted_s
    return EndLoad(
        process_cores=(last.cpu_s - first.cpu_s) / lasted_s,
        host_share=min(1.0, max(0.0, (last.busy_s - first.busy_s) / host_s)),
        thread_cores=thread_cores,
    )


class Probe:
    """One running probe."""

    def __init__(
        self,
        spares: Spares,
        request: m.OpenProbe,
        path: PathFacts,
        course: Listener,
    ) -> None:
        self._spares = spares
        self._request = request
        self._path = path
        self._course = course
        self._clock = asyncio.get_running_loop().time
        self.raw_output = b""
        """What foreign code printed at the sending end."""
        self.started_s = self._clock()

    def elapsed_s(self) -> float:
        """Seconds since the probe began or, if it was queued, since the receiver was ready."""
        return self._clock() - self.started_s

    async def run(self, replies: Replies, watcher: Watcher) -> None:
        """Send until it is over. `replies`: about the receiving end that was asked for."""
        try:
            port = await self._receiver_ready(replies, watcher.waiting)
            watcher.ready()
            await self._send(port, replies)
        except _Failed as failed:
            await self._course.meeting.fail(failed)

    async def _receiver_ready(self, replies: Replies, waiting: Callable[[int], None]) -> int:
        waited = False
        while True:
            try:
                # In the queue the wait has no bound but the session's budget.
                async with asyncio.timeout(None if waited else _READY_S):
                    reply = await anext(replies)
            except TimeoutError:
                raise PeerGone("the agent did not start the probe in time") from None
            match reply:
                case m.TurnAwaited():
                    waited = True
                    waiting(reply.ahead)
                case m.ProbeReady():
                    if waited:
                        self.started_s = self._clock()
                    self._course.add_versions("destination", reply.versions)
                    return reply.port
                case m.ProbeEnded():
                    raise _failure(reply.kind, reply.message)
                case m.Refused():
                    raise _Failed(FailureKind.REFUSED, reply.message)
                case _:
                    pass

    async def _send(self, port: int, replies: Replies) -> None:
        order = SendOrder(
            setting=self._request.setting,
            address=self._path.destination_address,
            port=port,
            token=self._request.token,
            ceiling_s=self._request.ceiling_s,
            connect_timeout_s=_CONNECT_S,
            sample_every_s=self._request.sample_every_s,
            own_address=self._path.bound_address,
        )
        async with self._spares.take() as end:
            try:
                await self._course.meeting.begin()
                await end.give(self._request.transport, order)
                await self._watch(end, replies)
            finally:
                self.raw_output = end.raw_output

    async def _watch(self, end: ProbeEnd, replies: Replies) -> None:
        """Until the result is known, the time limit is reached, or one end fails."""
        receiver = asyncio.create_task(self._hear_receiver(replies))
        sender = asyncio.create_task(self._hear_sender(end))
        over = asyncio.create_task(self._course.meeting.over.wait())
        tasks = [receiver, sender, over]
        try:
            await asyncio.wait(
                tasks, timeout=self._request.ceiling_s, return_when=asyncio.FIRST_COMPLETED
            )
            if receiver.done() or sender.done():
                await asyncio.wait([receiver, sender], timeout=_EXPLAIN_S)
            causes = [cause for task in tasks if task.done() and (cause := task.exception())]
            if causes:
                raise min(causes, key=_is_consequence)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)

    async def _hear_receiver(self, replies: Replies) -> None:
        async for reply in replies:
            if isinstance(reply, m.ProbeSample):
                self._course.add_received(Sample(**msgspec.structs.asdict(reply)))
                self._spares.prepare()
            elif isinstance(reply, m.ProbeEnded) and reply.kind:
                raise _failure(reply.kind, reply.message)

    async def _hear_sender(self, end: ProbeEnd) -> None:
        async for report in end.reports():
            match report:
                case Sample():
                    self._course.add_sent(report)
                case Versions():
                    self._course.add_versions("source", report.versions)
                case Trouble():
                    raise _failure(report.kind, report.message)
        # It ended without a failure: the last data may arrive before the time limit.
        await self._course.meeting.over.wait()


def _is_consequence(cause: BaseException) -> bool:
    return isinstance(cause, _Failed) and cause.kind in _CONSEQUENCES


def _failure(kind: FailureKind | None, message: str) -> _Failed:
    return _Failed(kind or FailureKind.PEER_GONE, message or "the receiving end disconnected")


def result_of(course: Course, probes: Sequence[Probe], receivers: Sequence[m.ProbeEnded]) -> Probed:
    """What a probe gave, once both ends are closed; those of each process, if it has several."""
    both = zip(probes, receivers, strict=True)
    raw_output = b"".join(probe.raw_output + end.raw_output.encode() for probe, end in both)
    elapsed_s = max(probe.elapsed_s() for probe in probes)
    try:
        if cause := course.meeting.cause:
            raise cause
        return Probed(course.measurement(elapsed_s), raw_output)
    except _Failed as failed:
        failure = Failure(kind=failed.kind, message=str(failed), elapsed_s=elapsed_s)
        return Probed(failure, raw_output)


def open_probe(
    path: PathFacts, transport: str, setting: Setting, length: ProbeLength
) -> m.OpenProbe:
    """What the agent is asked for one probe over this path."""
    streams = int(setting.get("streams", 1))
    set_up_s = _CONNECT_S + _ROUND_TRIPS_A_STREAM * length.rtt_s * streams
    return m.OpenProbe(
        transport=transport,
        setting=setting,
        source_address=path.source_address,
        destination_address=path.destination_address.partition("%")[0],
        token=secrets.token_hex(16),
        ceiling_s=length.ceiling_s + set_up_s,
        sample_every_s=length.sample_every_s,
        chose_source=path.chose_source,
    )
