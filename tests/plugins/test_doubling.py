"""doubling: both ways along doublings, from where it stands."""

import msgspec
import numpy as np
import pytest

from advisor.domain.transfers import Levels
from advisor.methods.api import Knowledge
from tests.plugins.searches import asked, counts, make, tell

PLANE = counts(concurrency=(1, 64), parallelism=(1, 64))


def test_what_gains_is_kept_and_tried_again() -> None:
    method = make("doubling", PLANE)
    assert tell(method, 100, 150, 200, 203) == [(2, 8), (4, 8), (8, 8), (16, 8)]
    # 203 is no gain of 5 % on 200: back to 8, and the streams have their turn.
    assert asked(method) == (8, 16)
    assert method.recommended() == ({"concurrency": 8, "parallelism": 8}, 200e9)


def test_a_halving_that_costs_next_to_nothing_is_kept() -> None:
    method = make("doubling", PLANE)
    # Neither doubling gains, a file fewer loses 10 %, fewer streams lose 2 % each time.
    told = (100, 100, 100, 90, 98, 96.5, 80)
    assert tell(method, *told) == [(2, 8), (4, 8), (2, 16), (1, 8), (2, 4), (2, 2), (2, 1)]
    # From 2 × 2, all that was not measured yet is tried.
    assert asked(method) == (4, 2)


def test_at_the_end_the_best_is_measured_once_more() -> None:
    bounds = counts(concurrency=(2, 8), parallelism=(8, 8))
    method = make("doubling", bounds)
    # 8 files lose against the 120 of 4, and there is nothing else.
    assert tell(method, 100, 120, 112) == [(2, 8), (4, 8), (8, 8)]
    assert (method.label, asked(method)) == ("again", (4, 8))
    assert tell(method, 118) == [(4, 8)]
    assert method.ask() is None
    assert method.recommended() == ({"concurrency": 4, "parallelism": 8}, 119e9)


def test_what_was_luck_makes_way_for_the_next() -> None:
    bounds = counts(concurrency=(2, 8), parallelism=(8, 8))
    method = make("doubling", bounds)
    tell(method, 100, 120, 112)
    # The second time 4 files give 98: 109 on the mean, and 8 files have given 112.
    assert tell(method, 98, 113) == [(4, 8), (8, 8)]
    assert method.ask() is None
    assert method.recommended() == ({"concurrency": 8, "parallelism": 8}, 112.5e9)


def test_of_those_that_are_as_good_it_takes_the_fewest_flows() -> None:
    bounds = counts(concurrency=(2, 8), parallelism=(8, 8))
    method = make("doubling", bounds)
    tell(method, 100, 120, 121)
    # 121 is no gain of 5 % on 120, and 120 no loss of 2.5 % on 121.
    assert asked(method) == (4, 8)


def test_where_conditions_changed_it_begins_anew() -> None:
    """Load of others came in the middle: what was refused under it is tried again."""
    bounds = counts(concurrency=(2, 4), parallelism=(8, 8))
    method = make("doubling", bounds)
    assert tell(method, 100, 60, 50, 75, 76) == [(2, 8), (4, 8), (2, 8), (4, 8), (4, 8)]
    assert method.ask() is None
    assert method.recommended() == ({"concurrency": 4, "parallelism": 8}, 75.5e9)


def test_with_as_many_flows_as_there_may_be_one_is_doubled_and_the_other_halved() -> None:
    """From 4 × 8 neither doubling may be by itself."""
    method = make("doubling", msgspec.structs.replace(PLANE, most_flows=32))
    assert tell(method, 100, 150, 160, 170) == [(2, 8), (4, 8), (8, 4), (16, 2)]
    # Two streams can be halved once more.
    assert asked(method) == (32, 1)


def test_what_cannot_be_halved_keeps_to_the_bound() -> None:
    """From 2 × 8 of 8 to 16 streams, 16 flows at most: all that is left are fewer files."""
    bounds = counts(concurrency=(1, 64), parallelism=(8, 16))
    method = make("doubling", msgspec.structs.replace(bounds, most_flows=16))
    assert tell(method, 100, 90, 80) == [(2, 8), (1, 16), (1, 8)]
    assert asked(method) == (2, 8)


def test_it_begins_where_it_is_told_to() -> None:
    method = make("doubling", PLANE, Knowledge(start=Levels(concurrency=5, parallelism=3)))
    assert tell(method, 100, 90, 90, 120) == [(5, 3), (10, 3), (5, 6), (2, 3)]
    assert asked(method) == (1, 3)


def test_a_failed_step_is_refused() -> None:
    method = make("doubling", PLANE)
    assert tell(method, 100, 0, 0) == [(2, 8), (4, 8), (2, 16)]
    assert asked(method) == (1, 8)


@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_it_comes_near_the_peak_in_few_probes(noise: float) -> None:
    """Of a surface with its peak at 12 files of 2 streams, from 2 × 8."""
    rng = np.random.default_rng(5)
    method = make("doubling", PLANE)
    rates = []

    def rate(files: int, streams: int) -> float:
        return float(100 * np.exp(-((np.log2(files / 12)) ** 2 + np.log2(streams / 2) ** 2) / 8))

    while method.ask() is not None:
        files, streams = asked(method)
        rates.append(rate(files, streams))
        tell(method, rates[-1] * float(rng.normal(1.0, noise)))
    recommended = method.recommended()
    assert recommended is not None
    best = recommended[0]
    assert rate(int(best["concurrency"]), int(best["parallelism"])) > 93
    assert len(rates) <= 16
