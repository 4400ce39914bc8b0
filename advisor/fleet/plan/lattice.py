"""Of a million pairs the one that is due first and can be measured now, without a look at each.

Hosts are sorted into zones of up to 32. A matrix of times, one for each pair, is covered by a
coarse one: `block` has for each two zones a lower bound of the times of the pairs between them
whose hosts are available. Bounds are lowered at once, when a host becomes available or a pair is
due earlier; they are raised late, when the search looks at a block and finds its bound too low. So
what holds a host, or makes a pair due later, costs nothing, and a search looks at few blocks of at
most a thousand pairs.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from advisor.fleet.plan.fleet import Resource, Task

_ZONE_HOSTS: Final = 32
_NEVER: Final = np.inf

BLOCKED: Final = 1e18
"""Added to the times of what must wait: more than any time, and exact however often it is added."""

Times = NDArray[np.float64]
Numbers = NDArray[np.signedinteger]


class Due(NamedTuple):
    """A pair and the time at which it is due."""

    source: int
    destination: int
    due_s: float


class Zones:
    """Hosts in an order in which those that use the same resources are next to each other.

    `place` of each host in that order, `host` at each place, `zone` of each place; of each zone its
    `places`, the first of them in `starts`, and its `signature`. Hosts of one kind have the same
    signature, and are next to each other.
    """

    def __init__(self, signatures: Sequence[tuple[bool, ...]], kinds: Sequence[int]) -> None:
        order = sorted(range(len(signatures)), key=lambda n: (signatures[n], kinds[n], n))
        self._of_kind: dict[int, list[int]] = {}
        self.host = order
        self.place = [0] * len(order)
        self.starts: list[int] = []
        self.signature: list[tuple[bool, ...]] = []
        self.zone: list[int] = []
        for place, host in enumerate(order):
            self.place[host] = place
            self._of_kind.setdefault(kinds[host], []).append(place)
            full = self.starts and place - self.starts[-1] >= _ZONE_HOSTS
            if not self.starts or full or signatures[host] != self.signature[-1]:
                self.starts.append(place)
                self.signature.append(signatures[host])
            self.zone.append(len(self.starts) - 1)
        ends = [*self.starts[1:], len(order)]
        self.places = [slice(start, end) for start, end in zip(self.starts, ends, strict=True)]

    def __len__(self) -> int:
        return len(self.starts)

    def of_kind(self, kind: int) -> slice:
        """The places of the hosts of a kind."""
        places = self._of_kind[kind]
        return slice(places[0], places[-1] + 1)

    def zone_of(self, host: int) -> int:
        """The number of a host's zone."""
        return self.zone[self.place[host]]


def pair_matrix(task: Task, hosts: int) -> NDArray[np.bool_]:
    """Whether a task measures from the host of a row to the host of a column."""
    pairs = np.zeros((hosts, hosts), dtype=np.bool_)
    for sources, destinations in task.blocks:
        pairs[np.ix_(sources, destinations)] = True
    np.fill_diagonal(pairs, False)
    return pairs


def using(resource: Resource, behind: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether measurements between two hosts, or zones, use a resource.

    `behind`: which of them it has behind it.
    """
    ends = behind[:, None].astype(np.int8) + behind[None, :]
    return np.greater_equal(ends, 1) if resource.inside else np.equal(ends, 1)


class Lattice:
    """The due times of one task's pairs. Hosts are unavailable at first.

    `due_s`: of each pair in Unix time, infinite where there is no pair; rows are sources.
    """

    def __init__(self, due_s: Times, zones: Zones) -> None:
        self.zones = zones
        order = np.array(zones.host)
        self._due = np.ascontiguousarray(due_s[np.ix_(order, order)])
        self._due_to = np.ascontiguousarray(self._due.T)
        """The same with destinations as rows: columns of a large matrix are slow to read."""
        self._starts = np.array(zones.starts)
        self._block = np.full((len(zones), len(zones)), _NEVER)
        self._held = np.full(len(order), _NEVER)
        """Added to times: 0 of a host that is available."""
        self._sum = np.empty_like(self._block)

    def due_s(self, source: int, destination: int) -> float:
        """When a pair is due."""
        return float(self._due[self.zones.place[source], self.zones.place[destination]])

    def set_due(self, source: int, destination: int, due_s: float) -> None:
        """Change when a pair is due."""
        row, column = self.zones.place[source], self.zones.place[destination]
        self._due[row, column] = self._due_to[column, row] = due_s
        zones = self.zones.zone[row], self.zones.zone[column]
        if due_s < self._block[zones]:
            self._block[zones] = due_s

    def due_times(self, sources: Numbers, destinations: Numbers) -> Times:
        """When each of these pairs is due."""
        places = np.array(self.zones.place)
        found: Times = self._due[places[sources], places[destinations]]
        return found

    def set_due_times(self, sources: Numbers, destinations: Numbers, due_s: Times) -> None:
        """Change when each of these pairs is due."""
        places, zones = np.array(self.zones.place), np.array(self.zones.zone)
        rows, columns = places[sources], places[destinations]
        self._due[rows, columns] = self._due_to[columns, rows] = due_s
        np.minimum.at(self._block, (zones[rows], zones[columns]), due_s)

    def postpone(
        self, source_kind: int, kind: int, period_s: tuple[float, float], by_s: float
    ) -> None:
        """Make all pairs of these kinds that are due in a period due later."""
        rows, columns = self.zones.of_kind(source_kind), self.zones.of_kind(kind)
        pairs = self._due[rows, columns]
        pairs[(pairs >= period_s[0]) & (pairs < period_s[1])] += by_s
        self._due_to[columns, rows] = pairs.T

    def remove(self, host: int) -> None:
        """Leave the pairs of a host out of the search."""
        self._held[self.zones.place[host]] = _NEVER

    def add(self, host: int) -> None:
        """Search the pairs of a host again."""
        place = self.zones.place[host]
        if not self._held[place]:
            return
        self._held[place] = 0.0
        zone = self.zones.zone[place]
        column, row = self._block[:, zone], self._block[zone]
        to_it = np.minimum.reduceat(self._due_to[place] + self._held, self._starts)
        np.minimum(column, to_it, out=column)
        from_it = np.minimum.reduceat(self._due[place] + self._held, self._starts)
        np.minimum(row, from_it, out=row)

    def first(self, blocked: Times) -> Due | None:
        """The available pair that is due first; None if there is none.

        `blocked`: of each two zones 0, or BLOCKED once or more where what they share is in use.
        """
        zones = self.zones
        while True:
            np.add(self._block, blocked, out=self._sum)
            index = int(self._sum.argmin())
            source_zone, zone = divmod(index, len(zones))
            bound = self._sum[source_zone, zone]
            if bound >= BLOCKED / 2:
                return None
            rows, columns = zones.places[source_zone], zones.places[zone]
            times = self._due[rows, columns] + self._held[columns]
            times += self._held[rows, None]
            row, column = divmod(int(times.argmin()), times.shape[1])
            due_s = times[row, column]
            if due_s > bound:
                self._block[source_zone, zone] = due_s
                continue
            return Due(
                zones.host[rows.start + row], zones.host[columns.start + column], float(due_s)
            )
