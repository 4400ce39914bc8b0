"""What the database knows, in the form that the planner takes. Pure."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from advisor.fleet.plan.fleet import DAY_S, Fleet
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.turns import Known, KnownPair, KnownTraffic
from advisor.fleet.state.reading import FleetState
from advisor.fleet.state.rows import ALL

if TYPE_CHECKING:
    from advisor.fleet.state.transfers import Moving

_SEED: Final = 1
"""Planning is repeated, by all alike: it must not draw other times of pairs each time."""

_AHEAD_S: Final = 60.0
"""What is dated further ahead was written before the clock was set back; up to that, while the rest
was read."""

_MOST_BUSY_S: Final = 3600.0
"""For how long a host can be said to be busy at most: fleet_end in migrations/."""


def planner_of(state: FleetState) -> Planner:
    """The planner that knows what the database knows."""
    rng = np.random.default_rng(_SEED)
    # One that a clock had ahead of its time is no reason to wait until then.
    start_s = min(state.applied.start_s, state.now_s)
    return Planner(state.applied.fleet, start_s, rng, known(state))


def known(state: FleetState) -> Known:
    """What is known before planning begins.

    Attempts that run are held and booked with the most that they may move. Hosts that are paused,
    or that users use, are held; a transfer has a place of each resource that it uses. Names that
    the configuration does not have are left out. What is dated ahead counts as old.
    """
    fleet = state.applied.fleet
    hosts = _numbers(host.name for host in fleet.hosts)
    tasks = _numbers(task.name for task in fleet.tasks)
    held = [hosts[name] for name in _left_alone(state) if name in hosts]
    resources: dict[int, int] = {}
    traffic = []
    for one in state.running:
        held += [hosts[name] for name in (one.source, one.destination) if name in hosts]
    for one in [*state.recent, *state.running]:
        if one.source not in hosts or one.destination not in hosts:
            continue
        ends = hosts[one.source], hosts[one.destination]
        ended_s = state.now_s
        if one.ended_s is not None:
            # Rather counted for a day too long than not at all.
            ended_s = _past_s(one.ended_s, state.now_s, DAY_S)
        traffic.append(
            KnownTraffic(
                source=ends[0], destination=ends[1], ended_s=ended_s, moved_bytes=one.counted_bytes
            )
        )
        if one.ended_s is None:
            for number in fleet.used_resources(*ends):
                resources[number] = resources.get(number, 0) + 1
    for transfer in state.moving:
        for number in _used_resources(fleet, hosts, transfer):
            resources[number] = resources.get(number, 0) + 1
    return Known(
        pairs=list(_pairs(state, hosts, tasks)),
        traffic=traffic,
        running=len(state.running),
        held=held,
        resources=resources,
        down={
            hosts[name]: (one.failures, _past_s(one.failed_s, state.now_s))
            for name, one in state.hosts.items()
            if one.failures and name in hosts
        },
    )


def _past_s(at_s: float | None, now_s: float, ahead_s: float = _AHEAD_S) -> float:
    """When that was; 0 for never, and for a time that is further ahead than that."""
    return 0.0 if at_s is None or at_s > now_s + ahead_s else min(at_s, now_s)


def _used_resources(fleet: Fleet, hosts: dict[str, int], transfer: "Moving") -> set[int]:
    pairs = [(hosts[a], hosts[b]) for a, b in transfer.pairs if a in hosts and b in hosts]
    return {number for pair in pairs for number in fleet.used_resources(*pair)}


def _numbers(names: Iterator[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _pairs(state: FleetState, hosts: dict[str, int], tasks: dict[str, int]) -> Iterator[KnownPair]:
    for one in state.pairs:
        if one.task not in tasks or one.source not in hosts or one.destination not in hosts:
            continue
        yield KnownPair(
            task=tasks[one.task],
            source=hosts[one.source],
            destination=hosts[one.destination],
            last_s=None if one.last_s is None else _past_s(one.last_s, state.now_s),
            failures=one.failures,
            failed_s=_past_s(one.failed_s, state.now_s),
            gave_way=one.gave_way,
            gave_way_s=_past_s(one.gave_way_s, state.now_s),
            rate_bps=one.rate_bps,
            rtt_s=one.rtt_s,
            news=one.news,
            checks=one.checks,
        )


def _left_alone(state: FleetState) -> Iterator[str]:
    everything = ALL in state.pauses
    for host in state.applied.fleet.hosts:
        if everything or host.name in state.pauses or host.name in busy_hosts(state):
            yield host.name


def busy_hosts(state: FleetState) -> dict[str, float]:
    """The hosts at which users measure or move files, with how long they are left alone."""
    measured = {
        one.host: one.busy_until_s
        for one in state.hosts.values()
        if one.busy_until_s and 0 < one.busy_until_s - state.now_s <= _MOST_BUSY_S
    }
    return measured | {host: one.until_s for one in state.moving for host in one.hosts}


def changes_s(state: FleetState) -> float:
    """When what is left alone now may be measured again, the first of them; infinite for never."""
    ends = [one.until_s for one in state.pauses.values() if one.until_s is not None]
    return min([*ends, *busy_hosts(state).values()], default=math.inf)
