import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.models.smoothing import smoothed

rtts = st.floats(1e-6, 10)


def test_the_paper_s_weight() -> None:
    assert smoothed(0.080, 0.160) == pytest.approx(0.090)


@given(rtts, rtts, st.floats(0, 1))
def test_it_lies_between_the_old_and_the_new(srtt_s: float, rtt_s: float, beta: float) -> None:
    result = smoothed(srtt_s, rtt_s, beta)
    slack = 1e-12
    assert min(srtt_s, rtt_s) - slack <= result <= max(srtt_s, rtt_s) + slack


@pytest.mark.parametrize(("srtt_s", "rtt_s", "beta"), [(0, 1, 0.1), (1, -1, 0.1), (1, 1, 1.1)])
def test_what_makes_no_sense_is_refused(srtt_s: float, rtt_s: float, beta: float) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 — the words differ by case
        smoothed(srtt_s, rtt_s, beta)
