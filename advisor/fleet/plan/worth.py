"""When another measurement of a pair is worth what it costs.

A pair is due when its age reaches its interval. Of the pairs that are due, the one that has been so
for the longest time is measured first, so that each is the first some day, and nobody starves. The
interval is that of the task, longer where the pair resembles others that are measured, since those
say much about it. A change that is seen or suspected, and traffic that is planned, give a pair a
head start, which is bounded, over all that are merely old.
"""

import math
from typing import Final

import numpy as np

from advisor.fleet.plan.fleet import DAY_S, Fleet, signatures
from advisor.models.similarity import likeness

HEAD_START_S: Final = 365 * DAY_S
"""Of an urgent pair over others, in seconds of age."""

LEAD_S: Final = DAY_S
"""How long before planned traffic its pair is measured."""

RECHECK_S: Final = 3600.0
"""After a suspected change: what passes within the hour was load, and no change."""

RECHECKS: Final = 4
"""How often in succession one pair is measured for a change at most."""

STEP: Final = 1e-4
"""Pairs that were never measured and of whose kind as much is known are due in random order, within
this fraction of their interval. It is less than what one step of their resemblance makes."""

_JITTER: Final = 0.1
_FORGET: Final = 64


class Kinds:
    """Pairs of one kind: between hosts with the same tags, shared resources and class of bandwidth.

    How much is known of each kind, by task: how many of its pairs were measured, and at what rate
    and round-trip time on (logarithmic) average.
    """

    def __init__(self, fleet: Fleet) -> None:
        numbers: dict[object, int] = {}
        of_host = [
            (one, host.tags, round(math.log2(host.bandwidth_bps)))
            for one, host in zip(signatures(fleet), fleet.hosts, strict=True)
        ]
        self.of_host = [numbers.setdefault(one, len(numbers)) for one in of_host]
        shape = (len(fleet.tasks), len(numbers), len(numbers))
        self._measured = np.zeros(shape, dtype=np.int32)
        self._log_rate = np.zeros(shape)
        self._log_rtt = np.zeros(shape)
        self._results = np.zeros(shape, dtype=np.int32)

    def _index(self, task: int, source: int, destination: int) -> tuple[int, int, int]:
        return task, self.of_host[source], self.of_host[destination]

    def measured_first(self, task: int, source: int, destination: int) -> None:
        """One more pair of its kind has a result."""
        self._measured[self._index(task, source, destination)] += 1

    def learn(
        self, task: int, source: int, destination: int, rate_bps: float, rtt_s: float
    ) -> None:
        """A result of a pair; both above zero."""
        index = self._index(task, source, destination)
        self._results[index] += 1
        weight = 1.0 / min(int(self._results[index]), _FORGET)
        self._log_rate[index] += weight * (math.log(rate_bps) - self._log_rate[index])
        self._log_rtt[index] += weight * (math.log(rtt_s) - self._log_rtt[index])

    def resemblance(self, task: int, source: int, destination: int) -> float:
        """How much the other pairs of its kind say about one that was never measured, in [0, 1).

        0 while none is measured, then 1/2, 3/4 from three on, 7/8 from seven on: in steps, so that
        those that wait are put into a new order a few times only.
        """
        return _known(int(self._measured[self._index(task, source, destination)]))

    def likeness(
        self,
        task: int,
        source: int,
        destination: int,
        rate_bps: float | None,
        rtt_s: float | None,
    ) -> float:
        """How much the others of its kind say about a pair with this result, in [0, 1).

        The less, the further it is from their average: models/similarity.py.
        """
        index = self._index(task, source, destination)
        if not self._results[index] or rate_bps is None:
            return 0.0
        usual_bps, usual_s = math.exp(self._log_rate[index]), math.exp(self._log_rtt[index])
        alike = likeness(rtt_s, rate_bps, usual_s, usual_bps) or 0.0
        return alike * _known(int(self._measured[index]) - 1)


def _known(measured: int) -> float:
    return 1.0 - 0.5 ** ((measured + 1).bit_length() - 1)


def first_due_s(since_s: float, every_s: float, resemblance: float) -> float:
    """When a pair that was never measured is due: at once, and the earlier the less is known.

    `since_s`: since when it belongs to the fleet.
    """
    return since_s - (1.0 - resemblance) * every_s


def next_due_s(last_s: float, every_s: float, alike: float, random: float) -> float:
    """When a pair that was measured is due again: after `every_s`, up to twice that if it resembles
    others.

    `random` in [0, 1): spreads it by a tenth, so that it does not meet the same hour every time.
    """
    return last_s + every_s * (1.0 + alike) * (1.0 + _JITTER * (random - 0.5))


def retry_after_s(failures: int, retry_s: float, most_s: float) -> float:
    """How long after so many failures in succession another attempt is made; 1 or more."""
    return min(most_s, retry_s * 2.0 ** min(failures - 1, 40))
