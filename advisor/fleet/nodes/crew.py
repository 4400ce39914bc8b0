"""The nodes of one transfer at work: who runs, who has what, what has arrived, what failed.

What nodes say is read at once, since they end their clients when they are not answered. All that
may take time, the journal and the database, is done beside that.
"""

import asyncio
import contextlib
import itertools
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

import msgspec

from advisor.agent.peer_errors import PeerError
from advisor.domain.problem import Problem
from advisor.domain.quantities import format_duration
from advisor.fleet.nodes.member import DEFAULT_NODE_COMMAND, Member, NodeGone, NodeLink
from advisor.fleet.nodes.queue import LotQueue, QueueAway
from advisor.fleet.nodes.rates import Sharing
from advisor.hosts.decoding import BadData
from advisor.models.leases import Leases, NotLeased
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import NotedPart, TransferJournal
from advisor.transfer.engine.proof import Proofs
from advisor.transfer.nodes import messages as n

_TURN_S: Final = 0.1
_FINISH_S: Final = 10.0
_FIRST_PAUSE_S: Final = 5.0
_LONGEST_PAUSE_S: Final = 60.0
_QUEUE_AGAIN_S: Final = 2.0
_SHOW_S: Final = 2.0
_RATES_S: Final = 1.0
_SHARES_IN_DRAW: Final = 4
"""At most one part in this many of a node's share of the rest is leased at once: all nodes are to
end together."""


class CrewOptions(msgspec.Struct, frozen=True, kw_only=True):
    """`retry_s`: how long a node is tried again while nothing arrives. `rate_limit_bps`: of all
    nodes together, None for none. `node_command`: what starts a node on another host."""

    retry_s: float
    rate_limit_bps: float | None = None
    node_command: str = DEFAULT_NODE_COMMAND


