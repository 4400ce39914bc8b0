"""doubling: both ways along doublings, from where it stands."""

import msgspec
import numpy as np
import pytest

from advisor.domain.transfers import Levels
from advisor.methods.api import Knowledge
from advisor.testing.samples import measured
from tests.plugins.searches import asked, counts, make, tell

PLANE = counts(concurrency=(1, 64), parallelism=(1, 64))


def test_what_gains_is_kept_and_tried_again() -> None:
    method = make("doubling", PLANE)
    # 150 is less than 1.3 × for each of two doublings: the next step is a single one.
    assert tell(method, 100, 150, 200) == [(2, 8), (8, 8), (16, 8)]
    # 200 is 1.3 × of 150: a long step, which gains nothing, and a short one.
    assert tell(method, 203, 202) == [(64, 8), (32, 8)]
    assert method.recommended() == ({"concurrency": 16, "parallelism": 8}, 200e9)
    # More flows are of no use: as many with fewer streams each.
    assert asked(method) == (32, 4)


def test_a_halving_that_costs_next_to_nothing_is_kept() -> None:
    method = make("doubling", PLANE)
    # More files lose, and so would more streams; a file fewer loses 1 %.
    assert tell(method, 100, 70, 90, 99) == [(2, 8), (8, 8), (4, 8), (1, 8)]
    assert method.recommended() == ({"concurrency": 1, "parallelism": 8}, 99e9)
    assert asked(method) == (1, 4)


def test_what_fewer_flows_lost_is_asked_with_as_many() -> None:
    method = make("doubling", PLANE)
    # A file fewer loses 10 %: half of the streams would be as few flows.
    assert tell(method, 100, 70, 90, 90) == [(2, 8), (8, 8), (4, 8), (1, 8)]
    assert asked(method) == (4, 4)


def test_at_the_end_the_best_is_measured_once_more() -> None:
    bounds = counts(concurrency=(2, 8), parallelism=(8, 8))
    method = make("doubling", bounds)
    # 8 files gain, 4 lose less than half of 5 % against them.
    assert tell(method, 100, 112, 120) == [(2, 8), (8, 8), (4, 8)]
    assert (method.label, asked(method)) == ("again", (4, 8))
    assert tell(method, 118) == [(4, 8)]
    assert method.ask() is None
    assert method.recommended() == ({"concurrency": 4, "parallelism": 8}, 119e9)


def test_what_was_luck_makes_way_for_the_next() -> None:
    bounds = counts(concurrency=(2, 8), parallelism=(8, 8))
    method = make("doubling", bounds)
    tell(method, 100, 112, 120)
    # The second time 4 files give 98: 109 on the mean, and 8 files have given 112.
    assert tell(method, 98, 113) == [(4, 8), (8, 8)]
    assert method.ask() is None
    assert method.recommended() == ({"concurrency": 8, "parallelism": 8}, 112.5e9)


def test_of_those_that_are_as_good_it_takes_the_fewest_flows() -> None:
    bounds = counts(concurrency=(2, 8), parallelism=(8, 8))
    method = make("doubling", bounds)
    tell(method, 100, 121, 120)
    # 120 is no loss of 2.5 % on 121.
    assert asked(method) == (4, 8)


def test_where_conditions_changed_it_begins_again() -> None:
    """Cross traffic came in the middle: what was refused under it is tried again."""
    bounds = counts(concurrency=(2, 4), parallelism=(8, 8))
    method = make("doubling", bounds)
    assert tell(method, 100, 60, 50, 75, 76) == [(2, 8), (4, 8), (2, 8), (4, 8), (4, 8)]
    assert method.ask() is None
    assert method.recommended() == ({"concurrency": 4, "parallelism": 8}, 75.5e9)


