"""The load variation experiment: which concurrencies teach the models (section IV.B).

"We start with a baseline case (a case in which all of the destinations have the same concurrency),
we continue by increasing destination concurrency for a destination by 1, we run the baseline case
again, we increase destination concurrency for the next destination by 1, we run the baseline again,
and so on."

What the paper leaves open, and what is done here:

- Which baselines: 2, the base case of section V, then 4 and 1 for each, one after the other, and
  again as long as there is time. Models of logarithms learn most from concurrencies that are far
  apart by their ratio.
- By how much: it is doubled in the first round, trebled in the second, and half as much again in
  the third. One more than 4 would be lost in what chance does.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Final

BASELINES: Final = (2, 4, 1)

Levels = dict[str, int]


def steps(destinations: Sequence[str], number: int) -> list[Levels]:
    """So many steps of the experiment: the concurrency of each destination in each."""
    return list(islice(_endlessly(destinations), number))


def whole_round(destinations: int) -> int:
    """How many steps it takes to have every baseline, and every destination raised from each."""
    return len(BASELINES) * 2 * destinations


def least_steps(destinations: int) -> int:
    """How many it takes to raise every destination once from the first baseline."""
    return 2 * destinations


def _endlessly(destinations: Sequence[str]) -> Iterator[Levels]:
    for round_ in count():
        for baseline in BASELINES:
            for name in destinations:
                yield dict.fromkeys(destinations, baseline)
                yield dict.fromkeys(destinations, baseline) | {name: _raised(baseline, round_)}


def _raised(baseline: int, round_: int) -> int:
    by = (baseline, 2 * baseline, max(1, baseline // 2))
    return baseline + by[round_ % len(by)]
