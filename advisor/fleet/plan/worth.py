"""When another measurement of a pair is worth what it costs.

A pair is due when its age reaches its interval. Of the pairs that are due, the one that has been so
for the longest time is measured first, so that each is the first some day, and nobody starves. The
interval is that of the task, longer where the pair resembles others that are measured, since those
say much about it. A change that is seen or suspected, and traffic that is planned, give a pair a
head start, which is bounded, over all that are merely old.
"""

import math
from collections.abc import Iterator
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from advisor.fleet.plan.fleet import DAY_S, Fleet, signatures
from advisor.fleet.plan.lattice import Numbers, Times
from advisor.models.similarity import likeness

Flags: TypeAlias = NDArray[np.bool_]
Pairs: TypeAlias = tuple[Numbers, Numbers]
"""Sources and destinations."""

_T = TypeVar("_T", float, Times)

HEAD_START_S: Final = 365 * DAY_S
"""Of an urgent pair over others, in seconds of age."""

LEAD_S: Final = DAY_S
"""How long before planned traffic its pair is measured."""

RECHECK_S: Final = 3600.0
"""After a suspected change: what passes within the hour was load, and no change."""

RECHECKS: Final = 4
"""How often in succession one pair is measured for a change at most."""

BUSY_S: Final = 60.0
"""How long a host at which a user measures is left alone, and a pair that gave way for the first
time: when the host is looked at again, others of its pairs come first."""

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

    def learn_all(self, task: int, pairs: Pairs, rates_bps: Times, rtts_s: Times) -> Times:
        """As `measured_first`, `likeness` and `learn` of one pair after the other: the likenesses.

        For a task of which nothing is known, each pair once; nan for what was not measured. Kinds
        are independent of each other: each is learned at once, in the order of its pairs.
        """
        number = self._measured.shape[1]
        of_host = np.array(self.of_host)
        kinds = of_host[pairs[0]] * number + of_host[pairs[1]]
        ranks = _ranks(kinds)
        self._measured[task] += np.bincount(kinds, minlength=number**2).reshape(number, number)
        alike = np.zeros(len(kinds))
        with_both = np.flatnonzero(~np.isnan(rates_bps) & ~np.isnan(rtts_s))
        order = with_both[np.argsort(kinds[with_both], kind="stable")]
        if not order.size:
            return alike
        first = np.concatenate([[True], np.diff(kinds[order]) > 0])
        means = np.array(_running_means(first, rates_bps[order], rtts_s[order]))
        self._keep_means(task, kinds[order], first, means)
        others = order[~first]
        log_rates, log_rtts = means[:, :-1][:, ~first[1:]]
        octaves = np.hypot(
            np.log2(rtts_s[others] / np.exp(log_rtts)),
            np.log2(rates_bps[others] / np.exp(log_rates)),
        )
        alike[others] = 2.0**-octaves * _known_of(ranks[others])
        return alike

    def known_in_part(self, task: int, waiting: Pairs) -> Iterator[tuple[int, int, int]]:
        """The kinds of sources and destinations of these pairs, which wait, of which others were
        measured, with the number of those."""
        number = self._measured.shape[1]
        of_host = np.array(self.of_host)
        kinds = of_host[waiting[0]] * number + of_host[waiting[1]]
        found = np.flatnonzero(np.bincount(kinds, minlength=number**2))
        for source_kind, kind in zip(*np.divmod(found, number), strict=True):
            if measured := int(self._measured[task, source_kind, kind]):
                yield int(source_kind), int(kind), measured

    def _keep_means(self, task: int, kinds: Numbers, first: Flags, means: Times) -> None:
        """Those after the last result of each kind. `kinds`: of the results, in groups."""
        last = np.append(first[1:], True)
        starts = np.flatnonzero(first)
        where = (task, *np.divmod(kinds[last], self._measured.shape[1]))
        self._log_rate[where], self._log_rtt[where] = means[:, last]
        self._results[where] = np.diff(np.append(starts, len(kinds)))

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


def _known_of(measured: Numbers) -> Times:
    """The same of each."""
    found: Times = 1.0 - np.ldexp(1.0, 1 - np.frexp(measured + 1.0)[1])
    return found


def known_steps(measured: int) -> Iterator[tuple[float, float]]:
    """How much was known before and after each of this many results that made a difference."""
    least = 0
    while least < measured:
        yield _known(least), _known(least + 1)
        least = 2 * least + 2


def _ranks(kinds: Numbers) -> Numbers:
    """Of each how many of its kind come before it."""
    order = np.argsort(kinds, kind="stable")
    starts = np.flatnonzero(np.diff(kinds[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(kinds)))
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(kinds)) - np.repeat(starts, lengths)
    return ranks


def _running_means(
    first: Flags, rates_bps: Times, rtts_s: Times
) -> tuple[list[float], list[float]]:
    """Of the logarithms, after each, as `Kinds.learn` has them; `first`: another kind begins."""
    log_rates, log_rtts = [], []
    number, mean_rate, mean_rtt = 0, 0.0, 0.0
    for begins, rate_bps, rtt_s in zip(
        first.tolist(), rates_bps.tolist(), rtts_s.tolist(), strict=True
    ):
        if begins:
            number, mean_rate, mean_rtt = 0, 0.0, 0.0
        number += 1
        weight = 1.0 / min(number, _FORGET)
        mean_rate += weight * (math.log(rate_bps) - mean_rate)
        mean_rtt += weight * (math.log(rtt_s) - mean_rtt)
        log_rates.append(mean_rate)
        log_rtts.append(mean_rtt)
    return log_rates, log_rtts


def first_due_s(since_s: float, every_s: float, resemblance: float) -> float:
    """When a pair that was never measured is due: at once, and the earlier the less is known.

    `since_s`: since when it belongs to the fleet.
    """
    return since_s - (1.0 - resemblance) * every_s


def next_due_s(last_s: _T, every_s: float, alike: _T, random: _T) -> _T:
    """When a pair that was measured is due again: after `every_s`, up to twice that if it resembles
    others. Or of many pairs.

    `random` in [0, 1): spreads it by a tenth, so that it does not meet the same hour every time.
    """
    return last_s + every_s * (1.0 + alike) * (1.0 + _JITTER * (random - 0.5))


def retry_after_s(failures: int, retry_s: float, most_s: float) -> float:
    """How long after this many failures in succession another attempt is made; 1 or more.

    The same of a pair that gave way so often, with BUSY_S for `retry_s`.
    """
    return min(most_s, retry_s * 2.0 ** min(failures - 1, 40))
