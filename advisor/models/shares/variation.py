"""The load variation experiment: the levels that train the models (section IV.B).

The paper varies one destination at a time: "a baseline case (a case in which all of the
destinations have the same concurrency), we continue by increasing destination concurrency for a
destination by 1, we run the baseline case again", and so on. That shows little about levels that
plans use: each concurrency changes together with the total, and few levels are met.

Here the levels of all destinations are spread over the whole allowed range, independently of each
other: a Latin hypercube (McKay, Beckman and Conover, "A comparison of three methods for selecting
values of input variables", Technometrics 21(2), 1979) on a logarithmic scale, as the models are of
logarithms. It is drawn block by block, so that any number of whole blocks is balanced. Each block
also has the base case, in which all have `BASE` files: its repeats show how the external load
changes, and factors refer to it.
"""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Final

import msgspec
import numpy as np

from advisor.domain.shares import BASE, Concurrencies

LEAST_BLOCK: Final = 5


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step, by destination: files at a time, and streams of each file."""

    concurrency: Concurrencies
    parallelism: dict[str, int]


def block_length(destinations: int) -> int:
    """The number of steps in a block, the base case included."""
    return max(LEAST_BLOCK, destinations) + 1


def steps(
    destinations: Sequence[str], most: int, streams: tuple[int, int], seed: int
) -> Iterator[Step]:
    """Without end. `most`: files at a time to one destination; `streams`: the least and the most.

    The base case has the most streams.
    """
    names = list(destinations)
    for number in count():
        rng = np.random.default_rng([seed, number])
        yield _uniform(names, min(BASE, most), streams[1])
        for row in _unit_block(len(names), streams[0] < streams[1], rng):
            files, of_streams = row[: len(names)], row[len(names) :]
            yield Step(
                concurrency=_levels(names, files, 1, most),
                parallelism=_levels(names, of_streams, *streams)
                if of_streams
                else dict.fromkeys(names, streams[1]),
            )


def _uniform(names: Sequence[str], level: int, streams: int) -> Step:
    return Step(concurrency=dict.fromkeys(names, level), parallelism=dict.fromkeys(names, streams))


def _unit_block(
    destinations: int, has_streams: bool, rng: np.random.Generator
) -> list[list[float]]:
    """A Latin hypercube in the unit cube, one row for each step.

    Not that of `scipy.stats.qmc`, which takes seconds to import while files are on their way.
    """
    number, dimensions = block_length(destinations) - 1, destinations * (2 if has_streams else 1)
    strata = rng.permuted(np.tile(np.arange(number), (dimensions, 1)), axis=1).T
    found: list[list[float]] = ((strata + rng.random((number, dimensions))) / number).tolist()
    return found


def _levels(names: Sequence[str], row: Sequence[float], low: int, high: int) -> dict[str, int]:
    """Whole numbers from low to high; each is as likely as its part of the logarithmic scale."""
    least, ratio = low - 0.5, (high + 0.5) / (low - 0.5)
    return {
        name: max(low, min(high, round(least * ratio**at)))
        for name, at in zip(names, row, strict=True)
    }
