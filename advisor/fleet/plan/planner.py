"""Decides which pair of a fleet is measured next. Pure: the time is an argument."""

import heapq
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from advisor.fleet.plan.availability import Hosts, Resources, Wakes
from advisor.fleet.plan.fleet import Fleet, signatures
from advisor.fleet.plan.lattice import BLOCKED, Due, Lattice, Times, Zones, pair_matrix, using
from advisor.fleet.plan.turns import Known, KnownPair, News, Reason, Result, Turn, Wait
from advisor.fleet.plan.worth import (
    BUSY_S,
    HEAD_START_S,
    LEAD_S,
    RECHECK_S,
    RECHECKS,
    STEP,
    Kinds,
    Pairs,
    first_due_s,
    known_steps,
    next_due_s,
    retry_after_s,
)

_NEVER: Final = float("inf")
_REASONS: Final = tuple(Reason)
_NUMBERS: Final = {reason: number for number, reason in enumerate(_REASONS)}
_OF_NEWS: Final = {"suspected": Reason.SUSPECTED, "changed": Reason.CHANGED}


class Planner:
    """Hands out turns. Times are in Unix time and never go back; hosts and tasks are numbers.

    `start_s`: since when pairs that are not known belong to the fleet. `rng` spreads the times of
    later measurements. What it hands out is held until `finished` or `failed` is called with it.
    """

    def __init__(
        self,
        fleet: Fleet,
        start_s: float,
        rng: np.random.Generator,
        known: Known | None = None,
    ) -> None:
        self._fleet = fleet
        self._start_s = start_s
        self._rng = rng
        self._hosts = Hosts(fleet)
        self._resources = Resources(fleet)
        self._kinds = Kinds(fleet)
        self._wakes = Wakes(len(fleet.hosts) + len(fleet.resources))
        self._timers: list[tuple[float, int, int, int, Reason]] = []
        self._not_before: dict[tuple[int, int, int], float] = {}
        self._turns = 0
        self._shared: dict[tuple[int, int], list[int]] = {}
        zones = self._zones = Zones(signatures(fleet), self._kinds.of_host)
        self._crossing = _crossing(fleet, zones)
        self._blocked = [np.zeros((len(zones), len(zones))) for _ in fleet.tasks]
        self._open = [[True] * len(fleet.tasks) for _ in fleet.resources]
        number = len(fleet.hosts)
        self._last = [np.full((number, number), -_NEVER) for _ in fleet.tasks]
        self._failures = [np.zeros((number, number), dtype=np.uint8) for _ in fleet.tasks]
        self._checks = [np.zeros((number, number), dtype=np.uint8) for _ in fleet.tasks]
        self._why = [
            np.full((number, number), _NUMBERS[Reason.NEVER], dtype=np.uint8) for _ in fleet.tasks
        ]
        self._lattices = [
            Lattice(self._first_times(task), zones) for task in range(len(fleet.tasks))
        ]
        self._plan_traffic()
        self._learn(known or Known())
        self._look(range(number + len(fleet.resources)), start_s)

    def _first_times(self, task: int) -> Times:
        """As if every pair belonged to the fleet from the start and nothing were known."""
        every_s = self._fleet.tasks[task].every_s
        pairs = pair_matrix(self._fleet.tasks[task], len(self._fleet.hosts))
        order = self._rng.random(pairs.shape) * (every_s * STEP)
        return np.where(pairs, first_due_s(self._start_s, every_s, 0.0) + order, _NEVER)

    def _plan_traffic(self) -> None:
        for one in self._fleet.planned:
            for task, lattice in enumerate(self._lattices):
                if lattice.due_s(one.source, one.destination) < _NEVER:
                    timer = (one.at_s - LEAD_S, task, one.source, one.destination, Reason.PLANNED)
                    if one.at_s > self._start_s:
                        heapq.heappush(self._timers, timer)

    def _learn(self, known: Known) -> None:
        self._turns = known.running
        self._learn_pairs(known.pairs)
        for one in sorted(known.traffic, key=lambda t: t.ended_s):
            for host in (one.source, one.destination):
                self._hosts.ledgers[host].end(0.0, one.moved_bytes, one.ended_s)
            for resource in self._fleet.used_resources(one.source, one.destination):
                self._resources.book(resource, one.moved_bytes, one.ended_s)
        for host in known.held:
            self._hosts.hold(host)
        for resource, times in known.resources.items():
            self._resources.occupy(resource, times)
        for host, (times, failed_s) in known.down.items():
            self._hosts.failed(host, failed_s, times)

    def _learn_pairs(self, pairs: Sequence[KnownPair]) -> None:
        """As if the last result of each had come in, and its last failure after it, in this order:
        but all pairs of a task at once, since a planner is made for each decision of a worker."""
        tasks = np.array([pair.task for pair in pairs], dtype=np.int64)
        sources = np.array([pair.source for pair in pairs], dtype=np.int64)
        destinations = np.array([pair.destination for pair in pairs], dtype=np.int64)
        last_s = np.array([pair.last_s for pair in pairs], dtype=np.float64)
        belongs = np.zeros(len(pairs), dtype=np.bool_)
        for task, lattice in enumerate(self._lattices):
            own = tasks == task
            belongs[own] = lattice.due_times(sources[own], destinations[own]) < _NEVER
        measured = np.flatnonzero(belongs & ~np.isnan(last_s))
        random = self._rng.random(len(measured))
        for task in range(len(self._lattices)):
            own = tasks[measured] == task
            chosen = measured[own]
            self._learn_results(
                task,
                [pairs[n] for n in chosen.tolist()],
                (sources[chosen], destinations[chosen]),
                last_s[chosen],
                random[own],
            )
        for pair, is_ours in zip(pairs, belongs.tolist(), strict=True):
            if is_ours and (pair.failures or pair.gave_way or pair.checks or pair.news != "none"):
                self._learn_trouble(pair)

    def _learn_results(
        self,
        task: int,
        pairs: Sequence[KnownPair],
        ends: Pairs,
        last_s: Times,
        random: Times,
    ) -> None:
        rates_bps = np.array([pair.rate_bps for pair in pairs], dtype=np.float64)
        rtts_s = np.array([pair.rtt_s for pair in pairs], dtype=np.float64)
        alike = self._kinds.learn_all(task, ends, rates_bps, rtts_s)
        self._postpone_waiting(task, ends)
        every_s = self._fleet.tasks[task].every_s
        self._lattices[task].set_due_times(*ends, next_due_s(last_s, every_s, alike, random))
        self._last[task][ends] = last_s
        self._why[task][ends] = _NUMBERS[Reason.AGE]

    def _postpone_waiting(self, task: int, ends: Pairs) -> None:
        """These were measured: others of their kinds that were not are less urgent."""
        every_s = self._fleet.tasks[task].every_s
        waiting = pair_matrix(self._fleet.tasks[task], len(self._fleet.hosts))
        waiting[ends] = False
        sources, destinations = np.nonzero(waiting)
        for source_kind, kind, measured in self._kinds.known_in_part(task, (sources, destinations)):
            for before, after in known_steps(measured):
                before_s, after_s = (
                    first_due_s(self._start_s, every_s, known) for known in (before, after)
                )
                period_s = before_s, before_s + STEP * every_s
                self._lattices[task].postpone(source_kind, kind, period_s, after_s - before_s)

    def _learn_trouble(self, pair: KnownPair) -> None:
        """Changes that are to be looked at again, and what ended without a result since then."""
        where = pair.source, pair.destination
        checks = min(pair.checks, RECHECKS)
        if pair.last_s is not None:
            if pair.news in _OF_NEWS and checks < RECHECKS:
                checks += 1
                again_s = pair.last_s + RECHECK_S
                heapq.heappush(self._timers, (again_s, pair.task, *where, _OF_NEWS[pair.news]))
            else:
                checks = 0
        if checks:
            self._checks[pair.task][where] = checks
        if pair.failures:
            self._failures[pair.task][where] = min(pair.failures, 255) - 1
            self._fail_pair(pair.task, *where, pair.failed_s)
        if pair.gave_way:
            self._gave_way(pair)

    def next(self, now_s: float) -> Turn | Wait:
        """The pair to measure now, which is then held, or until when nothing is due."""
        self._look(self._wakes.due(now_s), now_s)
        self._ring(now_s)
        at_once = self._fleet.limits.at_once
        if at_once is not None and self._turns >= at_once:
            return Wait(_NEVER)
        task, due = self._first()
        if due is None or due.due_s > now_s:
            waking_s = min(self._wakes.next_s, self._next_timer_s)
            return Wait(min(waking_s, due.due_s if due else _NEVER))
        return self._begin(task, due, now_s)

    def _first(self) -> tuple[int, Due | None]:
        """The pair that is due first, and its task."""
        found: tuple[int, Due | None] = 0, None
        for task, lattice in enumerate(self._lattices):
            due = lattice.first(self._blocked[task])
            if due is not None and (found[1] is None or due.due_s < found[1].due_s):
                found = task, due
        return found

    def _begin(self, task: int, due: Due, now_s: float) -> Turn:
        source, destination = due.source, due.destination
        last_s = float(self._last[task][source, destination])
        turn = Turn(
            task=task,
            source=source,
            destination=destination,
            reason=_REASONS[self._why[task][source, destination]],
            due_s=due.due_s,
            last_s=last_s if last_s > -_NEVER else None,
            most_bytes=self._fleet.tasks[task].most_bytes(
                self._fleet.rate_bps(source, destination)
            ),
        )
        self._turns += 1
        for host in (source, destination):
            self._hosts.ledgers[host].begin(turn.most_bytes)
            self.hold(host)
        for resource in self._used(turn):
            self._resources.take(resource, turn.most_bytes)
            self._look_at_resource(resource, now_s)
        return turn

    def due_s(self, task: int, source: int, destination: int) -> float:
        """When a pair is due, the head start of urgent reasons included; infinite for none."""
        return self._lattices[task].due_s(source, destination)

    def hold(self, host: int) -> None:
        """Somebody uses a host: it is not measured until `free`."""
        self._hosts.hold(host)
        for lattice in self._lattices:
            lattice.remove(host)

    def free(self, host: int, now_s: float) -> None:
        """What `hold` said is over."""
        self._hosts.free(host)
        self._look_at_host(host, now_s)

    def finished(self, turn: Turn, result: Result, now_s: float) -> None:
        """A turn ended with a result. `moved_bytes` must not exceed the turn's `most_bytes`."""
        for host in (turn.source, turn.destination):
            self._hosts.answered(host)
        where = turn[:3]
        self._measured(*where, now_s, result.rate_bps, result.rtt_s, result.news)
        self._end(turn, result.moved_bytes, now_s)

    def failed(
        self, turn: Turn, now_s: float, *, unreachable: int | None = None, moved_bytes: float = 0.0
    ) -> None:
        """A turn ended without a result. `unreachable`: the host that did not answer, if any.

        The pair is tried again after a while in any case: a host that only one other host cannot
        reach must not be taken for one that is down.
        """
        if unreachable is not None:
            self._hosts.failed(unreachable, now_s)
        self._fail_pair(turn.task, turn.source, turn.destination, now_s)
        self._end(turn, moved_bytes, now_s)

    def _fail_pair(self, task: int, source: int, destination: int, now_s: float) -> None:
        failures = min(int(self._failures[task][source, destination]) + 1, 255)
        self._failures[task][source, destination] = failures
        limits = self._fleet.limits
        wait_s = retry_after_s(failures, limits.retry_s, limits.retry_most_s)
        self._set_due(task, source, destination, now_s + wait_s, Reason.RETRY)
        self._hold_back((task, source, destination), now_s + wait_s)

    def _gave_way(self, pair: KnownPair) -> None:
        """It is due for the same reason as before, but not at once."""
        where = pair.source, pair.destination
        wait_s = retry_after_s(pair.gave_way, BUSY_S, self._fleet.limits.retry_most_s)
        again_s = pair.gave_way_s + wait_s
        due_s = max(again_s, self.due_s(pair.task, *where))
        self._lattices[pair.task].set_due(*where, due_s)
        self._hold_back((pair.task, *where), again_s)

    def _hold_back(self, pair: tuple[int, int, int], until_s: float) -> None:
        """Whatever is urgent about a pair of a task waits until then, or its next result."""
        self._not_before[pair] = max(until_s, self._not_before.get(pair, until_s))

    def _measured(
        self,
        task: int,
        source: int,
        destination: int,
        now_s: float,
        rate_bps: float | None,
        rtt_s: float | None,
        news: News,
    ) -> None:
        pair = source, destination
        if self._last[task][pair] == -_NEVER:
            self._measured_first(task, *pair)
        self._last[task][pair] = now_s
        self._not_before.pop((task, *pair), None)
        self._failures[task][pair] = 0
        alike = self._kinds.likeness(task, *pair, rate_bps, rtt_s)
        if rate_bps and rtt_s:
            self._kinds.learn(task, *pair, rate_bps, rtt_s)
        every_s = self._fleet.tasks[task].every_s
        due_s = next_due_s(now_s, every_s, alike, self._rng.random())
        self._set_due(task, *pair, due_s, Reason.AGE)
        checks = int(self._checks[task][pair])
        if news in _OF_NEWS and checks < RECHECKS:
            self._checks[task][pair] = checks + 1
            heapq.heappush(self._timers, (now_s + RECHECK_S, task, *pair, _OF_NEWS[news]))
        elif checks:
            self._checks[task][pair] = 0

    def _measured_first(self, task: int, source: int, destination: int) -> None:
        """More is known of its kind: others of it that were never measured are less urgent."""
        before_s = self._waiting_due_s(task, source, destination)
        self._kinds.measured_first(task, source, destination)
        after_s = self._waiting_due_s(task, source, destination)
        if before_s < after_s:
            kinds = self._kinds.of_host
            period_s = before_s, before_s + STEP * self._fleet.tasks[task].every_s
            self._lattices[task].postpone(
                kinds[source], kinds[destination], period_s, after_s - before_s
            )

    def _waiting_due_s(self, task: int, source: int, destination: int) -> float:
        """When pairs like this one are due that were never measured."""
        known = self._kinds.resemblance(task, source, destination)
        return first_due_s(self._start_s, self._fleet.tasks[task].every_s, known)

    def _set_due(self, task: int, source: int, destination: int, due_s: float, why: Reason) -> None:
        self._why[task][source, destination] = _NUMBERS[why]
        self._lattices[task].set_due(source, destination, due_s)

    def _end(self, turn: Turn, moved_bytes: float, now_s: float) -> None:
        self._turns -= 1
        for resource in self._used(turn):
            self._resources.give_back(resource, turn.most_bytes, moved_bytes, now_s)
            self._look_at_resource(resource, now_s)
        for host in (turn.source, turn.destination):
            self._hosts.ledgers[host].end(turn.most_bytes, moved_bytes, now_s)
            self.free(host, now_s)

    def _used(self, turn: Turn) -> list[int]:
        """The resources that a turn uses: the same for all pairs of two zones."""
        zones = self._zones
        between = zones.zone_of(turn.source), zones.zone_of(turn.destination)
        found = self._shared.get(between)
        if found is None:
            found = self._fleet.used_resources(turn.source, turn.destination)
            self._shared[between] = found
        return found

    @property
    def _next_timer_s(self) -> float:
        return self._timers[0][0] if self._timers else _NEVER

    def _ring(self, now_s: float) -> None:
        """Give pairs whose time has come their head start.

        One that has just ended without a result waits for its next attempt, however urgent it is:
        it would be the first again and again, and keep others at its hosts from their turn.
        """
        while self._next_timer_s <= now_s:
            at_s, task, source, destination, why = heapq.heappop(self._timers)
            if why is Reason.PLANNED and self._last[task][source, destination] >= at_s:
                continue
            not_before_s = self._not_before.get((task, source, destination), 0.0)
            if not_before_s > now_s:
                heapq.heappush(self._timers, (not_before_s, task, source, destination, why))
                continue
            due_s = min(at_s - HEAD_START_S, self._lattices[task].due_s(source, destination))
            self._set_due(task, source, destination, due_s, why)

    def _look(self, things: Iterable[int], now_s: float) -> None:
        hosts = len(self._fleet.hosts)
        for thing in things:
            if thing < hosts:
                self._look_at_host(thing, now_s)
            else:
                self._look_at_resource(thing - hosts, now_s)

    def _look_at_host(self, host: int, now_s: float) -> None:
        """Find out for which tasks a host can be measured, and when to look again."""
        until_s = _NEVER
        for task, lattice in enumerate(self._lattices):
            usable, changes_s = self._hosts.usable(host, task, now_s)
            if usable:
                lattice.add(host)
            else:
                lattice.remove(host)
            until_s = min(until_s, changes_s)
        self._wakes.set(host, until_s)

    def _look_at_resource(self, resource: int, now_s: float) -> None:
        """Find out for which tasks a resource has room, and when to look again."""
        if self._resources.is_as(resource, self._open[resource]):
            return
        until_s = _NEVER
        for task in range(len(self._lattices)):
            usable, changes_s = self._resources.usable(resource, task, now_s)
            until_s = min(until_s, changes_s)
            if usable != self._open[resource][task]:
                self._open[resource][task] = usable
                crossing = self._crossing[resource]
                self._blocked[task] += -crossing if usable else crossing
        self._wakes.set(len(self._fleet.hosts) + resource, until_s)


def _crossing(fleet: Fleet, zones: Zones) -> list[Times]:
    """Of each resource and each two zones BLOCKED if measurements between them use it, else 0."""
    found = []
    for number, resource in enumerate(fleet.resources):
        behind = np.array([signature[number] for signature in zones.signature])
        found.append(np.where(using(resource, behind), BLOCKED, 0.0))
    return found
