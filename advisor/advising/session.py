"""A session from its question to its end: the order of things, and what happens when one fails."""

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

import msgspec

from advisor import registry
from advisor.advising.advice import AdviceInputs, advice_from_history, advice_from_ranking
from advisor.advising.budget import Budget, default_budget_s
from advisor.advising.confirming import confirm
from advisor.advising.contenders import contenders, rank_contenders
from advisor.advising.context import Blocked, Context, PeerLost, Stopped
from advisor.advising.disk_to_disk import DiskToDisk
from advisor.advising.judging import comparable, least_spread
from advisor.advising.profiling import (
    CONFIRM,
    SearchStage,
    TransportStage,
    measure_baselines,
    profile,
    stages_of,
)
from advisor.agent.client import PeerError
from advisor.agent.connect import Reached
from advisor.agent.secret import BadSecret
from advisor.api.tool import Kept
from advisor.domain import events as ev
from advisor.domain.advice import Advice
from advisor.domain.measurement import Failure
from advisor.domain.path import PathFacts
from advisor.domain.records import AdviceRecord, ClosingRecord, ProbeRecord, SessionRecord
from advisor.domain.space import Space
from advisor.models.limits import binding_limits
from advisor.runtime.connect import look_at_path, pair_of, reach
from advisor.runtime.control import Control
from advisor.runtime.request import AdviceRequest
from advisor.store.errors import StoreError
from advisor.store.event_log import EventLog
from advisor.store.history import Store

EXIT_ADVICE: Final = 0
EXIT_NOTHING_USABLE: Final = 1
EXIT_USAGE: Final = 2
EXIT_PEER: Final = 3
EXIT_INTERRUPTED: Final = 130

# How the time is shared: what is left over by one goes to the next. Confirmation gets what the
# rounds of four or five contenders need; TCP has the larger space.
_CONFIRM_SHARE: Final = 0.38
_STAGE_WEIGHT: Final = {"tcp": 3.0, "udt": 2.0}

# Starting the program, and giving the advice: within the budget too, as the user's watch has it.
_AROUND_S: Final = 1.0

Publish = Callable[[ev.AnyEvent], None]
AcceptHistory = Callable[[list[ev.PastResult]], Awaitable[bool]]


class Interrupted(msgspec.Struct, frozen=True):
    """A session to go on with: its record, and its probes."""

    record: SessionRecord
    probes: list[ProbeRecord]


async def advise(
    request: AdviceRequest,
    *,
    store: Store,
    publish: Publish,
    control: Control,
    accept_history: AcceptHistory,
    interrupted: Interrupted | None = None,
) -> int:
    """Run a session to its last event, `advice` or `gave_up`; returns the exit code.

    `accept_history` is asked when there are stored results and the request does not say itself.
    """
    session = _Session(request, store, publish, control, accept_history, interrupted)
    try:
        return await session.run()
    except (PeerError, PeerLost) as error:
        return session.give_up(str(error), EXIT_PEER)
    except BadSecret as error:
        return session.give_up(f"--secret-file {request.secret_file} {error}", EXIT_USAGE)
    except StoreError as error:
        return session.give_up(str(error), EXIT_NOTHING_USABLE)
    except ValueError as error:
        return session.give_up(str(error), EXIT_USAGE)
    except Stopped:
        return session.give_up("interrupted before anything was measured", EXIT_INTERRUPTED)
    finally:
        await asyncio.shield(session.close())


