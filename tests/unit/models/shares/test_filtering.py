"""The load as it is followed through what was seen of it."""

import math
import random

import pytest

from advisor.models.shares.filtering import filtered


def test_nothing_seen_is_the_usual_load() -> None:
    assert filtered([], 1000.0) == 0.0


def test_one_look_is_not_believed_altogether_and_fades() -> None:
    seen = [(1000.0, 2.0)]
    now = filtered(seen, 1000.0)
    assert now == pytest.approx(2 / 1.3)  # Its variance is 1, that of chance 0.3.
    later = [filtered(seen, 1000.0 + passed_s) for passed_s in (30, 300, 3000, 30_000)]
    assert now > later[0] > later[1] > later[2] > later[3] > 0
    assert later[1] == pytest.approx(now / 2 * math.exp(-300 / 1800), rel=0.02)


def test_what_stays_so_is_believed() -> None:
    off = filtered([(60.0 * number, 2.0) for number in range(60)], 3540.0)
    assert off == pytest.approx(2.0, rel=0.1)


def test_a_load_that_comes_is_followed_sooner_than_by_the_mean_of_half_an_hour() -> None:
    before = [(30.0 * number, 0.0) for number in range(55)]
    after = [(1650.0 + 30.0 * number, 2.0) for number in range(5)]
    assert sum(off for _, off in before + after) / 60 < 0.2
    assert filtered(before + after, 1770.0) > 1.2


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_averaged_out(seed: int) -> None:
    """Nearer to the truth than the last look is, which is what it is for."""
    rng = random.Random(seed)
    truth, seen, filter_off, last_off = 1.0, [], 0.0, 0.0
    for number in range(200):
        seen.append((20.0 * number, rng.gauss(truth, 0.8)))
        if number >= 20:
            filter_off += abs(filtered(seen, 20.0 * number) - truth)
            last_off += abs(seen[-1][1] - truth)
    assert filter_off < 0.7 * last_off


def test_the_order_of_equal_times_does_not_matter() -> None:
    seen = [(0.0, 1.0), (0.0, -1.0), (0.0, 3.0)]
    assert filtered(seen, 10.0) == pytest.approx(filtered(seen[::-1], 10.0))
