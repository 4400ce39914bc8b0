"""Weights of groups by their error against the sample."""

import numpy as np
from sklearn.cluster import DBSCAN

from advisor.models.harp.weighing import weights

MBIT = 1e6


def test_classes_of_errors_weigh_powers_of_two_from_the_worst_to_the_best() -> None:
    # Neighbours are within 6 Gbit/s / 60 = 100 Mbit/s.
    errors = np.array([10, 3000, -60, 1000, -3050, 130]) * MBIT
    assert weights(errors, 6e9).tolist() == [4, 1, 4, 2, 1, 4]


def test_errors_are_neighbours_within_a_sixtieth_of_the_highest_throughput() -> None:
    assert weights(np.array([0, 95]) * MBIT, 6e9).tolist() == [1, 1]
    assert weights(np.array([0, 105]) * MBIT, 6e9).tolist() == [2, 1]


def test_the_sign_of_the_error_does_not_matter() -> None:
    errors = np.array([500.0, -500.0]) * MBIT
    assert weights(errors, 6e9).tolist() == [1, 1]


def test_one_group_and_none() -> None:
    assert weights(np.array([1e9]), 6e9).tolist() == [1]
    assert weights(np.array([]), 6e9).tolist() == []


def test_the_classes_are_those_of_dbscan() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        errors = rng.normal(scale=1e9, size=int(rng.integers(1, 40)))
        classes = DBSCAN(eps=6e9 / 60, min_samples=1).fit_predict(np.abs(errors)[:, None])
        found = weights(errors, 6e9)
        for one in range(classes.max() + 1):
            assert len(set(found[classes == one])) == 1
        assert len(set(found)) == classes.max() + 1
        assert found.max() == 2.0 ** classes.max()
