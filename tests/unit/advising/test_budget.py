import pytest

from advisor.advising.budget import Budget, default_budget_s


class Clock:
    now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def test_it_counts_down() -> None:
    clock = Clock()
    budget = Budget(60, clock)
    clock.now_s += 25
    assert budget.left_s == 35
    budget.give_back(10)
    assert budget.left_s == 45
    clock.now_s += 1000
    assert budget.left_s == 0


def test_a_resumed_session_has_what_was_left() -> None:
    assert Budget(60, Clock(), spent_s=50).left_s == 10


@pytest.mark.parametrize(
    ("rtt_s", "budget_s"), [(0.0001, 60), (0.1, 60), (0.2, 120), (0.366, 219.6)]
)
def test_it_grows_with_the_rtt(rtt_s: float, budget_s: float) -> None:
    assert default_budget_s(rtt_s) == pytest.approx(budget_s)
