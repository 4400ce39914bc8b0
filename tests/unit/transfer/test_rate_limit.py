"""A ceiling for the rate of all clients together, on a clock of its own."""

import pytest

from advisor.models.piecework import LEAST_RANGE_BYTES
from advisor.transfer.engine.rate_limit import RateLimit


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_the_next_starts_when_those_before_have_had_their_time() -> None:
    clock = Clock()
    rate_limit = RateLimit(8e6, clock)  # A megabyte a second.
    assert rate_limit.may_start()
    rate_limit.take(1_000_000)
    rate_limit.take(3_000_000)
    clock.now_s += 2.9
    assert not rate_limit.may_start()
    clock.now_s += 0.2
    assert rate_limit.may_start()


def test_another_limit_holds_for_the_rest_of_what_was_started() -> None:
    clock = Clock()
    rate_limit = RateLimit(8e6, clock)
    rate_limit.take(20_000_000)
    # The last second counts: 15 MB are left.
    clock.now_s += 4
    rate_limit.change(64e6)
    clock.now_s += 1.8
    assert not rate_limit.may_start()
    clock.now_s += 0.2
    assert rate_limit.may_start()


def test_no_more_than_a_second_is_saved_up() -> None:
    clock = Clock()
    rate_limit = RateLimit(8e6, clock)
    clock.now_s += 1000
    rate_limit.take(1_000_000)
    assert rate_limit.may_start()
    rate_limit.take(1_000_000)
    assert not rate_limit.may_start()


def test_over_a_long_time_the_mean_keeps_to_it() -> None:
    clock = Clock()
    rate_limit = RateLimit(80e6, clock)
    taken = 0
    for _ in range(10_000):
        clock.now_s += 0.1
        while rate_limit.may_start():
            size = rate_limit.bounded(10**9)
            rate_limit.take(size)
            taken += size
    assert taken * 8 / 1000 == pytest.approx(80e6, rel=0.02)


def test_pieces_are_of_a_second_or_four_mebibytes() -> None:
    assert RateLimit(8e9, Clock()).bounded(10**12) == 10**9
    assert RateLimit(8e6, Clock()).bounded(10**12) == LEAST_RANGE_BYTES
    assert RateLimit(8e9, Clock()).bounded(1000) == 1000


def test_without_one_everything_may_start() -> None:
    rate_limit = RateLimit(None, Clock())
    rate_limit.take(10**15)
    assert rate_limit.may_start()
    assert rate_limit.bounded(10**15) == 10**15
