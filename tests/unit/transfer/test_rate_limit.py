"""A ceiling for the rate of all clients together, on a clock of its own."""

import pytest

from advisor.models.piecework import LEAST_RANGE_BYTES
from advisor.transfer.engine.rate_limit import Ceiling


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_next_starts_when_those_before_have_had_their_time() -> None:
    clock = Clock()
    ceiling = Ceiling(8e6, clock)  # A megabyte a second.
    assert ceiling.may_start()
    ceiling.take(1_000_000)
    ceiling.take(3_000_000)
    clock.now_s += 2.9
    assert not ceiling.may_start()
    clock.now_s += 0.2
    assert ceiling.may_start()


def test_no_more_than_a_second_is_saved_up() -> None:
    clock = Clock()
    ceiling = Ceiling(8e6, clock)
    clock.now_s += 1000
    ceiling.take(1_000_000)
    assert ceiling.may_start()
    ceiling.take(1_000_000)
    assert not ceiling.may_start()


def test_over_a_long_time_the_mean_keeps_to_it() -> None:
    clock = Clock()
    ceiling = Ceiling(80e6, clock)
    taken = 0
    for _ in range(10_000):
        clock.now_s += 0.1
        while ceiling.may_start():
            size = ceiling.bounded(10**9)
            ceiling.take(size)
            taken += size
    assert taken * 8 / 1000 == pytest.approx(80e6, rel=0.02)


def test_pieces_are_of_a_second_or_four_mebibytes() -> None:
    assert Ceiling(8e9, Clock()).bounded(10**12) == 10**9
    assert Ceiling(8e6, Clock()).bounded(10**12) == LEAST_RANGE_BYTES
    assert Ceiling(8e9, Clock()).bounded(1000) == 1000


def test_without_one_everything_may_start() -> None:
    ceiling = Ceiling(None, Clock())
    ceiling.take(10**15)
    assert ceiling.may_start()
    assert ceiling.bounded(10**15) == 10**15
