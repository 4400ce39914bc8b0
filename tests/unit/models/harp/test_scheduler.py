"""Algorithm 1 against the paper's worked example."""

from advisor.domain.transfers import Levels
from advisor.models.harp.scheduler import ClassDemand, schedule

GB = 10**9


def demand(
    cc: int, p: int, ahead: int, unit: float, total_bytes: int = GB, most: int = 1000
) -> ClassDemand:
    """As the paper writes it: pipelining counts the commands sent ahead, from 0."""
    levels = Levels(concurrency=cc, parallelism=p, pipelining=ahead + 1)
    return ClassDemand(
        levels=levels, total_bytes=total_bytes, unit_throughput_bps=unit, most_channels=most
    )


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


def test_every_channel_is_handed_out_and_no_class_gets_nothing() -> None:
    found = scheduled(demand(2, 1, 0, 1), demand(10, 1, 0, 1000), demand(10, 1, 0, 1000))
    assert [one[0] for one in found] == [8, 1, 1]
    # A third of ten each: the tenth is not lost in rounding down.
    even = scheduled(demand(10, 1, 0, 1), demand(10, 1, 0, 1), demand(10, 1, 0, 1))
    assert sorted(one[0] for one in even) == [3, 3, 4]


def test_classes_without_work_for_their_channels_leave_them_to_the_others() -> None:
    found = scheduled(demand(10, 1, 0, 1, most=2), demand(3, 1, 0, 1), demand(3, 1, 0, 1))
    assert [one[0] for one in found] == [2, 4, 4]
    full = scheduled(demand(10, 1, 0, 1, most=2), demand(10, 1, 0, 1, most=3))
    assert [one[0] for one in full] == [2, 3]


def test_more_classes_than_channels_have_one_each() -> None:
    assert [one[0] for one in scheduled(*[demand(1, 1, 0, 1)] * 3)] == [1, 1, 1]


def test_one_class_keeps_its_levels_and_none_has_none() -> None:
    assert scheduled(demand(7, 2, 3, 123.4)) == [(7, 2, 3)]
    assert schedule([]) == []


def test_shares_that_come_out_even_are_not_lost_to_rounding() -> None:
    third = [demand(9, 1, 0, 0.1), demand(9, 1, 0, 0.1), demand(9, 1, 0, 0.1)]
    assert [one[0] for one in scheduled(*third)] == [3, 3, 3]
