"""One node of a transfer over several: moves what it is leased, at settings that it tunes itself.

It is the engine of a tuned transfer whose work comes piece by piece from a coordinator, which also
holds the claim, keeps the journal and has the receipt signed. The node proves each piece with the
agent at its own destination.
"""

import asyncio
import contextlib
import itertools
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import advisor
from advisor.agent.secret import BadSecret
from advisor.agent.stdio import standard_streams, stop_on_signals
from advisor.agent.target import RemoteTarget
from advisor.agent.target_messages import JoinTarget, TargetJoined
from advisor.domain import events as ev
from advisor.domain.manifest import entry_path
from advisor.domain.names import names_in_short
from advisor.domain.problem import ProblemError, ProblemKind, problem_of
from advisor.domain.space import concurrency_of
from advisor.hosts.decoding import BadData
from advisor.hosts.file_samples import is_unchanged
from advisor.methods.tuning import Tuner, TunerBounds
from advisor.models.leased_work import LeasedWork
from advisor.models.slicing import Part
from advisor.runtime.connect import FarEnd, look_at_path
from advisor.runtime.stop import Stopped, unless_stopped
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.client_options import beside_epochs
from advisor.transfer.engine.epochs import EPOCH_S
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import NotedPart
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.proof import Proofs
from advisor.transfer.engine.route import Route, route_of
from advisor.transfer.nodes import messages as n
from advisor.transfer.tuned.loop import Epoch, TuningLoop
from advisor.transfer.tuned.stream_limit import most_streams, within
from advisor.transfer.tuned.suggested_start import path_levels
from advisor.transfer.tuned.tuners import FIXED, TunerWanted, tuner_of

_BEGIN_S: Final = 30.0
_LOOK_S: Final = 0.2
_ASK_AGAIN_S: Final = 1.0
_REPORT_S: Final = 1.0
_MAY_PASS: Final = (ProblemKind.UNREACHABLE, ProblemKind.LOST, ProblemKind.BUSY)
_KEPT_SENT: Final = 100


class NodeRefused(ProblemError):
    """This host cannot be a node of the transfer; the message is one sentence."""

    kind = ProblemKind.REFUSED


