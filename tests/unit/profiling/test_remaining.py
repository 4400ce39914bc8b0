"""How long the rest of a profile takes."""

from advisor.advising.budget import Budget
from advisor.profiling.remaining import RemainingWork


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_at_first_it_is_the_most_and_then_what_probes_take() -> None:
    clock = Clock()
    work = RemainingWork(10, 60.0, clock)
    assert work.left_s == 60.0
    for _ in range(4):
        clock.now_s += 2.0
        work.probe_is_over()
    assert work.left_s == 12.0


def test_a_pause_is_not_counted() -> None:
    clock = Clock()
    work = RemainingWork(4, 60.0, clock)
    clock.now_s += 50.0
    work.give_back(49.0)
    work.probe_is_over()
    assert work.left_s == 3.0


def test_it_never_falls_below_zero() -> None:
    clock = Clock()
    work = RemainingWork(1, 5.0, clock)
    clock.now_s += 9.0
    work.probe_is_over()
    work.probe_is_over()
    assert work.left_s == 0.0


def test_a_profile_waits_for_its_turn_however_long_others_measure() -> None:
    work = RemainingWork(2, 5.0, Clock())
    assert work.longest_wait_s(3.0) is None
    assert Budget(5.0, Clock()).longest_wait_s(3.0) == 5.0
    assert Budget(5.0, Clock()).longest_wait_s(7.0) == 7.0
