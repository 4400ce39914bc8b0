"""What a fleet's measurements amount to: pairs, traffic of each host, the time for all of them."""

import math

import msgspec
import numpy as np
from numpy.typing import NDArray

from advisor.fleet.plan.fleet import DAY_S, Fleet, Resource, Task
from advisor.fleet.plan.lattice import Times, pair_matrix, using


class HostLoad(msgspec.Struct, frozen=True, kw_only=True):
    """What is planned for one host, each measurement taken at its longest.

    `pairs`: those that it is one end of, counted for each task. `wanted_bytes`: of a day, if each
    were measured as often as its task says; `bound_bytes`: what `share-per-day` lets through.
    `cover_s`: the time for each of its pairs once, one after the other and within the bound.
    """

    host: str
    pairs: int
    wanted_bytes: float
    bound_bytes: float
    cover_s: float

    @property
    def expected_bytes(self) -> float:
        """What goes over its link in a day at most, in bytes."""
        return min(self.wanted_bytes, self.bound_bytes)


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """The whole fleet. `pairs`: by task.

    `cover_s`: the least time in which every pair can be measured once; `limited_by`: what sets it.
    """

    pairs: dict[str, int]
    hosts: list[HostLoad]
    cover_s: float
    limited_by: str


def coverage_of(fleet: Fleet) -> Coverage:
    """What the configuration amounts to, without quiet hours of partners and failures."""
    number = len(fleet.hosts)
    rates_bps = np.array([host.bandwidth_bps for host in fleet.hosts])
    slower_bps = np.minimum.outer(rates_bps, rates_bps)
    pairs, ends = {}, np.zeros(number, dtype=int)
    once_s, once_bytes, daily_bytes = (np.zeros(number) for _ in range(3))
    total_s, shared_s = 0.0, np.zeros(len(fleet.resources))
    for task in fleet.tasks:
        matrix = pair_matrix(task, number)
        pairs[task.name] = int(matrix.sum())
        own = matrix.sum(0) + matrix.sum(1)
        ends += own
        once_s += own * task.longest_s
        sent = np.where(matrix, _most_bytes(task, slower_bps), 0.0)
        moved = sent.sum(0) + sent.sum(1)
        once_bytes += moved
        daily_bytes += moved * DAY_S / task.every_s
        total_s += pairs[task.name] * task.longest_s
        for n, one in enumerate(fleet.resources):
            uses = using(one, _behind(fleet, one))
            shared_s[n] += np.count_nonzero(matrix & uses) * task.longest_s
    hosts = [
        _load(fleet, n, int(ends[n]), float(once_s[n]), float(once_bytes[n]), float(daily_bytes[n]))
        for n in range(number)
    ]
    cover_s, limited_by = max(_candidates(fleet, hosts, total_s, shared_s))
    return Coverage(pairs=pairs, hosts=hosts, cover_s=cover_s, limited_by=limited_by)


def _most_bytes(task: Task, rates_bps: Times) -> Times:
    """What one measurement moves at most, for each pair: it is linear in the rate."""
    at_rest = task.most_bytes(0.0)
    return at_rest + (task.most_bytes(1e9) - at_rest) * rates_bps / 1e9


def _behind(fleet: Fleet, resource: Resource) -> NDArray[np.bool_]:
    return np.isin(np.arange(len(fleet.hosts)), sorted(resource.members))


def _load(
    fleet: Fleet, number: int, pairs: int, once_s: float, once_bytes: float, daily_bytes: float
) -> HostLoad:
    host = fleet.hosts[number]
    bound_bytes = fleet.bound_bytes(host.bandwidth_bps)
    free_share = 1.0 - host.quiet.share if host.quiet else 1.0
    return HostLoad(
        host=host.name,
        pairs=pairs,
        wanted_bytes=daily_bytes,
        bound_bytes=bound_bytes,
        # The bound lets all of a day's traffic through at once; what is more waits for the next.
        cover_s=max(once_s / free_share, (once_bytes / bound_bytes - 1.0) * DAY_S),
    )


def _candidates(
    fleet: Fleet,
    hosts: list[HostLoad],
    total_s: float,
    shared_s: Times,
) -> list[tuple[float, str]]:
    """What bounds the time from below, each with its name in the file."""
    slowest = max(hosts, key=lambda one: one.cover_s)
    found = [(slowest.cover_s, f"hosts.{slowest.host}")]
    at_once = fleet.limits.at_once or math.inf
    found.append((total_s / at_once, "limits.at-once"))
    for resource, seconds in zip(fleet.resources, shared_s, strict=True):
        found.append((float(seconds) / resource.at_once, f"resources.{resource.name}"))
    return found
