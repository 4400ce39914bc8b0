"""Where a throughput profile turns from concave to convex, and where two of them cross."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from advisor.models.rtt_profile import FEWEST_RTTS, crossover, transition

RTTS_S = [0.0004, 0.0116, 0.0226, 0.0456, 0.0916, 0.183, 0.366]
Curve = Callable[[float], float]


def kink(at_s: float) -> Curve:
    """At capacity up to the bandwidth-delay product of the buffers, then as 1/RTT."""
    return lambda rtt_s: min(1.0, at_s / rtt_s)


def sigmoid(at_s: float) -> Curve:
    return lambda rtt_s: 1 / (1 + math.exp(4 * (rtt_s / at_s - 1)))


def parabola(at_s: float) -> Curve:
    return lambda rtt_s: (
        1 - 0.4 * (rtt_s / at_s) ** 2
        if rtt_s < at_s
        else 0.6 * math.exp(4 / 3 * (1 - rtt_s / at_s))
    )


def measured(curve: Curve, spread: float, rng: np.random.Generator) -> dict[float, list[float]]:
    """Ten repeats at each RTT, as in the paper."""
    return {
        rtt_s: list(1e9 * max(curve(rtt_s), 1e-4) * rng.lognormal(0, spread, 10))
        for rtt_s in RTTS_S
    }


def step(rtt_s: float) -> int:
    """The number of measured RTTs below."""
    return sum(one < rtt_s for one in RTTS_S)


@pytest.mark.parametrize("shape", [kink, sigmoid, parabola])
@pytest.mark.parametrize("spread", [0.03, 0.08])
def test_the_transition_is_found_within_one_step_of_the_grid(
    shape: Callable[[float], Curve], spread: float
) -> None:
    rng = np.random.default_rng(11)
    right = 0
    for seed in range(100):
        at_s = math.exp(rng.uniform(math.log(RTTS_S[1]), math.log(RTTS_S[-2])))
        found = transition(measured(shape(at_s), spread, rng), seed, resamples=1)
        assert found is not None
        # What is concave throughout turns beyond the last step, or is not seen to turn in it.
        right += abs(step(min(found.rtt_s, RTTS_S[-1])) - step(at_s)) <= 1
    assert right >= 95


def test_it_has_an_interval_that_grows_with_the_noise() -> None:
    rng = np.random.default_rng(3)
    still = transition(measured(parabola(0.05), 0.01, rng))
    loud = transition(measured(parabola(0.05), 0.4, rng))
    assert still is not None
    assert loud is not None
    assert still.interval_s[0] <= still.rtt_s <= still.interval_s[1]
    assert loud.interval_s[1] / max(loud.interval_s[0], 1e-4) > (
        still.interval_s[1] / max(still.interval_s[0], 1e-4)
    )


def test_convex_throughout_and_concave_throughout() -> None:
    rng = np.random.default_rng(5)
    convex = transition(measured(lambda rtt_s: 0.01 / (rtt_s + 0.01), 0.005, rng))
    concave = transition(measured(lambda rtt_s: 1 - (rtt_s / 0.4) ** 2, 0.005, rng))
    assert convex is not None
    assert concave is not None
    assert convex.rtt_s == 0
    assert concave.rtt_s == math.inf


def test_a_curve_that_stays_at_capacity_is_not_convex() -> None:
    found = transition({rtt_s: [1e9] * 10 for rtt_s in RTTS_S})
    assert found is not None
    assert found.rtt_s == math.inf


def test_too_few_rtts_say_nothing() -> None:
    assert transition({rtt_s: [1e9] for rtt_s in RTTS_S[: FEWEST_RTTS - 1]}) is None


def test_one_repeat_of_each_is_enough_for_a_value() -> None:
    found = transition({rtt_s: [1e9 * kink(0.06)(rtt_s)] for rtt_s in RTTS_S})
    assert found is not None
    assert RTTS_S[2] < found.rtt_s < RTTS_S[5]


def test_where_one_passes_the_other() -> None:
    rng = np.random.default_rng(2)
    inside = 0
    for seed in range(20):
        at_s = math.exp(rng.uniform(math.log(0.02), math.log(0.3)))
        slow = measured(lambda _: 0.4, 0.05, rng)
        falling = measured(lambda rtt_s, at_s=at_s: 0.4 * at_s / rtt_s, 0.05, rng)
        found = crossover(slow, falling, seed)
        assert found is not None
        assert abs(step(found.rtt_s) - step(at_s)) <= 1
        inside += found.interval_s[0] * 0.9 <= at_s <= found.interval_s[1] * 1.1
    # Between two RTTs the curves are taken as straight, which those are not.
    assert inside >= 10


def test_above_everywhere_or_nowhere() -> None:
    fast = {rtt_s: [2e9, 2.1e9] for rtt_s in RTTS_S}
    slow = {rtt_s: [1e9, 1.1e9] for rtt_s in RTTS_S}
    found = crossover(fast, slow)
    assert found is not None
    assert found.rtt_s == 0
    assert crossover(slow, fast) is None
    assert crossover({}, fast) is None
