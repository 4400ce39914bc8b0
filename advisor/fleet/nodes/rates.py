"""How a limit of the rate is shared among nodes. Pure."""

from collections.abc import Mapping, Sequence, Set
from typing import Final

_SHARED_FOR_S: Final = 10.0
"""A node begins a piece a second or so at its share: shorter means say nothing."""

_USES_IT: Final = 0.8
_MARGIN: Final = 1.5
_LEAST: Final = 0.1


def shares_of(limit_bps: float, nodes: Sequence[tuple[float, float]]) -> list[float]:
    """What each node may use, in bit/s; together the limit at most (max-min fairness).

    `nodes`: the mean rate of each and its share until now, 0 for none yet. A node that uses less
    than its share is given half more than it uses, at least a tenth of an equal share; the others
    have the rest in equal parts.
    """
    equal_bps = limit_bps / len(nodes)
    demands = [
        max(_LEAST * equal_bps, _MARGIN * rate_bps)
        if share_bps and rate_bps < _USES_IT * share_bps
        else limit_bps
        for rate_bps, share_bps in nodes
    ]
    shares = [0.0] * len(nodes)
    left_bps = limit_bps
    for place, one in enumerate(sorted(range(len(nodes)), key=lambda one: demands[one])):
        shares[one] = min(demands[one], left_bps / (len(nodes) - place))
        left_bps -= shares[one]
    return shares


class Sharing:
    """Shares a limit among nodes that come and go. Times in seconds, of any clock."""

    def __init__(self, limit_bps: float) -> None:
        self._limit_bps = limit_bps
        self._shares: dict[int, float] = {}
        self._since_s = 0.0
        self._held_back: set[int] = set()
        self._before: dict[int, int] = {}

    def changed(
        self, at_s: float, carried: Mapping[int, int], held_back: Set[int] = frozenset()
    ) -> dict[int, float]:
        """The shares that are to be sent, by node; `carried`: what each that runs has carried.

        Equal ones where another node runs than before, others after ten seconds. `held_back`: nodes
        that their shares hold back now; they use all of these, also while they carry nothing after
        a large file.
        """
        if not carried:
            self._shares = {}
            return {}
        passed_s = at_s - self._since_s
        self._held_back |= held_back
        if carried.keys() == self._shares.keys():
            if passed_s < _SHARED_FOR_S:
                return {}
            known = [(self._rate_bps(one, carried, passed_s), self._shares[one]) for one in carried]
        else:
            known = [(0.0, 0.0)] * len(carried)
        shares = dict(zip(carried, shares_of(self._limit_bps, known), strict=True))
        self._shares, self._since_s, self._before = shares, at_s, dict(carried)
        self._held_back = set()
        return shares

    def _rate_bps(self, node: int, carried: Mapping[int, int], passed_s: float) -> float:
        if node in self._held_back:
            return self._shares[node]
        return (carried[node] - self._before[node]) * 8 / passed_s
