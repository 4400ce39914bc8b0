from collections import Counter
from itertools import product

import numpy as np

from advisor import registry
from advisor.domain.space import Parameter, Scale, Space
from advisor.methods.api import Knowledge, Method
from tests.plugins.searches import counts, follow, make

SPACE = Space(
    parameters=(
        Parameter(name="streams", unit="", lower=1, upper=9),
        Parameter(name="buffer_bytes", unit="B", lower=2**16, upper=2**20, scale=Scale.LOG2),
    ),
    cost_order=("streams", "buffer_bytes"),
)
GRID = set(product((1, 5, 9), (2**16, 2**18, 2**20)))


def shuffled(seed: int) -> Method:
    rng = np.random.default_rng(seed)
    return registry.method("sweep").create(SPACE, rng, Knowledge(), {"points": 3, "repeats": 4})


def test_every_round_measures_every_setting_of_the_grid_once() -> None:
    sweep = shuffled(1)
    rounds = [follow(sweep, lambda _: 1.0, 9) for _ in range(4)]
    assert all(set(one) == GRID for one in rounds)
    assert sweep.ask() is None
    assert sweep.stop_reason is not None
    assert "9 settings" in sweep.stop_reason
    assert "4 times" in sweep.stop_reason


def test_the_order_is_drawn_anew_for_every_round_and_seed() -> None:
    first, second, other = shuffled(1), shuffled(1), shuffled(2)
    rounds = [tuple(follow(first, lambda _: 1.0, 9)) for _ in range(4)]
    assert len(set(rounds)) == 4
    assert tuple(follow(second, lambda _: 1.0, 9)) == rounds[0]
    assert tuple(follow(other, lambda _: 1.0, 9)) not in rounds


def test_points_that_fall_together_count_once() -> None:
    sweep = make("sweep", counts(streams=(1, 3)), points=200, repeats=2)
    assert Counter(follow(sweep, lambda _: 1.0, 1000)) == {1: 2, 2: 2, 3: 2}
