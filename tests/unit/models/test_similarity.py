import pytest

from advisor.models.similarity import likeness


def test_the_same_path_is_wholly_alike() -> None:
    assert likeness(0.05, 1e10, 0.05, 1e10) == 1.0


def test_each_doubling_halves_it_either_way() -> None:
    assert likeness(0.05, None, 0.1, 1e10) == pytest.approx(0.5)
    assert likeness(0.1, 1e9, 0.1, 4e9) == pytest.approx(0.25)
    assert likeness(0.1, 1e9, 0.2, 2e9) == pytest.approx(2 ** -(2**0.5))


@pytest.mark.parametrize("rtt_s", [None, 0.0, -1.0])
def test_without_an_rtt_nothing_can_be_said(rtt_s: float | None) -> None:
    assert likeness(rtt_s, 1e9, 0.1, 1e9) is None
    assert likeness(0.1, 1e9, rtt_s, 1e9) is None