class _Session:
    def __init__(
        self,
        request: AdviceRequest,
        store: Store,
        publish: Publish,
        control: Control,
        accept_history: AcceptHistory,
        interrupted: Interrupted | None,
    ) -> None:
        self._request = request
        self._store = store
        self._publish = publish
        self._control = control
        self._accept_history = accept_history
        self._interrupted = interrupted
        self._id = interrupted.record.session if interrupted else _new_id()
        self._pair = interrupted.record.pair if interrupted else pair_of(request)
        self._clock = asyncio.get_running_loop().time
        self._began_s = self._clock()
        self._reached: Reached | None = None
        self._context: Context | None = None
        self._log: EventLog | None = None

    def _hear(self, event: ev.AnyEvent) -> None:
        if self._log:
            self._log(event)
        self._publish(event)

    def _tell(self, event: type[ev.Event], **fields: Any) -> None:
        made: Any = event(at_s=self._clock() - self._began_s, **fields)
        self._hear(made)

    def give_up(self, message: str, exit_code: int) -> int:
        """The last event of a session without advice."""
        self._tell(ev.GaveUp, message=message, exit_code=exit_code)
        return exit_code

    async def close(self) -> None:
        """Leave nothing running on either side, and nothing open."""
        if self._log:
            self._log.close()
        if self._context:
            await self._context.close()
        elif self._reached:
            await self._reached.link.close()

    async def run(self) -> int:
        past = self._past(None)
        if self._request.accept_history and past:
            stored_path = self._stored_path()
            if stored_path:
                return self._advise_from_history(stored_path, past)
        self._reached = await self._unless_stopped(reach(self._request))
        path = await self._unless_stopped(look_at_path(self._reached, self._request))
        context = self._begin(self._reached, path)
        self._tell(ev.PathFound, path=path, limits=binding_limits(path))
        stored, past = past, self._past(path.rtt_s)
        self._tell(ev.HistoryFound, results=past)
        if stored and not past:
            self._tell(
                ev.Notice,
                message="what is stored of this pair is of a path with another round-trip time: "
                "it is left out",
            )
        if past and not self._interrupted and await self._is_history_enough(past):
            return self._advise_from_history(path, past)
        return await self._measure(context, path, past)

    def _past(self, rtt_s: float | None) -> list[ev.PastResult]:
        """What is stored of this pair for what the session is about."""
        tool = self._request.tool
        names = {tool} if tool else {transport.name for transport in registry.transports()}
        found = self._store.best(self._pair, time.time(), rtt_s)
        return [result for result in found if result.transport in names]

    async def _unless_stopped(self, waiting: Awaitable[Any]) -> Any:
        """What is awaited, unless the user asks to stop first."""
        task = asyncio.ensure_future(waiting)
        stopping = asyncio.ensure_future(self._control.stop.wait())
        try:
            await asyncio.wait((task, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Stopped
            return task.result()
        finally:
            stopping.cancel()
            task.cancel()
            await asyncio.wait((task, stopping))

    def _stored_path(self) -> PathFacts | None:
        records = self._store.records(self._pair)
        paths = [r.path for r in records if isinstance(r, SessionRecord)]
        return paths[-1] if paths else None

    async def _is_history_enough(self, past: list[ev.PastResult]) -> bool:
        if self._request.accept_history:
            return True
        began_s = self._clock()
        accepted = await self._unless_stopped(self._accept_history(past))
        if self._context:
            self._context.budget.give_back(self._clock() - began_s)
        return bool(accepted)

    def _begin(self, reached: Reached, path: PathFacts) -> Context:
        """Open the session: its budget, its first event."""
        spent_s = sum(p.result.elapsed_s for p in self._probes_before())
        total_s = self._request.budget_s or default_budget_s(
            path.rtt_s, files=self._request.tool is not None
        )
        spent_s += self._clock() - self._began_s + _AROUND_S
        budget = Budget(total_s, self._clock, spent_s)
        self._context = context = Context(
            session=self._id,
            request=self._request,
            pair=self._pair,
            path=path,
            reached=reached,
            store=self._store,
            budget=budget,
            publish=self._hear,
            began_s=self._began_s,
            control=self._control,
            past=self._store.prior(self._pair, path.rtt_s),
            past_of_similar=self._store.prior_of_similar(
                self._pair, path.rtt_s, path.bandwidth_bps
            ),
            past_transfers=self._store.transfers(),
        )
        if context.next_probe_s() > total_s:
            raise ValueError(
                f"--budget {total_s:g} is too short for one probe at this round-trip time: "
                f"give at least {context.next_probe_s() * 4:.0f} s"
            )
        context.resume_from(self._probes_before())
        self._log = self._store.event_log(self._pair, self._id)
        self._tell(
            ev.SessionStarted,
            session=self._id,
            pair=self._pair,
            method=self._request.method,
            seed=self._request.seed,
            budget_s=budget.left_s,
            resumed=self._interrupted is not None,
        )
        return context

    def _probes_before(self) -> list[ProbeRecord]:
        return self._interrupted.probes if self._interrupted else []

    async def _measure(self, context: Context, path: PathFacts, past: list[ev.PastResult]) -> int:
        disks = await DiskToDisk.prepared(context) if self._request.tool else None
        stages: Sequence[SearchStage] = (
            [disks.stage] if disks else self._usable(context, stages_of(context))
        )
        self._record_question(path)
        spaces = {stage.subject: stage.space(context) for stage in stages}
        trouble = ""
        try:
            if disks:
                await disks.measure_subsystems()
            await measure_baselines(context, stages)
            await self._profile_all(context, stages)
            if disks:
                disks.lengthen()
            await confirm(context, past, spaces)
        except Stopped:
            trouble = "interrupted"
        except (PeerLost, StoreError, Blocked) as error:
            trouble = str(error)
            self._tell(ev.Notice, message=trouble)
        finally:
            if disks:
                await disks.close()
        kept = disks.prober.kept if disks else None
        return self._conclude(context, path, past, spaces, trouble, kept)

    def _record_question(self, path: PathFacts) -> None:
        """What a resumed session needs, once it is clear that there is something to measure."""
        if self._interrupted:
            return
        record = SessionRecord(
            session=self._id,
            pair=self._pair,
            recorded_s=time.time(),
            request=msgspec.to_builtins(self._request),
            path=path,
        )
        self._store.append(record)

    def _usable(self, context: Context, stages: list[TransportStage]) -> list[TransportStage]:
        """The stages whose transport is here; the others are named with the remedy."""
        usable = []
        for stage in stages:
            name, availability = stage.transport.name, stage.transport.available()
            if not availability.ok:
                missing = f"{availability.reason} ({availability.remedy})"
            elif context.path.receivable is not None and name not in context.path.receivable:
                missing = "the destination cannot receive it (run 'advisor doctor' there)"
            else:
                usable.append(stage)
                continue
            self._tell(ev.Notice, message=f"{name} is left out: {missing}")
        if not usable:
            raise ValueError("no transport can be measured: run 'advisor doctor' on both hosts")
        return usable

    async def _profile_all(self, context: Context, stages: Sequence[SearchStage]) -> None:
        """Each stage until its share of the time is used; a resumed session skips finished ones."""
        confirm_s = _CONFIRM_SHARE * context.budget.left_s
        if any(p.stage == CONFIRM for p in context.probes):
            return
        weights = [_STAGE_WEIGHT.get(stage.subject, 2.0) for stage in stages]
        for number, stage in enumerate(stages):
            searching_s = max(0.0, context.budget.left_s - confirm_s)
            share = weights[number] / sum(weights[number:])
            await profile(context, stage, context.budget.left_s - share * searching_s)

    def _conclude(
        self,
        context: Context,
        path: PathFacts,
        past: list[ev.PastResult],
        spaces: dict[str, Space],
        trouble: str,
        kept: Kept | None,
    ) -> int:
        compared = comparable(self._request, context.probes)
        ranking = rank_contenders(
            contenders(compared, past, spaces), spaces, least_spread(self._request)
        )
        if ranking is None:
            return self._end_without(context, trouble)
        inputs = AdviceInputs(
            session=self._id,
            request=self._request,
            pair=self._pair,
            path=path,
            past=past,
            probes=context.probes,
            kept=kept,
        )
        advice = advice_from_ranking(inputs, ranking, incomplete=bool(trouble))
        self._give(advice)
        return EXIT_INTERRUPTED if trouble == "interrupted" else EXIT_ADVICE

    def _end_without(self, context: Context, trouble: str) -> int:
        if trouble == "interrupted":
            return self.give_up("interrupted before anything was measured", EXIT_INTERRUPTED)
        if trouble and not self._request.tool:
            return self.give_up(trouble, EXIT_PEER)
        failures = [p.result.message for p in context.probes if isinstance(p.result, Failure)]
        last = f", the last one: {failures[-1]}" if failures else ""
        message = trouble or f"no probe gave a throughput{last}"
        self._store.append(
            ClosingRecord(
                session=self._id,
                pair=self._pair,
                recorded_s=time.time(),
                outcome="nothing usable",
                message=message,
            )
        )
        return self.give_up(message, EXIT_NOTHING_USABLE)

    def _advise_from_history(self, path: PathFacts, past: list[ev.PastResult]) -> int:
        inputs = AdviceInputs(
            session=self._id, request=self._request, pair=self._pair, path=path, past=past
        )
        self._give(advice_from_history(inputs))
        return EXIT_ADVICE

    def _give(self, advice: Advice) -> None:
        """Store the advice and tell it. A store that is full does not withhold it from the user."""
        try:
            self._store.append(AdviceRecord(pair=self._pair, recorded_s=time.time(), advice=advice))
        except StoreError as error:
            self._tell(ev.Notice, message=f"the advice could not be stored: {error}")
        fields = {name: getattr(advice, name) for name in advice.__struct_fields__}
        self._hear(ev.AdviceGiven(at_s=self._clock() - self._began_s, **fields))


def _new_id() -> str:
    """Sorts by time, and two begun in the same second differ."""
    return f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
