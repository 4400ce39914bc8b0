"""How much one measurement may move through what several hosts share. Pure.

The check of a configuration and the planner ask the same: what is let through can be begun.
"""

from collections.abc import Iterator, Sequence, Set
from heapq import nlargest
from itertools import islice, product

from advisor.fleet.plan.fleet import Fleet, Resource, Task


def resource_loads(fleet: Fleet, task: Task) -> list[float | None]:
    """The most bytes that one measurement of the task moves through each resource.

    None where none of its pairs uses the resource. A pair has the rate of the slower of its links.
    """
    if not fleet.resources:
        return []
    blocks = [(_Side(fleet, sources), _Side(fleet, others)) for sources, others in task.blocks]
    found: list[float | None] = []
    for resource in fleet.resources:
        pairs = (pair for sides in blocks for pair in _fastest(resource, *sides))
        rate_bps = max((fleet.rate_bps(*pair) for pair in pairs), default=None)
        found.append(None if rate_bps is None else task.most_bytes(rate_bps))
    return found


class _Side:
    """The sources or the destinations of a block.

    Of any set of them the two fastest are enough: the fastest pair joins the fastest of each side
    or, if these are one host, that host and the second of one side.
    """

    def __init__(self, fleet: Fleet, hosts: Sequence[int]) -> None:
        self._rates_bps = [host.bandwidth_bps for host in fleet.hosts]
        self._hosts = frozenset(hosts)
        self._fastest_first = sorted(self._hosts, key=self._rates_bps.__getitem__, reverse=True)
        self.all = self._fastest_first[:2]

    def behind(self, members: Set[int]) -> list[int]:
        """Of those that are members."""
        return nlargest(2, self._hosts & members, key=self._rates_bps.__getitem__)

    def beyond(self, members: Set[int]) -> list[int]:
        """Of those that are not."""
        return list(islice((host for host in self._fastest_first if host not in members), 2))


def _fastest(resource: Resource, sources: _Side, destinations: _Side) -> Iterator[tuple[int, int]]:
    """Pairs of a block that use the resource, if any do, with the fastest of them."""
    members = resource.members
    if resource.inside:
        others = destinations.all, sources.all
    else:
        others = destinations.beyond(members), sources.beyond(members)
    for side in (
        product(sources.behind(members), others[0]),
        product(others[1], destinations.behind(members)),
    ):
        yield from (pair for pair in side if pair[0] != pair[1])
