"""How far single measurements are from a smooth curve."""

import numpy as np
import pytest

from advisor.models.scatter import scatter


@pytest.mark.parametrize("points", [[], [(1.0, 5.0)], [(1.0, 5.0), (2.0, 9.0), (3.0, 0.0)]])
def test_too_few_points_show_none(points: list[tuple[float, float]]) -> None:
    assert scatter(points) == 0.0


def test_a_line_has_none_however_its_points_lie() -> None:
    line = [(x, 3 * x + 1) for x in (5.0, 0.0, 0.5, 3.0, 20.0)]
    assert scatter(line) == pytest.approx(0.0, abs=1e-12)


def test_a_line_that_bends_once_has_none() -> None:
    bent = [(x, min(x, 4.0)) for x in np.arange(9.0)]
    assert scatter(bent) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("each", [1, 3], ids=["one at each x", "three at each x"])
def test_it_is_the_standard_deviation_of_a_single_point(each: int) -> None:
    rng = np.random.default_rng(1)
    points = [(float(n // each), n / 50 + rng.normal(0, 0.3)) for n in range(3000)]
    assert scatter(points) == pytest.approx(0.3, rel=0.1)
