"""The load variation experiment."""

from itertools import islice

import numpy as np
import pytest

from advisor.models.shares.variation import Step, block_length, steps

NAMES = ("kraken", "mason", "gordon", "blacklight", "yellowstone")
MOST = 8


def some(number: int, *, streams: tuple[int, int] = (8, 8), seed: int = 1) -> list[Step]:
    return list(islice(steps(NAMES, MOST, streams, seed), number))


def without_base(found: list[Step]) -> list[Step]:
    length = block_length(len(NAMES))
    return [one for number, one in enumerate(found) if number % length]


def test_every_block_begins_with_the_base_case() -> None:
    length = block_length(len(NAMES))
    bases = some(3 * length)[::length]
    assert all(one.concurrency == dict.fromkeys(NAMES, 2) for one in bases)
    assert all(one.parallelism == dict.fromkeys(NAMES, 8) for one in bases)


def test_the_whole_range_is_met_by_every_destination() -> None:
    found = some(20 * block_length(len(NAMES)))
    for name in NAMES:
        assert {one.concurrency[name] for one in found} == set(range(1, MOST + 1))


@pytest.mark.parametrize("seed", range(10))
def test_each_block_has_low_and_high_levels_of_every_destination(seed: int) -> None:
    """The lowest and the highest fifth of the logarithmic scale, each once: 1, and 5 to 8."""
    found = without_base(some(block_length(len(NAMES)), seed=seed))
    for name in NAMES:
        levels = [one.concurrency[name] for one in found]
        assert min(levels) == 1
        assert max(levels) >= 5


def test_levels_of_different_destinations_are_independent() -> None:
    found = without_base(some(60 * block_length(len(NAMES))))
    logs = np.log([[one.concurrency[name] for name in NAMES] for one in found])
    together = np.corrcoef(logs.T)
    assert np.abs(together - np.eye(len(NAMES))).max() < 0.2


def test_streams_vary_independently_of_files_where_a_range_is_given() -> None:
    found = without_base(some(60 * block_length(len(NAMES)), streams=(2, 8)))
    assert {one.parallelism["mason"] for one in found} == set(range(2, 9))
    files = [np.log(one.concurrency["mason"]) for one in found]
    streams = [np.log(one.parallelism["mason"]) for one in found]
    assert abs(np.corrcoef(files, streams)[0, 1]) < 0.2


def test_the_same_seed_gives_the_same_levels() -> None:
    assert some(20) == some(20)
    assert some(20, seed=2) != some(20)


@pytest.mark.parametrize("names", [("kraken",), ("kraken", "mason")])
def test_few_destinations_have_several_levels_in_a_block(names: tuple[str, ...]) -> None:
    found = list(islice(steps(names, MOST, (8, 8), 1), block_length(len(names))))
    assert len({one.concurrency["kraken"] for one in found}) >= 4