@pytest.mark.parametrize(
    ("gbps", "is_far"), [(55.0, True), (70.0, False), (130.0, False), (145.0, True)]
)
def test_only_a_repeat_that_is_far_off_says_that_conditions_changed(
    gbps: float, is_far: bool
) -> None:
    """Epochs at one setting differ by 10 to 20 %: 30 % are chance, 45 % are not."""
    method = make("doubling", counts(concurrency=(2, 4), parallelism=(8, 8)))
    assert tell(method, 100, 60) == [(2, 8), (4, 8)]
    assert (method.label, asked(method), method.wants_repeat) == ("again", (2, 8), True)
    tell(method, gbps)
    if is_far:
        assert (method.label, asked(method)) == ("concurrency up", (4, 8))
        assert not method.wants_repeat
    else:
        assert method.ask() is None


def test_with_as_many_flows_as_there_may_be_one_is_doubled_and_the_other_halved() -> None:
    """From 4 × 8 neither doubling may be by itself."""
    method = make("doubling", msgspec.structs.replace(PLANE, most_flows=32))
    # A long step would be beyond the bound: a short one.
    assert tell(method, 100, 150, 160, 170) == [(2, 8), (4, 8), (8, 4), (16, 2)]
    # Two streams can be halved again.
    assert asked(method) == (32, 1)


def test_where_as_many_flows_give_the_same_fewer_are_tried() -> None:
    """At the bound more files have fewer streams: that says nothing of the number of flows."""
    method = make("doubling", msgspec.structs.replace(PLANE, most_flows=16))
    assert tell(method, 100, 100, 100) == [(2, 8), (4, 4), (1, 16)]
    assert asked(method) == (1, 8)


def test_what_cannot_be_halved_keeps_to_the_bound() -> None:
    """From 2 × 8 of 8 to 16 streams, 16 flows at most: all that is left are fewer files."""
    bounds = counts(concurrency=(1, 64), parallelism=(8, 16))
    method = make("doubling", msgspec.structs.replace(bounds, most_flows=16))
    assert tell(method, 100, 90, 80) == [(2, 8), (1, 16), (1, 8)]
    assert asked(method) == (2, 8)


def test_it_begins_where_it_is_told_to() -> None:
    method = make("doubling", PLANE, Knowledge(start=Levels(concurrency=5, parallelism=3)))
    assert tell(method, 100, 90, 90, 120) == [(5, 3), (20, 3), (10, 3), (2, 3)]
    assert asked(method) == (1, 3)


def test_a_failed_step_is_refused() -> None:
    method = make("doubling", PLANE)
    assert tell(method, 100, 0, 0) == [(2, 8), (8, 8), (4, 8)]
    assert asked(method) == (1, 8)


def test_where_the_link_is_full_nothing_more_is_tried() -> None:
    """950 of 1000 are what headers leave, and 910 are within 5 % of that."""
    knowledge = Knowledge(bandwidth_bps=1000e9)
    method = make("doubling", counts(concurrency=(1, 64)), knowledge)
    assert tell(method, 910, 800) == [2, 1]
    assert asked(method) == (2,)
    other = make("doubling", counts(concurrency=(1, 64)), knowledge)
    assert tell(other, 900) == [2]
    assert asked(other) == (8,)


def test_what_may_gain_by_its_error_is_kept() -> None:
    """3 % more are no gain of 5 %, but may be with an error of 4 %; fewer have no such benefit."""
    method = make("doubling", counts(concurrency=(1, 64)))
    tell(method, 100)
    for bps, files in ((103e9, 8), (103e9, 16)):
        setting = method.ask()
        assert setting == {"concurrency": files}
        outcome = msgspec.structs.replace(measured(bps), stderr_bps=0.04 * bps)
        method.tell(setting, outcome)
    # Kept at 8, and no gain from there.
    assert method.recommended() == ({"concurrency": 8}, 103e9)


def test_a_halving_has_no_benefit_of_its_error() -> None:
    """1 % less is no loss of 2.5 %, but may be with an error of 3 %."""
    method = make("doubling", PLANE)
    tell(method, 100, 70, 90)
    assert asked(method) == (1, 8)
    outcome = msgspec.structs.replace(measured(99e9), stderr_bps=0.03 * 99e9)
    method.tell({"concurrency": 1, "parallelism": 8}, outcome)
    assert method.recommended() == ({"concurrency": 2, "parallelism": 8}, 100e9)


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
