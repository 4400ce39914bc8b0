"""An advice session over several connections of the same two hosts: several network cards.

Profiling over several physical NIC-to-NIC connections is the case of the Transport Profile
Generator that ProbData calls (ProbData 2017, section III). Each connection is searched alone; then
each at its best setting alone and all at once are measured in turns, which says what each adds.
"""

import asyncio
import itertools
from collections.abc import Sequence
from typing import Final

import numpy as np

from advisor.advising.advice import AdviceInputs
from advisor.advising.advice_session import AROUND_S, INTERRUPTED, AdviceSession
from advisor.advising.budget import Budget, default_budget_s
from advisor.advising.choosing import ranking_of
from advisor.advising.contenders import Ranking
from advisor.advising.context import Blocked, Context, OutOfTime
from advisor.advising.probe_events import ProbeEvents
from advisor.advising.probe_runner import PeerLost
from advisor.advising.prober import Probed
from advisor.advising.profiling import stages_of
from advisor.advising.recorder import ProbePurpose
from advisor.advising.searching import search_transports, usable_stages
from advisor.advising.several_advice import Searched, advice_for_several
from advisor.advising.simultaneous import Lane, measure_at_once
from advisor.agent.peer_errors import PeerError
from advisor.domain import events as ev
from advisor.domain.connection import Connection, UsableConnection
from advisor.domain.measurement import Failure, Measurement
from advisor.domain.path import PathFacts
from advisor.domain.problem import Problem
from advisor.domain.records import ProbeRecord
from advisor.models.at_once import Together, compare_at_once
from advisor.models.limits import binding_limits
from advisor.models.steadiness import probe_length
from advisor.probing.end import Spares
from advisor.runtime.connect import look_at_path
from advisor.runtime.exit_codes import EXIT_DONE, EXIT_INTERRUPTED
from advisor.runtime.interface_pairs import requests_over
from advisor.runtime.stop import Stopped, unless_stopped
from advisor.store.errors import StoreError

AT_ONCE: Final = "at once"
"""The stage in which each connection alone and all of them are measured in turns."""

_ITS_SHARE: Final = 0.75
"""Its time relative to that of the search over one connection."""

_LEAST_ROUNDS: Final = 3
_MOST_ROUNDS: Final = 8
_FAILURES: Final = 3
# Connecting and ending take time beyond what a probe may.
_LATE_S: Final = 10.0


class Rounds:
    """The throughputs of the connections in bit/s: of each alone, and of each in every measurement
    of all at once."""

    def __init__(self) -> None:
        self.alone: list[list[float]] = []
        self.at_once: list[list[float]] = []

    @property
    def measurements(self) -> int:
        """How many there are."""
        return len(self.at_once) + sum(map(len, self.alone))

    def compared(self, searched: Sequence[Searched], most_bps: float | None) -> Together:
        """What all reach together. `most_bps`: what is reserved for them.

        Where there was time for less than two rounds, what each search found alone counts too.
        """
        alone = [
            rates if len(rates) > 1 else [*one.chosen.sampled_bps, *rates]
            for rates, one in zip(self.alone, searched, strict=True)
        ]
        return compare_at_once(alone, self.at_once, most_bps)


