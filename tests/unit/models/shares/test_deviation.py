"""What rates that differ from the model let expect, at the same concurrencies and at others."""

import math

import pytest

from advisor.models.shares.deviation import Deviation

SAME = (2.0, 10.0)
NEAR = (2.0, 11.0)
FAR = (6.0, 14.0)
OFF = math.log(0.5)


def observed(*levels: tuple[float, float], off: float = OFF) -> Deviation:
    deviation = Deviation(0.3)
    for one in levels:
        deviation.observe(off, one, error=0.05, slope=0.1)
    return deviation


def test_nothing_is_expected_before_the_first_epoch() -> None:
    assert Deviation(0.3).at(SAME) == 0
    assert Deviation(0.3).variance == pytest.approx(0.09)


def test_the_same_concurrencies_get_what_they_got_and_others_a_part_of_it() -> None:
    deviation = observed(*[SAME] * 3, off=-0.3)
    assert deviation.at(SAME) == pytest.approx(-0.3, abs=0.01)
    assert -0.3 < deviation.at(NEAR) < -0.27
    assert -0.23 < deviation.at(FAR) < -0.20


def test_what_is_the_same_at_all_concurrencies_is_expected_at_all() -> None:
    deviation = observed(SAME, FAR, NEAR, (4.0, 12.0), (1.0, 9.0), FAR, SAME)
    assert deviation.at((3.0, 20.0)) == pytest.approx(OFF, abs=0.07)


def test_a_stalled_epoch_counts_as_two_standard_deviations() -> None:
    deviation = observed(SAME, off=-5.0)
    assert -2 * math.hypot(0.3, 0.05) - 0.01 < deviation.at(SAME) < -0.5


def test_more_files_are_less_certain_the_less_the_slope_is_known() -> None:
    known, unknown = observed(SAME), observed(SAME)
    known.observe(OFF, FAR, error=1.0, slope=0.1)
    unknown.observe(OFF, FAR, error=1.0, slope=1.0)
    assert unknown.variance > 2 * known.variance
