"""Epochs that end when their difference is decided."""

import numpy as np
import pytest

from advisor.domain.epoch import Comparison, EpochRate
from advisor.domain.measurement import Interval
from advisor.models.epoch_end import LOOKS, differs, epoch_rate, is_shown

LOOK_S = 0.4
RATE_BPS = 1e9


def epoch(rng: np.random.Generator, bps: float, noise: float, looks: int = LOOKS) -> list[Interval]:
    rates = bps * np.exp(rng.normal(0.0, noise, looks))
    return [
        Interval(n * LOOK_S, (n + 1) * LOOK_S, round(rate * LOOK_S / 8))
        for n, rate in enumerate(rates)
    ]


def looks_needed(intervals: list[Interval], reference: EpochRate) -> int:
    wanted = Comparison(reference=reference)
    ends = (n for n in range(1, LOOKS) if is_shown(intervals[:n], wanted))
    return next(ends, LOOKS)


@pytest.mark.parametrize("noise", [0.05, 0.15, 0.3])
def test_equal_settings_seldom_differ(noise: float) -> None:
    """Over all looks of an epoch, in at most 5 % of the epochs; the reference is an epoch too."""
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(400):
        reference = epoch_rate(epoch(rng, RATE_BPS, noise))
        intervals = epoch(rng, RATE_BPS, noise)
        wrong += any(differs(epoch_rate(intervals[:n]), reference) for n in range(4, LOOKS + 1))
    assert wrong <= 0.05 * 400


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_half_and_double_show_soon(factor: float) -> None:
    rng = np.random.default_rng(8)
    reference = EpochRate(bps=RATE_BPS, stderr_bps=0.08 * RATE_BPS)
    needed = [looks_needed(epoch(rng, factor * RATE_BPS, 0.15), reference) for _ in range(50)]
    assert np.median(needed) <= LOOKS / 2


def test_a_longer_look_is_not_taken_at_what_the_reference_leaves_open() -> None:
    rng = np.random.default_rng(9)
    vague = EpochRate(bps=RATE_BPS, stderr_bps=0.3 * RATE_BPS)
    known = EpochRate(bps=RATE_BPS, stderr_bps=0.01 * RATE_BPS)
    intervals = epoch(rng, 1.02 * RATE_BPS, 0.05)
    assert looks_needed(intervals, vague) < looks_needed(intervals, known) == LOOKS


def test_what_still_rises_is_not_decided() -> None:
    """A rate that comes up to that of the reference is below it at first."""
    reference = EpochRate(bps=RATE_BPS, stderr_bps=0.05 * RATE_BPS)
    rates = [RATE_BPS * (1 - 0.9 ** (n + 1)) for n in range(LOOKS)]
    intervals = [
        Interval(n * LOOK_S, (n + 1) * LOOK_S, round(rate * LOOK_S / 8))
        for n, rate in enumerate(rates)
    ]
    assert looks_needed(intervals, reference) >= LOOKS / 2


def test_without_a_reference_the_rate_is_to_be_known() -> None:
    rng = np.random.default_rng(10)
    assert not is_shown(epoch(rng, RATE_BPS, 0.1, 3), Comparison())
    assert is_shown(epoch(rng, RATE_BPS, 0.1), Comparison())
    assert not is_shown(epoch(rng, RATE_BPS, 1.0, 6), Comparison())


def test_nothing_that_arrives_decides_nothing() -> None:
    nothing = [Interval(n * LOOK_S, (n + 1) * LOOK_S, 0) for n in range(LOOKS)]
    reference = EpochRate(bps=RATE_BPS, stderr_bps=0.0)
    assert looks_needed(nothing, reference) == LOOKS