class SeveralConnections(AdviceSession):
    """Advises on the connections of the request's `interfaces`."""

    async def _run(self) -> int:
        await self.far_end.connect()
        reached = self.far_end.reached
        requests = await requests_over(reached, self.request, self.request.interfaces)
        paths = [await look_at_path(reached, request) for request in requests]
        left_s = self._begin(paths)
        # From here on the order to stop ends the measuring, and the best so far is advised.
        self.ends_itself = True
        searched: list[Searched] = []
        rounds = Rounds()
        trouble: Problem | None = None
        try:
            left_s = await self._search_each(paths, left_s, searched)
            await self._measure_rounds(searched, rounds, left_s)
        except Stopped:
            trouble = INTERRUPTED
        except (PeerLost, PeerError, OutOfTime, StoreError, Blocked) as error:
            trouble = error.problem
            self.events.notice(str(trouble))
        return self._conclude(searched, rounds, trouble)

    def _begin(self, paths: Sequence[PathFacts]) -> float:
        """Open the session; the seconds for all probes. Raises ValueError for too few."""
        rtt_s = max(path.rtt_s for path in paths)
        parts = len(paths) + _ITS_SHARE
        total_s = self.request.budget_s or default_budget_s(rtt_s) * parts
        earlier = self.interrupted.probes if self.interrupted else []
        left_s = total_s - sum(p.result.elapsed_s for p in earlier) - self.events.at_s - AROUND_S
        shortest_s = probe_length(rtt_s).ceiling_s * parts * 2
        if total_s < shortest_s:
            raise ValueError(
                f"--budget {total_s:g} is too short for {len(paths)} connections: give at least "
                f"{shortest_s:.0f} s"
            )
        self.started(max(0.0, left_s))
        self.events.emit(
            ev.ConnectionsFound,
            connections=[
                UsableConnection(
                    connection=Connection.of(path), mtu_bytes=path.mtu_bytes, rtt_s=path.rtt_s
                )
                for path in paths
            ],
        )
        return max(0.0, left_s)

    async def _search_each(
        self, paths: Sequence[PathFacts], left_s: float, searched: list[Searched]
    ) -> float:
        """Search over one connection after the other; the seconds that are left.

        Raises Stopped, PeerLost, OutOfTime, StoreError, Blocked; `searched` then has what was done.
        """
        earlier = self.interrupted.probes if self.interrupted else []
        ordinals = itertools.count(len(earlier) + 1)
        for number, path in enumerate(paths):
            own_s = left_s / (len(paths) - number + _ITS_SHARE)
            context = self.make_context(
                path,
                Budget(own_s, self.clock),
                [probe for probe in earlier if _is_over(probe, path)],
                ordinals=ordinals,
                connection=Connection.of(path).words,
                later_s=left_s - own_s,
            )
            try:
                await self._search(context)
            finally:
                if ranking := _ranking(context):
                    searched.append(Searched(context, ranking))
            left_s = context.later_s + context.budget.left_s
        return left_s

    async def _search(self, context: Context) -> None:
        path = context.path
        self.events.emit(ev.PathFound, path=path, limits=binding_limits(path))
        past, notes = self.past(path)
        self.events.emit(ev.HistoryFound, results=past, notes=notes)
        stages = usable_stages(context)
        if len(self._contexts) == 1:
            self.record_request(path)
        if any(probe.stage == AT_ONCE for probe in context.probes):
            return  # A session that is resumed had done this.
        spaces = {stage.subject: stage.space(context) for stage in stages}
        await search_transports(context, stages, spaces)

    async def _measure_rounds(
        self, searched: Sequence[Searched], rounds: Rounds, left_s: float
    ) -> None:
        """Each alone and all at once, in turns, until it is clear whether that adds anything."""
        if len(searched) < len(self.request.interfaces):
            self.events.notice(
                "a connection gave no throughput: the others are not measured at once with it"
            )
            return
        budget = Budget(left_s, self.clock)
        for one in searched:
            one.context.budget, one.context.later_s = budget, 0.0
            rounds.alone.append([])
        began_s, spares, reason = self.events.at_s, Spares(), "interrupted"
        self.events.emit(ev.StageStarted, stage=AT_ONCE, subject="", budget_s=left_s)
        try:
            reason = await self._rounds(searched, rounds, budget, spares)
        finally:
            await spares.close()
            self.events.emit(
                ev.StageEnded,
                stage=AT_ONCE,
                reason=reason,
                probes=rounds.measurements,
                elapsed_s=self.events.at_s - began_s,
            )

    async def _rounds(
        self,
        searched: Sequence[Searched],
        rounds: Rounds,
        budget: Budget,
        spares: Spares,
    ) -> str:
        """Returns why they ended."""
        order = np.random.default_rng([self.request.seed, len(searched)])
        failures = 0
        while len(rounds.at_once) < _MOST_ROUNDS:
            for turn in order.permutation(len(searched) + 1):
                await searched[0].context.apply_orders()
                if self.control.is_skipped(AT_ONCE):
                    return "skipped"
                if budget.left_s < max(one.context.runner.next_probe_s() for one in searched):
                    return "the time is used"
                if turn < len(searched):
                    rounds.alone[turn] += await _measure_alone(searched[turn])
                elif failed := await self._measure_all(searched, rounds, budget, spares):
                    failures += 1
                    self.events.notice(f"all at once: {failed.message}")
                    if failures == _FAILURES:
                        return f"{failures} measurements of all at once failed: {failed.message}"
            if len(rounds.at_once) >= _LEAST_ROUNDS and rounds.compared(searched, None).settled:
                return f"settled after {len(rounds.at_once)} rounds"
        return f"{_MOST_ROUNDS} rounds are done"

    async def _measure_all(
        self, searched: Sequence[Searched], rounds: Rounds, budget: Budget, spares: Spares
    ) -> Failure | None:
        """All of them at once; why it failed, if it did."""
        lanes = [
            Lane(path=one.context.path, transport=one.chosen.subject, setting=one.chosen.setting)
            for one in searched
        ]
        length = probe_length(max(one.context.runner.rtt_s for one in searched))
        watcher = ProbeEvents(self.events).watcher(0)

        async def measured() -> list[Probed]:
            async with searched[0].context.runner.turn.held(watcher) as reporting:
                return await measure_at_once(self.far_end.link, spares, lanes, length, reporting)

        try:
            async with asyncio.timeout(budget.left_s + _LATE_S):
                probed = await unless_stopped(measured(), self.control.stop)
        except TimeoutError:
            raise OutOfTime("the time was used up while waiting for its turn") from None
        outcomes = [one.outcome for one in probed]
        rates = [o.throughput_bps for o in outcomes if isinstance(o, Measurement)]
        if failures := [o for o in outcomes if isinstance(o, Failure)]:
            return failures[0]
        rounds.at_once.append(rates)
        self.events.emit(
            ev.MeasuredAtOnce,
            round=len(rounds.at_once),
            throughputs_bps=rates,
            remaining_s=budget.left_s,
        )
        return None

    def _conclude(
        self, searched: Sequence[Searched], rounds: Rounds, trouble: Problem | None
    ) -> int:
        if not searched:
            probes = [probe for context in self._contexts for probe in context.probes]
            return self.end_without(probes, trouble)
        together = rounds.compared(searched, self.request.bandwidth_bps) if rounds.at_once else None
        inputs = AdviceInputs(
            session=self.id,
            request=self.request,
            pair=self.pair,
            path=searched[0].context.path,
        )
        self.give(
            advice_for_several(
                inputs, searched, together, len(rounds.at_once), incomplete=trouble is not None
            )
        )
        return EXIT_INTERRUPTED if trouble is INTERRUPTED else EXIT_DONE


async def _measure_alone(one: Searched) -> list[float]:
    """Its throughput in bit/s at its best setting; none if the probe failed."""
    purpose = ProbePurpose(stage=AT_ONCE, kind="confirm", label="alone")
    pending = await one.context.measure(one.chosen.subject, one.chosen.setting, purpose)
    await one.context.record(pending)
    outcome = pending.probed.outcome
    return [outcome.throughput_bps] if isinstance(outcome, Measurement) else []


def _ranking(context: Context) -> Ranking | None:
    """The settings of one connection, compared; None where none gave a throughput."""
    spaces = {stage.subject: stage.space(context) for stage in stages_of(context)}
    return ranking_of(context.request, context.path, context.probes, (), spaces)


def _is_over(probe: ProbeRecord, path: PathFacts) -> bool:
    """Whether it was sent between the addresses of this path."""
    known, now = probe.connection or None, Connection.of(path)
    return known is not None and (
        (known.source_address, known.destination_address)
        == (now.source_address, now.destination_address)
    )