class Node:
    """One node, in conversation with its coordinator. Times are those of a clock that also runs
    while the host is suspended."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._stop = asyncio.Event()
        self._work = LeasedWork()
        self._group = FileGroup("all", [], work=self._work)
        self._mover: Mover | None = None
        self._proofs: Proofs | None = None
        self._sent_s: dict[int, float] = {}
        self._alive_until_s = _now_s() + _BEGIN_S
        self._is_asked = False
        self._failed = 0
        self._was_leased = asyncio.Event()

    async def run(self) -> None:
        """Serve the coordinator until it has finished, left, or fallen silent."""
        self._say(n.NodeGreeting(protocol=n.NODE_PROTOCOL, version=advisor.__version__))
        guards: list[asyncio.Task[None]] = []
        ended = n.Ended()
        try:
            begin = await self._begun()
            guards += [
                asyncio.create_task(one)
                for one in (self._listen(), self._watch(), self._report(), self._ask())
            ]
            await unless_stopped(self._serve(begin), self._stop)
        except Stopped:
            pass
        except (ProblemError, BadSecret, ValueError, OSError) as error:
            problem = problem_of(error)
            passes = problem.kind in _MAY_PASS
            if isinstance(error, TransferFailed):
                passes = error.may_pass
            ended = n.Ended(problem=problem, may_pass=passes)
        finally:
            for guard in guards:
                guard.cancel()
            await asyncio.gather(*guards, return_exceptions=True)
        # Not before: that all clients have ended is what this message says.
        self._report_failed()
        self._say(ended)
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(n.SILENT_S):
                await self._writer.drain()

    def stop(self) -> None:
        """End all clients, and then this node."""
        self._stop.set()

    def _say(self, message: n.FromNode) -> None:
        if not self._writer.is_closing():
            self._writer.write(n.as_line(message))

    async def _begun(self) -> n.Begin:
        """The first order. Raises NodeRefused, BadData."""
        try:
            async with asyncio.timeout(_BEGIN_S):
                line = await self._reader.readline()
        except TimeoutError:
            line = b""
        order = n.read_order(line) if line else None
        if not isinstance(order, n.Begin):
            raise NodeRefused("no transfer was begun", kind=ProblemKind.LOST)
        if order.protocol != n.NODE_PROTOCOL:
            raise NodeRefused(
                f"it runs advisor {advisor.__version__}, whose nodes speak another protocol",
                remedy="run the same version on all nodes",
                kind=ProblemKind.UNSUPPORTED,
            )
        return order

    async def _listen(self) -> None:
        """Take orders; their end is the order to stop."""
        with contextlib.suppress(BadData, OSError, ValueError):
            while line := await self._reader.readline():
                self._obey(n.read_order(line))
        self._stop.set()

    def _obey(self, order: n.NodeOrder) -> None:
        match order:
            case n.Lease(parts=parts):
                self._is_asked = False
                self._take([one.part for one in parts])
            case n.Limit(rate_limit_bps=bps):
                if self._mover is not None:
                    self._mover.limit_rate(bps)
            case n.Finish():
                self._work.close()
                self._was_leased.set()
            case n.StayAlive(number=number):
                sent_s = self._sent_s.pop(number, None)
                if sent_s is not None:
                    self._alive_until_s = max(self._alive_until_s, sent_s + n.SILENT_S)
            case n.Begin():
                self._stop.set()

    def _take(self, parts: Sequence[Part]) -> None:
        dropped = {one.file.name: one.message for one in self._group.failed_files}
        for part in parts:
            if message := dropped.get(part.file.name):
                self._say_failed(part, message)
        self._work.add(parts)
        self._was_leased.set()

    async def _watch(self) -> None:
        """End everything once the coordinator may take this node for lost."""
        while _now_s() < self._alive_until_s:
            await asyncio.sleep(_LOOK_S)
        self._stop.set()

    async def _report(self) -> None:
        """Forever: say how it does, which is answered."""
        for number in itertools.count(1):
            self._sent_s[number] = _now_s()
            self._sent_s.pop(number - _KEPT_SENT, None)
            group = self._group
            flying_bytes = max(0, group.moved_bytes - group.arrived_bytes)
            self._say(
                n.Moving(
                    number=number,
                    carried_bytes=group.carried_bytes,
                    flying_bytes=flying_bytes,
                    clients=group.running,
                    concurrency=group.concurrency,
                    parallelism=group.parallelism,
                    is_held_back=self._mover is not None and self._mover.is_held_back,
                )
            )
            await asyncio.sleep(_REPORT_S)

    async def _ask(self) -> None:
        """Forever: ask for more before there is too little, and say what cannot be moved."""
        asked_s = 0.0
        while True:
            await asyncio.sleep(_LOOK_S)
            self._report_failed()
            wanted_bytes = self._work.wanted_bytes if self._mover is not None else 0
            if wanted_bytes and (not self._is_asked or _now_s() - asked_s > _ASK_AGAIN_S):
                self._is_asked, asked_s = True, _now_s()
                self._say(n.Want(wanted_bytes=wanted_bytes))

    def _report_failed(self) -> None:
        for one in self._group.failed_files[self._failed :]:
            self._say_failed(Part(one.file, 0, 0), one.message)
        self._failed = len(self._group.failed_files)

    def _say_failed(self, part: Part, message: str) -> None:
        self._say(n.FileFailed(file=n.LeasedPart.of(part), message=message))

    async def _serve(self, begin: n.Begin) -> None:
        """Connect, and move what is leased. Raises what ends the node."""
        await asyncio.to_thread(_require_same_source, begin)
        request = begin.request
        far_end = FarEnd(request)
        try:
            await far_end.connect()
            path = await look_at_path(far_end.reached, request)
            route = await route_of(request, path)
            if route.moves_whole_files:
                self._work.keep_whole()
            joined = await self._joined(far_end, route, begin)
            tuner = await asyncio.to_thread(_tuner, begin, route)
            self._proofs = Proofs(route.places, begin.algorithm)
            self._say(n.Ready(path=path, key=joined.key, setting=tuner.setting))
            await self._move(begin, far_end, route, tuner)
        finally:
            await far_end.close()

    async def _joined(self, far_end: FarEnd, route: Route, begin: n.Begin) -> TargetJoined:
        """See that the destination node has the target that is claimed. Raises PeerError."""
        asked = JoinTarget(target=route.places.target, token=begin.token, since_s=begin.since_s)
        return await RemoteTarget(far_end.link).join(asked)

    async def _move(self, begin: n.Begin, far_end: FarEnd, route: Route, tuner: Tuner) -> None:
        loop = TuningLoop(
            tuner,
            begin.epoch_s or EPOCH_S,
            decides=begin.epoch_s is None,
            restarts=begin.restarts,
            emit=self._emit,
            record=self._record,
            clock=asyncio.get_running_loop().time,
        )
        options = beside_epochs(
            begin.epoch_s,
            route.capacity_bps / concurrency_of(loop.setting),
            begin.rate_limit_bps,
            begin.niceness,
        )
        self._mover = mover = Mover(
            far_end.link,
            route,
            [self._group],
            options,
            tell=lambda message: self._say(n.Said(message=message)),
            note=self._note,
            stop=self._stop,
            proofs=self._proofs,
        )
        async with mover:
            # An epoch without anything to move would say that the setting is bad.
            await mover.meanwhile(self._was_leased.wait())
            await loop.run(mover, self._group)

    async def _note(self, parts: Sequence[NotedPart]) -> None:
        """Report parts that arrived and were checked."""
        assert self._proofs is not None
        arrived = [
            n.ArrivedPart(n.LeasedPart.of(one.part), one.digest, self._proofs.seal_of(one.part))
            for one in parts
        ]
        for first in range(0, len(arrived), n.PARTS_IN_LINE):
            self._say(n.Arrived(parts=arrived[first : first + n.PARTS_IN_LINE]))
        await self._writer.drain()

    def _emit(self, kind: Callable[..., ev.AnyEvent], **fields: object) -> None:
        """Of what the tuning reports, pass on the sentences: the coordinator has the settings."""
        if kind is ev.Notice:
            self._say(n.Said(message=str(fields["message"])))

    def _record(self, epoch: Epoch) -> None:
        self._say(n.EpochOver(setting=epoch.setting, outcome=epoch.outcome))


def _now_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _require_same_source(begin: n.Begin) -> None:
    """See that this host has the files that the coordinator has listed. Raises NodeRefused.

    A file of another file system has another inode and change time.
    """
    source = begin.request.dataset.path or ""
    parts = [one.part for one in begin.sample]
    other = [
        part.file.name
        for part in parts
        if not is_unchanged(Path(entry_path(source, part.file.name)), part.file)
    ]
    if other:
        raise NodeRefused(
            f"{source} here is not what the coordinator has there: {len(other)} of {len(parts)} "
            f"files looked at differ or are missing, {names_in_short(other)}",
            remedy="name source nodes that see the same file system at the same path",
        )


def _tuner(begin: n.Begin, route: Route) -> Tuner:
    """The tuner of this node. Raises ValueError. It may take a second."""
    request = begin.request
    most = most_streams(route, request, begin.streams, begin.start)
    suggested = None if request.method == FIXED else path_levels(route.path)
    wanted = TunerWanted(
        method=request.method,
        bounds=TunerBounds(
            concurrency=request.max_concurrency,
            parallelism=most,
            flows=begin.most_flows,
            streams=begin.streams,
        ),
        start=begin.start,
        advised=within(begin.advised or suggested, most, request.max_concurrency),
        seed=request.seed,
        price=begin.price,
    )
    return tuner_of(wanted, request.dataset, route.path, [])


async def serve_node() -> None:
    """Be a node for the coordinator at the other end of standard input and output."""
    reader, writer = await standard_streams(n.LINE_BYTES)
    node = Node(reader, writer)
    stopping = asyncio.create_task(stop_on_signals().wait())
    stopping.add_done_callback(lambda _: node.stop())
    try:
        await node.run()
    finally:
        stopping.cancel()
