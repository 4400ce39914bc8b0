"""The session of a transfer over several nodes: the coordinator's, from the claim to the receipt.

All but the moving is as in a transfer by one node: manifest, claim, journal and receipt are those
of this host and the destination. The pieces are moved by nodes, each a pair of a source and a
destination host, that draw from one queue.
"""

import asyncio
import contextlib
import hashlib
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Final

import msgspec

from advisor.agent.peer_errors import PeerError
from advisor.agent.target_messages import TargetClaimed
from advisor.domain import events as ev
from advisor.domain.nodes import NodePair
from advisor.domain.plan import ClassProgress
from advisor.domain.problem import ProblemKind
from advisor.domain.quantities import format_duration
from advisor.domain.transfers import Levels
from advisor.fleet.nodes.crew import Crew, CrewOptions, guarded
from advisor.fleet.nodes.member import DEFAULT_NODE_COMMAND, Member
from advisor.fleet.nodes.queue import LotQueue, QueueAway
from advisor.fleet.nodes.rereading import reread
from advisor.models.leases import Leases, lots_of
from advisor.models.slicing import FileEntry, Part
from advisor.models.time_left import LOOKED_AT, time_left
from advisor.runtime.control import Control
from advisor.runtime.events import Publish
from advisor.runtime.request import TransferRequest
from advisor.runtime.stop import unless_stopped
from advisor.store.errors import StoreError
from advisor.store.history import Store
from advisor.store.postgres.address import Address
from advisor.transfer.engine.batch_outcome import TransferFailed, leave_out
from advisor.transfer.engine.epochs import EPOCH_S
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import TransferJournal
from advisor.transfer.engine.outcome import TransferOutcome, TransferState, outcome_of
from advisor.transfer.engine.retry import Retry
from advisor.transfer.engine.route import Route, manifest_of, route_of
from advisor.transfer.engine.session import TransferSession
from advisor.transfer.nodes import messages as n
from advisor.transfer.tuned.epoch_record import epoch_record
from advisor.transfer.tuned.prior_advice import advised_levels, prior_advice, why_not_followed
from advisor.transfer.tuned.suggested_start import past_levels
from advisor.transfer.tuned.transfer import TransferOptions
from advisor.transfer.tuned.tuners import FIXED
from advisor.transfer.tuned.verified import verified

_SAMPLED: Final = 100
_CLAIM_LOOK_S: Final = 5.0
_REPORT_S: Final = 1.0


class NodesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`nodes`: who moves the files. `queue`: the database with the queue of their lots.
    `node_command`: what starts a node on another host."""

    nodes: list[NodePair]
    queue: Address
    node_command: str = DEFAULT_NODE_COMMAND


async def transfer_over_nodes(
    request: TransferRequest,
    options: TransferOptions,
    over: NodesOptions,
    *,
    store: Store,
    publish: Publish,
    control: Control,
) -> int:
    """Move everything; returns the exit code. Events as in `transfer_tuned`, and `NodesMoving`."""
    return await _NodesSession(request, options, over, store, publish, control).run()


class _NodesSession(TransferSession):
    def __init__(
        self,
        request: TransferRequest,
        options: TransferOptions,
        over: NodesOptions,
        store: Store,
        publish: Publish,
        control: Control,
    ) -> None:
        super().__init__(request, options.delivery_options, store, publish, control)
        self.request = request
        self._options = options
        self._over = over
        self._queue = LotQueue(over.queue)
        self._newest_crew: Crew | None = None
        self._ready_s: float | None = None
        # What is to be read again, until it was: also after an attempt that failed.
        self._suspects: set[str] = set()
        self._of_other_agents: set[str] = set()

    async def _close(self) -> None:
        await self._queue.close()
        await super()._close()

    async def _run(self) -> int:
        manifest = await manifest_of(self.request)
        path = await self.connect()
        # It need not run here, but on the source nodes.
        route = await route_of(self.request, path, must_run=False)
        self.keep_events()
        self.tell_limits(route)
        with self.journal(route) as journal:
            files = self.open_delivery(route, manifest).files
            done = await self.done(journal)
            state = TransferState([route.group(files, done)], journal, manifest.unwanted)
            self._tell_start(state)
            retry = Retry(self, route, state, self._options.retry_s)
            async with self._seen():
                outcome = await self._moved(route, state, retry)
            return await self._end(outcome, retry.state)

    @contextlib.asynccontextmanager
    async def _seen(self) -> AsyncIterator[None]:
        """For others the transfer runs until the block ends: what follows the moving takes long."""
        staying = asyncio.create_task(self._queue.stay_seen())
        try:
            yield
        finally:
            staying.cancel()
            await asyncio.wait([staying])

    async def _moved(self, route: Route, state: TransferState, retry: Retry) -> TransferOutcome:
        """The outcome of all attempts, of the comparison, and of the completion."""
        outcome = None
        while outcome is None:
            attempt = await self._move(route, retry.state, retry.began_s)
            outcome = await retry.outcome_after(attempt)
        # Also where something of the source was left out: what was moved is compared.
        if outcome.has_all_files and self._options.verify:
            outcome = await verified(
                self, route, state, outcome, lambda again: self._move_again(route, again)
            )
        return await self.completed(self.request, route, outcome)

    def _tell_start(self, state: TransferState) -> None:
        self.events.emit(
            ev.TransferStarted,
            session=self.id,
            pair=self.pair,
            method=self.request.method,
            setting={},
            epoch_s=self._options.epoch_s or EPOCH_S,
            decides=self._options.epoch_s is None,
            files=sum(one.total_files for one in state.groups),
            total_bytes=sum(one.total_bytes for one in state.groups),
            earlier_bytes=state.earlier_bytes,
            nodes=len(self._over.nodes),
        )

    @property
    def _claimed(self) -> TargetClaimed:
        claimed = self.delivery.claimed
        assert claimed is not None
        if not claimed.since_s:
            raise StoreError(
                f"the agent on {self.pair.destination} is of a version without several nodes",
                kind=ProblemKind.UNSUPPORTED,
                remedy="update advisor there",
            )
        return claimed

    async def _move(self, route: Route, state: TransferState, began_s: float) -> TransferOutcome:
        """One attempt to move what is left."""
        [group] = state.groups
        leave_out(group, route.tool, self.events.notice)
        members = [
            Member(number, one, one.named(self.pair.source, self.pair.destination))
            for number, one in enumerate(self._over.nodes, 1)
        ]
        tool = route.tool.name
        starts = await asyncio.to_thread(lambda: [self._advised(one, tool) for one in members])
        leases = Leases(lots_of(group.work, len(members)))
        crew = self._crew(members, starts, group, leases, route, state.journal)
        async with self.attempt(self._report(group, members)) as attempt:
            await unless_stopped(self._with_queue(crew, leases, state), self.control.stop)
        self._tell_nodes(members)
        # Connecting does not count, as in a transfer by one node.
        self._ready_s = self._ready_s or crew.ready_s
        elapsed_s = (crew.over_s or self.clock()) - (self._ready_s or began_s)
        outcome = outcome_of(state, elapsed_s, attempt.failure, is_over=attempt.is_over)
        if outcome.has_all_files:
            return await reread(self, crew, route, state, outcome)
        return outcome

    async def _move_again(self, route: Route, state: TransferState) -> TransferOutcome:
        """Move what differed. It takes time from when the nodes are ready again."""
        self._ready_s = None
        return await self._move(route, state, self.clock())

    def _crew(
        self,
        members: Sequence[Member],
        starts: Sequence[Levels | None],
        group: FileGroup,
        leases: Leases,
        route: Route,
        journal: TransferJournal,
    ) -> Crew:
        claimed, sample = self._claimed, _sample(group.files)
        return Crew(
            members,
            group,
            leases,
            self._queue,
            journal,
            self.delivery.proofs,
            CrewOptions(
                retry_s=self._options.retry_s,
                rate_limit_bps=self._options.rate_limit_bps,
                node_command=self._over.node_command,
            ),
            key=claimed.key,
            begin=lambda one: self._begin(
                one, journal, claimed.since_s, sample, starts[one.number - 1]
            ),
            epoch=lambda one, epoch: self._record(one, epoch, route),
            tell=self.events.notice,
            suspects=self._suspects,
            of_other_agents=self._of_other_agents,
        )

    async def _with_queue(self, crew: Crew, leases: Leases, state: TransferState) -> None:
        key = hashlib.sha256(state.journal.token.encode()).hexdigest()
        if self._newest_crew is not None:
            # It was seen until now: the next attempt would wait for nodes that have ended, too.
            with contextlib.suppress(StoreError):
                await self._end_queue(self._newest_crew, "continued")
        wait_s = await self._queue.begin(key, self.pair, leases.sizes)
        self._newest_crew = crew
        if wait_s:
            self.events.notice(
                f"Waits {format_duration(wait_s)}, until nodes of an earlier run have ended for "
                "certain."
            )
            await asyncio.sleep(wait_s)
        await guarded(crew.run(), self._keep_claim())

    async def _keep_claim(self) -> None:
        """Forever: see that the claim is still held. Raises TransferFailed."""
        while True:
            await asyncio.sleep(_CLAIM_LOOK_S)
            try:
                await self.far_end.link.round_trip()
            except PeerError as error:
                failed = TransferFailed.about("", error)
                failed.may_pass = True
                raise failed from None

    def _advised(self, member: Member, tool: str) -> Levels | None:
        """A start by the history of this pair, None without one. Blocks."""
        try:
            prior = prior_advice(self.store, member.pair, time.time(), tool)
            levels = None
            if prior is not None and not why_not_followed(prior, tool):
                most_streams = self.request.max_streams
                levels = advised_levels(prior.subject, prior.setting, most_streams, tool)
            if levels is None and self.request.method != FIXED:
                levels = past_levels(self.store.probes(member.pair), tool, time.time())
        except StoreError:
            return None
        return levels

    def _begin(
        self,
        member: Member,
        journal: TransferJournal,
        since_s: float,
        sample: list[n.LeasedPart],
        advised: Levels | None,
    ) -> n.Begin:
        options = self._options
        limit_bps = options.rate_limit_bps
        return n.Begin(
            protocol=n.NODE_PROTOCOL,
            request=member.request_of(self.request),
            token=journal.token,
            since_s=since_s,
            algorithm=options.delivery_options.algorithm,
            sample=sample,
            start=options.start,
            advised=advised,
            most_flows=options.most_flows,
            streams=options.streams,
            price=options.price,
            epoch_s=options.epoch_s,
            restarts=options.restarts,
            rate_limit_bps=limit_bps and limit_bps / len(self._over.nodes),
            niceness=options.niceness,
        )

    def _record(self, member: Member, epoch: n.EpochOver, route: Route) -> None:
        """Store an epoch of a node, unless a rate limit distorts it."""
        if self._options.rate_limit_bps is not None or member.path is None:
            return
        self.keep(
            epoch_record(
                self.request,
                route.tool.name,
                epoch.setting,
                epoch.outcome,
                session=self.id,
                pair=member.pair,
                path=member.path,
            )
        )

    async def _report(self, group: FileGroup, members: Sequence[Member]) -> None:
        """Forever: report the progress of the whole and of each node."""
        rates_bps: deque[float] = deque(maxlen=LOOKED_AT)
        before_s, before = self.clock(), 0
        while True:
            await asyncio.sleep(_REPORT_S)
            at_s, carried = self.clock(), sum(one.carried_bytes for one in members)
            rate_bps = (carried - before) * 8 / (at_s - before_s)
            before_s, before = at_s, carried
            rates_bps.append(rate_bps)
            flying = sum(one.flying_bytes for one in members)
            moved_bytes = min(group.total_bytes, group.arrived_bytes + flying)
            left_s = await asyncio.to_thread(
                time_left, group.total_bytes - moved_bytes, list(rates_bps)
            )
            progress = [one.progress for one in members]
            whole = ClassProgress(
                size=group.name,
                files=group.arrived_files,
                total_files=group.total_files,
                moved_bytes=moved_bytes,
                total_bytes=group.total_bytes,
                rate_bps=rate_bps,
                clients=sum(one.clients for one in progress),
                parallelism=max(one.parallelism for one in progress),
                concurrency=sum(one.concurrency for one in progress),
            )
            self.events.emit(ev.FilesMoving, phase="transfer", classes=[whole], left_s=left_s)
            self._tell_nodes(members)

    def _tell_nodes(self, members: Sequence[Member]) -> None:
        self.events.emit(ev.NodesMoving, nodes=[one.progress for one in members])

    async def _end_queue(self, crew: Crew, message: str) -> None:
        """End the run in the database. Raises StoreError.

        The next run waits for nodes that have not given back what they had, and where the database
        does not answer, until none can write any more.
        """
        try:
            await crew.settle()
        except QueueAway:
            raise
        except (StoreError, TransferFailed):
            pass
        await self._queue.end(message)

    async def _end(self, outcome: TransferOutcome, state: TransferState) -> int:
        if self._newest_crew is not None:
            # Without names of files, for all to see.
            message = "complete" if outcome.complete else "not complete"
            with contextlib.suppress(StoreError):
                await self._end_queue(self._newest_crew, message)
        if outcome.complete:
            self.forget(state.journal)
            number = len(self._over.nodes)
            self.keep_transfer(outcome, f"advisor transfer over {number} nodes")
        self.events.emit(ev.TransferEnded, **outcome.fields, advised=None)
        return outcome.exit_code


def _sample(files: Sequence[FileEntry]) -> list[n.LeasedPart]:
    """Files by which a node sees whether it has the same ones: evenly over the listing."""
    step = max(1, len(files) // _SAMPLED)
    some = files[::step][:_SAMPLED]
    return [n.LeasedPart.of(Part(file, 0, 0)) for file in some]
