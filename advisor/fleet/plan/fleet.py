"""A fleet as the planner sees it: hosts by number, what joins them, what is measured on them."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from advisor.domain.addresses import parse_host_port
from advisor.domain.endpoints import Endpoint
from advisor.fleet.plan.quiet_hours import QuietHours

DAY_S: Final = 86_400.0

What = Literal["path", "advice", "profile", "disk-to-disk"]
"""What one measurement of a pair is: the command that does it."""

AROUND_S: Final = 60.0
"""What a measurement takes beyond its budget at most: login, agents, the path, closing."""

PATH_BYTES: Final = 2**20
"""What looking at a path sends at most: round trips, packets of every size, messages."""


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """One host. `reach`: the endpoint to reach it by, as in `user@host`.

    `bandwidth_bps`: of the link that measurements go over, in each direction. `agent`: HOST:PORT of
    an agent that listens there, `agent_command`: what starts one over ssh; "" for neither.
    """

    name: str
    reach: str
    bandwidth_bps: float
    interfaces: tuple[str, ...] = ()
    agent: str = ""
    agent_command: str = ""
    tags: tuple[str, ...] = ()
    quiet: QuietHours | None = None

    @property
    def destination_name(self) -> str:
        """The name that records have it under as a destination: that of its agent, if one listens.

        It is that of `ConnectionOptions.destination_host` in the session that its source begins.
        """
        return parse_host_port(self.agent)[0] if self.agent else Endpoint.parse(self.reach).host


class Resource(msgspec.Struct, frozen=True, kw_only=True):
    """What several hosts share, such as the uplink of a site.

    `members`: numbers of the hosts behind it. A measurement between a host behind it and one that
    is not uses it; with `inside`, every measurement of a host behind it does. `at_once`: how many
    may use it at a time. `bandwidth_bps`: None for no bound on its traffic.
    """

    name: str
    members: frozenset[int]
    at_once: int
    bandwidth_bps: float | None = None
    inside: bool = False

    def is_used(self, source: int, destination: int) -> bool:
        """Whether measuring between these hosts uses it."""
        ends = (source in self.members, destination in self.members)
        return any(ends) if self.inside else ends[0] != ends[1]


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """What is measured between which hosts, and how often.

    `blocks`: pairs as (sources, destinations): each of the former with each of the latter, except a
    host with itself. `every_s`: the age at which a measurement is due again. `budget_s`: how long
    one may send. `options`: of the command, as written.
    """

    name: str
    what: What
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    every_s: float
    budget_s: float
    options: dict[str, str | list[str]] = {}

    @property
    def longest_s(self) -> float:
        """How long both hosts are held at most."""
        return self.budget_s + AROUND_S

    def most_bytes(self, bandwidth_bps: float) -> float:
        """What one measurement moves at most over a path of this rate, in both directions."""
        return PATH_BYTES if self.what == "path" else self.budget_s * bandwidth_bps / 8 + PATH_BYTES

    def pairs(self) -> Iterator[tuple[int, int]]:
        """Every pair once, as (source, destination)."""
        seen: set[tuple[int, int]] = set()
        for sources, destinations in self.blocks:
            for one in sources:
                for other in destinations:
                    if one != other and (len(self.blocks) == 1 or (one, other) not in seen):
                        seen.add((one, other))
                        yield one, other


class PlannedTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """A transfer that somebody has announced: its pair is measured shortly before."""

    source: int
    destination: int
    at_s: float


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on the whole fleet.

    `share_per_day`: at most this fraction of what each link could carry in 24 hours, over any 24
    hours, both directions counted together. `at_once`: measurements at a time, None for any number.
    A pair or host that failed is tried again after `retry_s`, doubled each time up to
    `retry_most_s`.
    """

    share_per_day: float
    at_once: int | None = None
    retry_s: float = 900.0
    retry_most_s: float = 43_200.0


class Fleet(msgspec.Struct, frozen=True, kw_only=True):
    """Everything in `fleet.toml`. Hosts are named by their number in `hosts` elsewhere."""

    hosts: tuple[Host, ...]
    tasks: tuple[Task, ...]
    limits: Limits
    resources: tuple[Resource, ...] = ()
    planned: tuple[PlannedTraffic, ...] = ()

    def rate_bps(self, source: int, destination: int) -> float:
        """The rate of the slower of the two links."""
        return min(self.hosts[source].bandwidth_bps, self.hosts[destination].bandwidth_bps)

    def bound_bytes(self, bandwidth_bps: float) -> float:
        """What may go over a link of this rate in 24 hours, in bytes."""
        return self.limits.share_per_day * bandwidth_bps / 8 * DAY_S

    def used_resources(self, source: int, destination: int) -> list[int]:
        """Numbers of the resources that a measurement between these hosts uses."""
        return [n for n, one in enumerate(self.resources) if one.is_used(source, destination)]

    def holds(self, source: int, destination: int) -> list[str]:
        """What a measurement holds, in the one order in which everybody takes it.

        Resources come first: of two workers that want the same, one waits without holding a host.
        """
        resources = sorted(self.resources[n].name for n in self.used_resources(source, destination))
        hosts = sorted(self.hosts[n].name for n in (source, destination))
        return [*(f"resource {name}" for name in resources), *(f"host {name}" for name in hosts)]


def signatures(fleet: Fleet) -> Sequence[tuple[bool, ...]]:
    """Of each host, which resources it is behind: equal ones use the same with any third host."""
    return [tuple(n in one.members for one in fleet.resources) for n in range(len(fleet.hosts))]
