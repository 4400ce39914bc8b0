"""Samples from transfers whose times overlapped."""

import pytest

from advisor.models.shares.from_transfers import Overlapping, samples_of_transfers


def one(destination: str, begin_s: float, end_s: float, rate: float, level: int = 1) -> Overlapping:
    return Overlapping(
        destination=destination,
        begin_s=begin_s,
        end_s=end_s,
        concurrency=level,
        throughput_bps=rate,
    )


def test_what_overlaps_whole_counts_whole() -> None:
    found = samples_of_transfers([one("a", 0, 10, 5e6, 2), one("b", 0, 10, 7e6, 3)])
    [a], [b] = found["a"], found["b"]
    assert (a.concurrency, a.source_concurrency, a.throughput_bps) == (2, 5, pytest.approx(5e6))
    assert (b.concurrency, b.source_concurrency, b.throughput_bps) == (3, 5, pytest.approx(7e6))
    assert a.when_s == 10


def test_two_to_one_destination_are_one_destination() -> None:
    found = samples_of_transfers([one("a", 0, 10, 5e6), one("a", 0, 10, 3e6)])
    assert [(s.concurrency, s.throughput_bps) for s in found["a"]] == [(2, 8e6), (2, 8e6)]


def test_what_overlaps_in_part_counts_by_its_part() -> None:
    # b runs for three quarters of a's time: 1 + 0.75 × 4 rounds to 4.
    found = samples_of_transfers([one("a", 0, 100, 5e6), one("b", 25, 200, 7e6, 4)])
    assert found["a"][0].source_concurrency == 4
    assert found["a"][0].throughput_bps == pytest.approx(5e6)


def test_what_follows_is_alone_and_what_took_no_time_is_nothing() -> None:
    found = samples_of_transfers([one("a", 0, 10, 5e6), one("b", 10, 20, 7e6), one("c", 5, 5, 9e6)])
    assert {name: [s.source_concurrency for s in some] for name, some in found.items()} == {
        "a": [1],
        "b": [1],
    }


def test_nothing_gives_nothing() -> None:
    assert samples_of_transfers([]) == {}
