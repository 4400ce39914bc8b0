"""Algorithm 1 against the paper's worked example."""

from advisor.domain.transfers import Levels
from advisor.models.harp.scheduler import ClassDemand, schedule

GB = 10**9


def demand(cc: int, p: int, ahead: int, unit: float, total_bytes: int = GB) -> ClassDemand:
    """As the paper writes it: pipelining counts the commands sent ahead, from 0."""
    levels = Levels(concurrency=cc, parallelism=p, pipelining=ahead + 1)
    return ClassDemand(levels=levels, total_bytes=total_bytes, unit_throughput_bps=unit)


def scheduled(*demands: ClassDemand) -> list[tuple[int, int, int]]:
    return [
        (one.concurrency, one.parallelism, one.pipelining - 1) for one in schedule(list(demands))
    ]


def test_the_worked_example() -> None:
    found = scheduled(demand(7, 1, 10, 100), demand(4, 3, 1, 200), demand(3, 5, 0, 400))
    # Printed: (4,1,10), (2,3,1), (1,3,0). The last parallelism contradicts "used as is": 5 went in.
    assert found == [(4, 1, 10), (2, 3, 1), (1, 5, 0)]


def test_larger_and_slower_classes_get_more_channels() -> None:
    even = [demand(8, 1, 0, 100), demand(8, 1, 0, 100)]
    assert [one[0] for one in scheduled(*even)] == [4, 4]
    larger = [demand(8, 1, 0, 100, 3 * GB), demand(8, 1, 0, 100)]
    assert [one[0] for one in scheduled(*larger)] == [6, 2]
    slower = [demand(8, 1, 0, 100), demand(8, 1, 0, 300)]
    assert [one[0] for one in scheduled(*slower)] == [6, 2]


def test_no_class_gets_more_than_it_asks_for_and_none_gets_nothing() -> None:
    found = scheduled(demand(2, 1, 0, 1), demand(10, 1, 0, 1000), demand(10, 1, 0, 1000))
    assert [one[0] for one in found] == [2, 1, 1]


def test_one_class_keeps_its_levels_and_none_has_none() -> None:
    assert scheduled(demand(7, 2, 3, 123.4)) == [(7, 2, 3)]
    assert schedule([]) == []


def test_shares_that_come_out_even_are_not_lost_to_rounding() -> None:
    third = [demand(9, 1, 0, 0.1), demand(9, 1, 0, 0.1), demand(9, 1, 0, 0.1)]
    assert [one[0] for one in scheduled(*third)] == [3, 3, 3]
