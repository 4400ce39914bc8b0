import json
import math

import numpy as np
import pytest

from advisor.methods.searching import change_percent, generator_state, set_generator, usable_bps
from advisor.testing.samples import failed, measured


def test_a_generator_resumes_from_the_middle_of_a_draw() -> None:
    """Small integers are drawn two from each 64-bit number: the other half is state too."""
    first, second = np.random.default_rng(1), np.random.default_rng(2)
    first.integers(0, 2)
    saved = json.loads(json.dumps(generator_state(first)))
    set_generator(second, saved)
    assert [first.integers(0, 1000) for _ in range(9)] == [
        second.integers(0, 1000) for _ in range(9)
    ]


def test_a_state_saved_without_that_half_is_taken_too() -> None:
    first, second = np.random.default_rng(1), np.random.default_rng(2)
    saved = generator_state(first)
    del saved["has_uint32"], saved["uinteger"]
    set_generator(second, saved)
    assert first.random() == second.random()


@pytest.mark.parametrize(
    ("before", "now", "percent"), [(100, 105, 5), (100, 0, -100), (0, 0, 0), (0, 7, 100)]
)
def test_a_change_is_in_percent_of_what_was_before(before: int, now: int, percent: int) -> None:
    assert change_percent(before, now) == percent


def test_what_is_no_throughput_counts_as_none() -> None:
    assert usable_bps(measured(5.0)) == 5
    for outcome in (failed(), measured(math.nan), measured(math.inf), measured(-1.0)):
        assert usable_bps(outcome) == 0
