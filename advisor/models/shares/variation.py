"""The load variation experiment: the concurrencies that train the models (section IV.B).

"We start with a baseline case (a case in which all of the destinations have the same concurrency),
we continue by increasing destination concurrency for a destination by 1, we run the baseline case
again, we increase destination concurrency for the next destination by 1, we run the baseline again,
and so on."

The paper leaves open, and this module decides:

- Which baselines: 2, the base case of section V, then 4 and 1 for each, one after another, and
  again as long as there is time. Models of logarithms learn most from concurrencies with very
  different ratios.
- The increase: doubled in the first round, tripled in the second, and raised by half in the third.
  One more than 4 would be lost in random variation.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice
from typing import Final

from advisor.domain.shares import Concurrencies

BASELINES: Final = (2, 4, 1)


def steps(destinations: Sequence[str], number: int) -> list[Concurrencies]:
    """The first `number` steps of the experiment: the concurrency of each destination in each."""
    return list(islice(_endlessly(destinations), number))


def whole_round(destinations: int) -> int:
    """The number of steps that raise every destination from every baseline."""
    return len(BASELINES) * 2 * destinations


def least_steps(destinations: int) -> int:
    """The number of steps that raise every destination once from the first baseline."""
    return 2 * destinations


def _endlessly(destinations: Sequence[str]) -> Iterator[Concurrencies]:
    for round_ in count():
        for baseline in BASELINES:
            for name in destinations:
                yield dict.fromkeys(destinations, baseline)
                yield dict.fromkeys(destinations, baseline) | {name: _raised(baseline, round_)}


def _raised(baseline: int, round_: int) -> int:
    by = (baseline, 2 * baseline, max(1, baseline // 2))
    return baseline + by[round_ % len(by)]