class Crew:
    """The nodes of one attempt to move a group of files.

    `begin`: the order that a member begins with. `epoch`: called with each control epoch of one.
    `suspects`: names of files of which a node that may still have written had something;
    `of_other_agents`: of files with pieces that only an agent with another key has sealed. Both may
    have names from earlier attempts, which stay.
    `ready_s`: when the first node was connected; `over_s`: when all that can be moved was there, by
    the event loop's clock; None before.
    """

    def __init__(
        self,
        members: Sequence[Member],
        group: FileGroup,
        leases: Leases,
        queue: LotQueue,
        journal: TransferJournal,
        proofs: Proofs,
        options: CrewOptions,
        *,
        key: str,
        begin: Callable[[Member], n.Begin],
        epoch: Callable[[Member, n.EpochOver], None],
        tell: Callable[[str], None],
        suspects: set[str],
        of_other_agents: set[str],
    ) -> None:
        self.members = members
        self.suspects = suspects
        self.of_other_agents = of_other_agents
        self.ready_s: float | None = None
        self.over_s: float | None = None
        self._group = group
        self._leases = leases
        self._queue = queue
        self._journal = journal
        self._proofs = proofs
        self._options = options
        self._key = key
        self._begin = begin
        self._epoch = epoch
        self._tell = tell
        self._clock = asyncio.get_running_loop().time
        self._began_s = self._clock()
        self._arrived_s: float | None = None
        self._away_s: float | None = None
        self._unnoted: list[NotedPart] = []
        self._complete: dict[int, int] = {}
        self._added: list[int] = []
        self._returned: list[int] = []
        self._messages: dict[str, tuple[FileEntry, str]] = {}
        self._problem: Problem | None = None
        self._finishing = asyncio.Event()

    async def run(self) -> None:
        """Move everything that can be. Raises TransferFailed, StoreError."""
        runs = [asyncio.create_task(self._keep_running(one)) for one in self.members]
        helpers = [
            asyncio.create_task(one)
            for one in (self._note_arrivals(), self._serve_queue(), self._look_at_rates())
        ]
        try:
            while not self._group.work.is_done:
                if all(run.done() for run in runs):
                    await self._last_words(runs)
                for helper in helpers:
                    if helper.done():
                        helper.result()
                await asyncio.sleep(_TURN_S)
            self.over_s = self._clock()
            self._finishing.set()
            finishing = []
            for run, one in zip(runs, self.members, strict=True):
                if one.link:
                    one.link.say(n.Finish())
                    finishing.append(run)
            if finishing:
                await asyncio.wait(finishing, timeout=_FINISH_S)
        finally:
            self._finishing.set()
            for task in (*runs, *helpers):
                task.cancel()
            await asyncio.gather(*runs, *helpers, return_exceptions=True)

    async def _last_words(self, runs: Sequence[asyncio.Task[None]]) -> None:
        """No node is left. Raises TransferFailed, unless all that is left could not be moved."""
        for run in runs:
            run.result()
        while self._unnoted:
            await asyncio.sleep(_TURN_S)
        if self._group.work.is_done:
            return
        problem = self._problem
        assert problem is not None
        failed = TransferFailed(
            problem.reason,
            remedy=problem.remedy,
            command=problem.command,
            host=problem.host,
            kind=problem.kind,
        )
        raise failed

    # A node

    async def _keep_running(self, member: Member) -> None:
        """Run a node until all is moved; again after pauses where it is lost."""
        pause_s = _FIRST_PAUSE_S
        while not self._finishing.is_set():
            before = member.progress.moved_bytes
            problem, may_pass = await self._run_once(member)
            if self._finishing.is_set():
                member.set(state="ended")
                break
            if problem is None:
                gone = NodeGone(f"the node on {member.nodes.source} was stopped there")
                problem, may_pass = gone.problem, True
            self._problem, member.why = problem, problem.kind
            if member.progress.moved_bytes > before:
                pause_s = _FIRST_PAUSE_S
            if not may_pass or not self._may_wait(member, pause_s):
                member.set(state="ended", message=str(problem))
                self._tell(f"{member.name} is not used any more: {problem}")
                break
            member.set(state="lost", message=str(problem))
            self._tell(f"{member.name}: {problem}. Next try in {format_duration(pause_s)}")
            await asyncio.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, 2 * pause_s)
        self._drop_what_fails()

    def _may_wait(self, member: Member, pause_s: float) -> bool:
        """Whether it is worth to try a lost node again: something arrives, or may arrive soon."""
        since_s = self._arrived_s
        if since_s is None:
            others = [one.progress.state for one in self.members if one is not member]
            since_s = self._began_s if {"connecting", "moving"}.intersection(others) else None
        return since_s is not None and self._clock() + pause_s <= since_s + self._options.retry_s

    async def _run_once(self, member: Member) -> tuple[Problem | None, bool]:
        """One run of a node: why it ended, None at the end of the work, and whether that may pass.

        Whatever the node had is given back: at once if it said that its clients have ended, else
        when its leases have run out. What a node says that reports what is not so is not believed.
        """
        member.why = None
        member.set(state="connecting", message="")
        link: NodeLink | None = None
        ended: n.Ended | None = None
        problem, may_pass, is_believed, has_ended = None, False, True, True
        try:
            link = await NodeLink.start(member.nodes.source, self._options.node_command)
            async for received in link.messages():
                if isinstance(received, n.Ended):
                    ended = received
                else:
                    self._hear(member, link, received)
            assert ended is not None
            problem, may_pass = ended.problem, ended.may_pass
        except NodeGone as error:
            problem, may_pass = error.problem, error.problem.kind is NodeGone.kind
        except PeerError as error:
            problem = error.problem
            may_pass = problem.kind in (PeerError.kind, NodeGone.kind)
        except (BadData, NotLeased) as error:
            is_believed = False
            problem = NodeGone(f"{member.nodes.source} is no node to trust: {error}").problem
        finally:
            if link is not None:
                has_ended = await link.close()
            is_certain = ended is not None or (has_ended and is_believed)
            self._take_back(member, is_certain=is_certain)
        return problem, may_pass

    def _take_back(self, member: Member, *, is_certain: bool) -> None:
        names = self._leases.files_of(member.number)
        leases = self._leases.lose(member.number)
        if is_certain:
            self._returned += leases.values()
        else:
            self.suspects |= names
        member.leaves()

    def _hear(self, member: Member, link: NodeLink, received: n.FromNode) -> None:
        """Raises NodeGone, NotLeased."""
        match received:
            case n.NodeGreeting():
                member.greeted(received)
                link.say(self._begin(member))
            case n.Ready(path=path, key=key):
                member.path, member.key, member.link = path, key, link
                self.ready_s = self.ready_s or self._clock()
                member.set(state="moving")
            case n.Want(wanted_bytes=wanted_bytes):
                member.wanted_bytes = wanted_bytes
            case n.Moving(number=number):
                link.say(n.StayAlive(number=number))
                member.moves(received)
            case n.Arrived(parts=parts):
                self._take(member, parts)
            case n.FileFailed(file=file, message=message):
                self._fail(member, file.part.file, message)
            case n.EpochOver():
                self._epoch(member, received)
            case n.Said(message=message):
                self._tell(f"{member.name}: {message}")

    # What has arrived, and what has failed

    def _take(self, member: Member, parts: Sequence[n.ArrivedPart]) -> None:
        """Raises NotLeased for what the node was not given, or did not prove."""
        self._arrived_s = self._clock()
        for one in parts:
            part = one.part.part
            if (self._proofs.algorithm is None) != (not one.digest):
                raise NotLeased("it reports a part without its checksum")
            self._complete |= self._leases.arrived(member.number, part)
            if member.key == self._key:
                self._proofs.keep(part, one.digest, one.seal)
            if member.key != self._key or not one.seal:
                self.of_other_agents.add(part.file.name)
            self._unnoted.append(NotedPart(part, one.digest))
            member.set(moved_bytes=member.progress.moved_bytes + part.size_bytes)

    def _fail(self, member: Member, file: FileEntry, message: str) -> None:
        complete, lot = self._leases.failed(member.number, file)
        self._complete |= complete
        self._messages[file.name] = file, message
        if lot is not None:
            self._added.append(lot)
        self._drop_what_fails()

    def _drop_what_fails(self) -> None:
        """Set aside what no node that is left could move."""
        usable = {one.number for one in self.members if one.progress.state != "ended"}
        if not usable or self._finishing.is_set():
            return
        for name in self._leases.failed_everywhere(usable):
            file, message = self._messages.pop(name)
            self._complete |= self._leases.drop(file)
            self._group.set_aside(file, message)
            self._tell(message)

    async def _note_arrivals(self) -> None:
        """Forever: keep what has arrived in the journal, and then count it."""
        while True:
            parts = list(self._unnoted)
            if parts:
                await self._journal.note(parts)
                self._group.work.done(Batch(tuple(one.part for one in parts)))
                del self._unnoted[: len(parts)]
            await asyncio.sleep(_TURN_S)

    # The queue

    async def _serve_queue(self) -> None:
        """Forever: give nodes what they ask for, and keep their leases. Raises StoreError."""
        renewed_s = shown_s = float("-inf")
        while True:
            try:
                await self.settle()
                if self._clock() >= renewed_s + n.RENEW_S:
                    renewed_s = self._clock()
                    await self._queue.renew(self._held())
                if self._clock() >= shown_s + _SHOW_S:
                    shown_s = self._clock()
                    await self._queue.show([one.shown for one in self.members])
                for member in self.members:
                    await self._supply(member)
                self._is_back()
            except QueueAway as error:
                self._is_away(str(error))
                await asyncio.sleep(_QUEUE_AGAIN_S)
            await asyncio.sleep(_TURN_S)

    async def settle(self) -> None:
        """Report to the queue what has become of lots. What it does not receive is sent again.

        After `run`, what nodes have left that ended with it. Raises StoreError, TransferFailed.
        """
        while self._added:
            lot = self._added[0]
            size_bytes = self._leases.size_of(lot)
            without = self._leases.failed_in(lot)
            await self._queue.add(lot, size_bytes, sorted(without))
            self._added.pop(0)
        if self._returned:
            returned = list(self._returned)
            await self._queue.give_back(returned)
            del self._returned[: len(returned)]
        if complete := dict(self._complete):
            accepted = await self._queue.done(complete)
            if any(lease and lot not in accepted for lot, lease in complete.items()):
                raise TransferFailed(
                    "another process has drawn pieces of this transfer",
                    remedy="see what else runs it: advisor fleet transfers",
                )
            for lot in complete:
                self._complete.pop(lot, None)

    async def _supply(self, member: Member) -> None:
        link, wanted_bytes = member.link, member.wanted_bytes
        if link is None or not wanted_bytes:
            return
        running = sum(one.link is not None for one in self.members)
        share_bytes = self._group.work.left_bytes // (_SHARES_IN_DRAW * max(1, running))
        wanted_bytes = max(1, min(wanted_bytes, share_bytes))
        lots = await self._queue.draw(member.number, wanted_bytes, self._held())
        if member.link is not link:
            self._returned += lots.values()  # It was lost meanwhile, and has not heard of them.
            return
        member.wanted_bytes = 0
        link.lease(self._leases.take(member.number, lots))

    def _held(self) -> list[int]:
        held = (self._leases.held_by(one.number).values() for one in self.members)
        return list(itertools.chain.from_iterable(held))

    def _is_back(self) -> None:
        if self._away_s is not None:
            self._tell("The database of the queue answers again.")
        self._away_s = None

    def _is_away(self, message: str) -> None:
        """Raises TransferFailed when it has been away for too long."""
        if self._away_s is None:
            self._away_s = self._clock()
            self._tell(f"{message}: nodes move what they have, and wait for the rest.")
        if self._clock() - self._away_s > self._options.retry_s:
            raise TransferFailed(message)

    async def _look_at_rates(self) -> None:
        """Forever: see how fast each node is, and share the limit among those that move something.

        By what they use of their shares: but for that the limit would be lost with a slow node.
        """
        limit_bps = self._options.rate_limit_bps
        sharing = Sharing(limit_bps) if limit_bps else None
        carried = {one.number: one.carried_bytes for one in self.members}
        at_s = self._clock()
        while True:
            await asyncio.sleep(_RATES_S)
            passed_s, at_s = self._clock() - at_s, self._clock()
            for one in self.members:
                gained = one.carried_bytes - carried[one.number]
                carried[one.number] = one.carried_bytes
                one.set(rate_bps=gained * 8 / passed_s)
            if sharing is None:
                continue
            links = {one.number: one.link for one in self.members if one.link is not None}
            held_back = {one.number for one in self.members if one.is_held_back}
            changed = sharing.changed(at_s, {one: carried[one] for one in links}, held_back)
            for number, share_bps in changed.items():
                links[number].say(n.Limit(rate_limit_bps=share_bps))


async def guarded(work: Coroutine[Any, Any, None], guard: Coroutine[Any, Any, None]) -> None:
    """Run `work` to its end, unless `guard` raises before."""
    tasks = [asyncio.create_task(work), asyncio.create_task(guard)]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in tasks:
            if task.done():
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.gather(*tasks, return_exceptions=True)
