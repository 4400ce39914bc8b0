"""The order in which a profile is measured."""

from collections import defaultdict

from advisor.domain.grid import Axis, Cell, Grid
from advisor.profiling.order import Step, steps_of

TCP = Grid(subject="tcp", axes=(Axis("streams", (1, 2, 4)), Axis("buffer_bytes", (0, 65536))))
UDT = Grid(subject="udt", axes=(Axis("block_bytes", (1024, 2048)),))


def steps(seed: int = 1, over: dict[Cell, set[str]] | None = None) -> list[Step]:
    return list(steps_of([TCP, UDT], 3, seed, over or {}))


def test_each_round_has_every_setting_once_in_an_order_of_its_own() -> None:
    found = steps()
    assert len(found) == 3 * 8
    orders = [[step.cell for step in found if step.round == number] for number in (1, 2, 3)]
    assert [step.round for step in found] == [1] * 8 + [2] * 8 + [3] * 8
    assert set(orders[0]) == set(orders[1]) == set(orders[2])
    assert len({tuple(order) for order in orders}) == 3


def test_the_seed_decides_the_order() -> None:
    assert steps() == steps()
    assert steps(2) != steps()


def over(steps: list[Step]) -> dict[Cell, set[str]]:
    labels: dict[Cell, set[str]] = defaultdict(set)
    for step in steps:
        labels[step.cell].add(step.label)
    return labels


def test_what_is_over_is_left_out_and_the_rest_keeps_its_order() -> None:
    whole = steps()
    assert steps(over=over(whole[:11])) == whole[11:]


def test_a_round_that_was_lost_is_made_up_though_later_ones_are_over() -> None:
    whole = steps()
    assert steps(over=over(whole[1:20])) == [whole[0], *whole[20:]]
