"""Which hosts and shared resources a measurement may use now, and until when not."""

import heapq
from collections.abc import Sequence

from advisor.fleet.plan.fleet import Fleet
from advisor.fleet.plan.ledger import Ledger
from advisor.fleet.plan.loads import resource_loads
from advisor.fleet.plan.quiet_hours import QuietHours
from advisor.fleet.plan.worth import retry_after_s

_NEVER = float("inf")


class Hosts:
    """Of each host: whether it is held or down, its quiet hours, and the traffic of its link."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        number = len(fleet.hosts)
        self._held = [0] * number
        self._failures = [0] * number
        self._back_s = [-_NEVER] * number
        self._need = [
            [task.most_bytes(host.bandwidth_bps) for task in fleet.tasks] for host in fleet.hosts
        ]
        self.ledgers = [Ledger(fleet.bound_bytes(host.bandwidth_bps)) for host in fleet.hosts]
        self._periods: dict[QuietHours, tuple[float, float]] = {}
        self._longest_s = [task.longest_s for task in fleet.tasks]

    def hold(self, host: int) -> None:
        """One more user of a host: nothing else is measured there."""
        self._held[host] += 1

    def free(self, host: int) -> None:
        """One user less."""
        self._held[host] -= 1

    def failed(self, host: int, now_s: float, times: int = 1) -> None:
        """It could not be reached: it is left alone for a while, longer each time."""
        limits = self._fleet.limits
        self._failures[host] += times
        self._back_s[host] = now_s + retry_after_s(
            self._failures[host], limits.retry_s, limits.retry_most_s
        )

    def answered(self, host: int) -> None:
        """It could be reached."""
        self._failures[host] = 0

    def usable(self, host: int, task: int, now_s: float) -> tuple[bool, float]:
        """Whether the task may be measured there now, and when that may change by itself."""
        if self._held[host]:
            return False, _NEVER
        if self._back_s[host] > now_s:
            return False, self._back_s[host]
        ledger, need = self.ledgers[host], self._need[host][task]
        if not ledger.has_room(need, now_s):
            return False, ledger.room_s(need, now_s)
        quiet = self._fleet.hosts[host].quiet
        if quiet is None:
            return True, _NEVER
        return self._before_quiet(quiet, self._longest_s[task], now_s)

    def _before_quiet(
        self, quiet: QuietHours, longest_s: float, now_s: float
    ) -> tuple[bool, float]:
        """A measurement must have ended when the quiet hours begin."""
        period = self._periods.get(quiet)
        if period is None or period[1] <= now_s:
            period = self._periods[quiet] = quiet.following(now_s)
        latest_s = period[0] - longest_s
        return (True, latest_s) if now_s < latest_s else (False, period[1])


class Resources:
    """Of each shared resource: how many measurements use it, and its traffic."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._used = [0] * len(fleet.resources)
        self._ledgers = [
            Ledger(fleet.bound_bytes(one.bandwidth_bps)) if one.bandwidth_bps else None
            for one in fleet.resources
        ]
        self._need = [resource_loads(fleet, task) for task in fleet.tasks]

    def take(self, resource: int, most_bytes: float) -> None:
        """One more measurement uses it."""
        self._used[resource] += 1
        if ledger := self._ledgers[resource]:
            ledger.begin(most_bytes)

    def give_back(self, resource: int, most_bytes: float, moved_bytes: float, now_s: float) -> None:
        """One less, which moved this much."""
        self._used[resource] -= 1
        if ledger := self._ledgers[resource]:
            ledger.end(most_bytes, moved_bytes, now_s)

    def book(self, resource: int, moved_bytes: float, ended_s: float) -> None:
        """A measurement that ended before planning began."""
        if ledger := self._ledgers[resource]:
            ledger.end(0.0, moved_bytes, ended_s)

    def occupy(self, resource: int, times: int) -> None:
        """It is used by measurements of others."""
        self._used[resource] += times

    def is_as(self, resource: int, were_usable: Sequence[bool]) -> bool:
        """Whether it is usable for the same tasks as before, as far as counting alone shows."""
        if self._ledgers[resource] is not None:
            return False
        has_room = self._used[resource] < self._fleet.resources[resource].at_once
        return all(were_usable) if has_room else not any(were_usable)

    def usable(self, resource: int, task: int, now_s: float) -> tuple[bool, float]:
        """Whether one more measurement of the task may use it, and when that may change."""
        if self._used[resource] >= self._fleet.resources[resource].at_once:
            return False, _NEVER
        ledger, need = self._ledgers[resource], self._need[task][resource]
        if ledger is None or need is None or ledger.has_room(need, now_s):
            return True, _NEVER
        return False, ledger.room_s(need, now_s)


class Wakes:
    """When what is looked at again; each thing is listed once, at its earliest time."""

    def __init__(self, things: int) -> None:
        self._at_s = [_NEVER] * things
        self._heap: list[tuple[float, int]] = []

    def set(self, thing: int, at_s: float) -> None:
        """Look at it then, or earlier if that was said before."""
        if at_s < self._at_s[thing]:
            self._at_s[thing] = at_s
            heapq.heappush(self._heap, (at_s, thing))

    def due(self, now_s: float) -> Sequence[int]:
        """What is to be looked at now; it is no longer listed."""
        found = []
        while self._heap and self._heap[0][0] <= now_s:
            at_s, thing = heapq.heappop(self._heap)
            if self._at_s[thing] == at_s:
                self._at_s[thing] = _NEVER
                found.append(thing)
        return found

    @property
    def next_s(self) -> float:
        """The time of the first; infinite for none."""
        while self._heap and self._at_s[self._heap[0][1]] != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else _NEVER
