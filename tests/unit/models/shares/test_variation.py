"""The load variation experiment."""

from collections import Counter

from advisor.models.shares.variation import least_steps, steps, whole_round

NAMES = ("kraken", "mason", "gordon")


def test_every_second_step_is_a_baseline_and_the_others_raise_one_after_the_other() -> None:
    found = steps(NAMES, least_steps(len(NAMES)))
    assert found == [
        {"kraken": 2, "mason": 2, "gordon": 2},
        {"kraken": 4, "mason": 2, "gordon": 2},
        {"kraken": 2, "mason": 2, "gordon": 2},
        {"kraken": 2, "mason": 4, "gordon": 2},
        {"kraken": 2, "mason": 2, "gordon": 2},
        {"kraken": 2, "mason": 2, "gordon": 4},
    ]


def test_a_whole_round_has_every_baseline_as_often() -> None:
    found = steps(NAMES, whole_round(len(NAMES)))
    baselines = Counter(next(iter(one.values())) for one in found if len(set(one.values())) == 1)
    assert baselines == {1: 3, 2: 3, 4: 3}


def test_later_rounds_raise_by_something_else() -> None:
    number = whole_round(len(NAMES))
    first, second = (steps(NAMES, 2 * number)[start:][:number] for start in (0, number))
    assert first[::2] == second[::2]
    assert first[1] != second[1]


def test_one_destination_alone_has_its_concurrency_varied_too() -> None:
    assert len({one["kraken"] for one in steps(["kraken"], whole_round(1))}) > 2
