"""What every stage of a session works with: measuring, storing and telling, in one place."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, Protocol

import msgspec

from advisor.advising.budget import Budget
from advisor.advising.judging import comparable_outcome
from advisor.advising.prober import Probed, Prober, Watcher
from advisor.agent.client import AgentLink, PeerError, PeerGone
from advisor.agent.connect import Reached
from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.evidence import Evidence
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.path import PathFacts
from advisor.domain.records import ProbeRecord
from advisor.domain.space import Setting, Space, setting_key
from advisor.domain.transfers import PastTransfer
from advisor.methods.api import Method
from advisor.models.smoothing import smoothed
from advisor.models.steadiness import ProbeLength, probe_length
from advisor.models.transfer_heuristics import buffer_of
from advisor.runtime.connect import reach
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.runtime.round_trip import rtt_again_s
from advisor.store.history import Store

# What no other setting can mend either: it is the files' or the disks' doing.
_HOPELESS: Final = frozenset({FailureKind.NO_ACCESS, FailureKind.DISK_FULL})
# A failure of these kinds may pass; a setting the kernel refuses will be refused again.
_WORTH_A_RETRY: Final = frozenset(FailureKind) - {FailureKind.REJECTED_SETTING} - _HOPELESS
# Set-up and end of a probe, beyond its data; measured afresh with every probe.
_FIRST_OVERHEAD_S: Final = 0.3


class Stopped(Exception):
    """The user asked to stop: give the best so far."""


class PeerLost(Exception):
    """The agent is gone and could not be reached again; the message is a sentence."""


class Blocked(Exception):
    """Nothing more can be measured, whatever the setting; the message is a sentence."""


class Measurer(Protocol):
    """Measures settings of something that is not a transport: a disk, a tool."""

    def next_probe_s(self) -> float:
        """What one more probe may take."""

    async def measure(self, link: AgentLink, setting: Setting, watcher: Watcher) -> Probed:
        """One probe. Every failure is an outcome but the loss of the agent, which raises PeerGone.

        Cancelling leaves nothing running on either side, and none of its files.
        """


class ProbePurpose(msgspec.Struct, frozen=True, kw_only=True):
    """Why a setting is measured, and by whom."""

    stage: str
    kind: ev.Purpose
    label: str = ""


class Context:
    """One session's state. `publish` tells the listeners, `control` has the user's orders."""

    def __init__(
        self,
        *,
        session: str,
        request: AdviceRequest,
        pair: Pair,
        path: PathFacts,
        reached: Reached,
        store: Store,
        budget: Budget,
        publish: Callable[[ev.AnyEvent], None],
        began_s: float,
        control: Control,
        past: list[ProbeRecord],
        past_of_similar: list[ProbeRecord],
        past_transfers: list[PastTransfer],
    ) -> None:
        self.session = session
        self.request = request
        self.pair = pair
        self.path = path
        self.budget = budget
        self.past = past
        self.past_of_similar = past_of_similar
        self.past_transfers = past_transfers
        self.evidence: Evidence | None = None
        self.probes: list[ProbeRecord] = []
        self._reached = reached
        self._store = store
        self._publish = publish
        self._began_s = began_s
        self.control = control
        self._srtt_s = path.rtt_s
        self._ordinal = 0
        self._best_bps = 0.0
        self._lost = False
        self._overhead_s = _FIRST_OVERHEAD_S
        self._measurers: dict[str, Measurer] = {}
        self._prober = Prober(path.source_address, path.destination_address)

    @property
    def at_s(self) -> float:
        """Seconds since the session began."""
        return asyncio.get_running_loop().time() - self._began_s

    @property
    def length(self) -> ProbeLength:
        """How long a probe may and must last on this path, by the RTT smoothed so far."""
        return probe_length(self._srtt_s)

    def next_probe_s(self, subject: str = "") -> float:
        """What one more probe of this transport, disk or tool may take."""
        if measurer := self._measurers.get(subject):
            return measurer.next_probe_s()
        return self.length.ceiling_s + self._overhead_s

    def use(self, subject: str, measurer: Measurer) -> None:
        """Measure this subject so from now on; what is not named is a transport."""
        self._measurers[subject] = measurer

    @property
    def link(self) -> AgentLink:
        """The conversation with the agent as it stands."""
        return self._reached.link

    @property
    def stopping(self) -> bool:
        """Whether the user asked to stop."""
        return self.control.stop.is_set()

    def tell(self, event: type[ev.Event], **fields: Any) -> None:
        """Publish an event of this moment."""
        made: Any = event(at_s=self.at_s, **fields)
        self._publish(made)

    async def close(self) -> None:
        """End the conversation with the agent and the spare child."""
        await self._prober.close()
        await self._reached.link.close()

    @contextlib.asynccontextmanager
    async def stage(
        self, name: str, transport: str, budget_s: float, space: Space | None = None
    ) -> AsyncIterator["StageEnd"]:
        """A run of probes, told when it begins and, on every way out, when and why it ended."""
        began_s, before = self.at_s, len(self.probes)
        self.tell(ev.StageStarted, stage=name, transport=transport, budget_s=budget_s, space=space)
        stage_end = StageEnd()
        try:
            yield stage_end
        except PeerLost as lost:
            stage_end.reason = str(lost)
            raise
        finally:
            self.tell(
                ev.StageEnded,
                stage=name,
                reason=stage_end.reason,
                probes=len(self.probes) - before,
                elapsed_s=self.at_s - began_s,
            )

    async def measure(
        self, transport: str, setting: Setting, purpose: ProbePurpose
    ) -> "PendingProbe":
        """One probe, told, with one retry, not stored yet. Raises Stopped, PeerLost, StoreError.

        It is stored with `keep`, after the method has been told.
        """
        self._ordinal += 1
        ordinal = self._ordinal
        self.tell(
            ev.ProbeStarted,
            ordinal=ordinal,
            stage=purpose.stage,
            purpose=purpose.kind,
            transport=transport,
            setting=setting,
            label=purpose.label,
        )
        probed = await self._probe(ordinal, transport, setting)
        if isinstance(probed.outcome, Failure) and probed.outcome.kind in _WORTH_A_RETRY:
            await self.keep(
                PendingProbe(ordinal, transport, setting, purpose, probed), retried=True
            )
            probed = await self._probe(ordinal, transport, setting)
        return PendingProbe(ordinal, transport, setting, purpose, probed)

    async def apply_orders(self) -> None:
        """More time, and pauses. Raises Stopped."""
        if by_s := self.control.take_extension_s():
            self.budget.extend(by_s)
            self.tell(ev.BudgetExtended, by_s=by_s, left_s=self.budget.left_s)
        if self.control.paused and not self.stopping:
            began_s = self.at_s
            self.tell(ev.Paused)
            await self.control.wait_while_paused()
            self.budget.give_back(self.at_s - began_s)
            self.tell(ev.WentOn)
        if self.stopping:
            raise Stopped

    async def _probe(self, ordinal: int, transport: str, setting: Setting) -> Probed:
        """One probe, given up at once when the user stops; a lost agent is reached again before."""
        if self.stopping:
            raise Stopped
        if self._lost:
            await self._reach_again()
        measuring = asyncio.create_task(
            self._measure_once(transport, setting, self._watcher(ordinal))
        )
        stopping = asyncio.create_task(self.control.stop.wait())
        try:
            await asyncio.wait((measuring, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not measuring.done():
                raise Stopped
            probed = measuring.result()
        except PeerGone as gone:
            self._lost = True
            return Probed(
                Failure(kind=FailureKind.PEER_GONE, message=str(gone), elapsed_s=0.0), b""
            )
        finally:
            stopping.cancel()
            measuring.cancel()
            await asyncio.wait((measuring, stopping))
        self.budget.give_back(probed.waited_s)
        of_transport = transport not in self._measurers
        if of_transport and isinstance(probed.outcome, Measurement) and probed.outcome.intervals:
            data_s = probed.outcome.intervals[-1].end_s
            self._overhead_s = max(0.0, probed.outcome.elapsed_s - data_s)
        return probed

    async def _measure_once(self, subject: str, setting: Setting, watcher: Watcher) -> Probed:
        link = self._reached.link
        if measurer := self._measurers.get(subject):
            return await measurer.measure(link, setting, watcher)
        return await self._prober.measure(link, subject, setting, self.length, watcher)

    def _watcher(self, ordinal: int) -> Watcher:
        def seen(interval: Interval) -> None:
            self.tell(
                ev.IntervalSeen,
                ordinal=ordinal,
                start_s=interval.start_s,
                end_s=interval.end_s,
                received_bytes=interval.received_bytes,
                throughput_bps=interval.throughput_bps,
            )

        return Watcher(seen, lambda ahead: self.tell(ev.Waiting, ahead=ahead))

    async def _reach_again(self) -> None:
        await self._reached.link.close()
        self.tell(ev.Notice, message="the agent was lost: reaching it again")
        try:
            self._reached = await reach(self.request)
        except PeerError as error:
            raise PeerLost(f"the agent was lost and cannot be reached again: {error}") from None
        self._lost = False

    async def keep(
        self, pending: "PendingProbe", *, method: Method | None = None, retried: bool = False
    ) -> None:
        """Store a probe and tell that it ended; `method`: the search that was told of it.

        Raises StoreError when the store cannot take it, Blocked after a failure that any other
        setting would meet too.
        """
        outcome = pending.probed.outcome
        record = ProbeRecord(
            pair=self.pair,
            subject=pending.transport,
            setting=pending.setting,
            result=outcome,
            recorded_s=time.time(),
            session=self.session,
            stage=pending.purpose.stage,
            purpose=pending.purpose.kind,
            label=pending.purpose.label,
            method=self.request.method,
            seed=self.request.seed,
            method_state=method.state() if method else None,
            recommended=_beyond_the_best(method) if method else None,
            rtt_s=self._srtt_s,
            mtu_bytes=self.path.mtu_bytes,
            bandwidth_bps=self.path.bandwidth_bps,
            buffer_bytes=buffer_of(self.path),
            **self._files_moved(pending.transport),
        )
        self.probes.append(record)
        name = f"{pending.ordinal:04d}{'-first-try' if retried else ''}"
        await asyncio.to_thread(self._store_probe, record, name, pending.probed.raw_output)
        self.tell(
            ev.ProbeEnded,
            ordinal=pending.ordinal,
            stage=pending.purpose.stage,
            purpose=pending.purpose.kind,
            transport=pending.transport,
            setting=pending.setting,
            result=outcome,
            remaining_s=self.budget.left_s,
            label=pending.purpose.label,
            retried=retried,
        )
        self._tell_best(pending, comparable_outcome(self.request, pending.transport, outcome))
        if isinstance(outcome, Failure) and self._is_hopeless(pending, outcome, retried):
            raise Blocked(outcome.message)

    def _is_hopeless(self, pending: "PendingProbe", failure: Failure, retried: bool) -> bool:
        """Whether every other setting would fail too. A tool's server may be started once more."""
        is_gone = failure.kind is FailureKind.REFUSED and pending.transport in self._measurers
        return failure.kind in _HOPELESS or (is_gone and not retried)

    def _files_moved(self, subject: str) -> dict[str, Any]:
        """What a record says of the files; nothing where none were moved."""
        dataset = self.request.dataset
        if subject != self.request.tool or dataset is None or not dataset.files:
            return {}
        return {"file_bytes": dataset.total_bytes / dataset.files, "files": dataset.files}

    def _store_probe(self, record: ProbeRecord, name: str, raw: bytes) -> None:
        self._store.append(record)
        if raw:
            self._store.keep_raw(self.pair, self.session, name, raw)

    def _tell_best(self, pending: "PendingProbe", outcome: Outcome | None) -> None:
        if isinstance(outcome, Measurement) and outcome.throughput_bps > self._best_bps:
            self._best_bps = outcome.throughput_bps
            self.tell(
                ev.BestChanged,
                transport=pending.transport,
                setting=pending.setting,
                throughput_bps=outcome.throughput_bps,
            )

    def resume_from(self, probes: list[ProbeRecord]) -> None:
        """Go on from the probes of an interrupted session."""
        self.probes = list(probes)
        self._ordinal = len(probes)

    async def update_rtt(self) -> None:
        """One more look at the idle path's round trip, into the smoothed one."""
        if self.request.rtt_s:
            return
        rtt_s = await rtt_again_s(self._reached, self.path)
        if rtt_s is not None:  # One lost packet tells nothing about the round trip.
            self._srtt_s = smoothed(self._srtt_s, rtt_s)

    def has_measured(self, transport: str, setting: Setting) -> bool:
        """Whether this session has a throughput of this setting."""
        key = setting_key(setting)
        return any(
            p.subject == transport
            and setting_key(p.setting) == key
            and isinstance(p.result, Measurement)
            for p in self.probes
        )


class StageEnd:
    """Why a stage ended: its own word, or that it was cut short."""

    reason = "interrupted"


def _beyond_the_best(method: Method) -> tuple[Setting, float] | None:
    """What the search recommends, where that is not just its best measurement."""
    recommended = method.recommended()
    return recommended if recommended != method.best() else None


class PendingProbe(msgspec.Struct, frozen=True):
    """A probe that has been made and is not stored yet."""

    ordinal: int
    transport: str
    setting: Setting
    purpose: ProbePurpose
    probed: Probed
