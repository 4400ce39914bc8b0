"""How precisely a rate is known while it is measured."""

import math

import numpy as np
import pytest

from advisor.models.shares.precision import FEWEST, largest_error, relative_error


def correlated(
    rng: np.random.Generator, number: int, spread: float, correlation: float
) -> list[float]:
    """Rates around 100 of which neighbours are alike."""
    now = rng.normal()
    found = []
    for _ in range(number):
        now = correlation * now + math.sqrt(1 - correlation**2) * rng.normal()
        found.append(100.0 * (1 + spread * now))
    return found


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.8])
def test_it_is_the_spread_of_the_means_of_repeats(correlation: float) -> None:
    rng = np.random.default_rng(3)
    repeats = [correlated(rng, 100, 0.25, correlation) for _ in range(300)]
    truth = float(np.std([np.mean(one) for one in repeats])) / 100
    stated = float(np.mean([relative_error(one) for one in repeats]))
    assert stated == pytest.approx(truth, rel=0.25)


def test_few_rates_that_are_alike_by_chance_are_not_believed() -> None:
    assert relative_error([100.0] * FEWEST) > 0.03
    assert relative_error([100.0] * 100) < 0.03


def test_too_few_or_nothing_is_not_known_at_all() -> None:
    assert relative_error([100.0] * (FEWEST - 1)) == math.inf
    assert relative_error([0.0] * FEWEST) == math.inf
    assert largest_error([]) == math.inf


def test_of_several_destinations_the_least_known_counts() -> None:
    quiet, noisy = [100.0] * 30, [50.0, 150.0] * 15
    assert largest_error([quiet, noisy]) == relative_error(noisy) > relative_error(quiet)
