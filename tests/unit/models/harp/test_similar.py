"""Equation 1, its weights, and the threshold that is lowered."""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.harp.entries import History
from advisor.models.harp.similar import ENOUGH, FITTABLE, enough_of, similar, similarities
from tests.unit.models.harp.worlds import LAN, WAN


def of(conditions: Sequence[Conditions]) -> History:
    one = Levels(concurrency=1, parallelism=1)
    return History.of(
        PastTransfer(conditions=c, levels=one, throughput_bps=1e9) for c in conditions
    )


def like(wanted: Conditions, other: Conditions) -> float:
    return float(similarities(wanted, of([other]))[0])


def test_the_same_conditions_are_alike_and_nothing_else_is_as_much() -> None:
    assert like(WAN, WAN) == pytest.approx(1.0)
    for field, factor in (("bandwidth_bps", 2), ("rtt_s", 2), ("file_bytes", 2), ("file_count", 2)):
        value = factor * getattr(WAN, field)
        assert like(WAN, msgspec.structs.replace(WAN, **{field: value})) < 1 - 1e-6


def test_likeness_falls_with_the_distance_and_is_the_same_both_ways() -> None:
    near = msgspec.structs.replace(WAN, rtt_s=0.1)
    assert 1 > like(WAN, near) > like(WAN, LAN) > 0
    assert like(WAN, LAN) == pytest.approx(like(LAN, WAN))


def test_it_is_the_weighted_cosine_of_equation_1() -> None:
    # Buffer halved and RTT as it is: only BDP / buffer differs, by one of the 19.93 octaves of its
    # range, which is 90°. Its weight is 10 of 28.
    other = msgspec.structs.replace(WAN, buffer_bytes=2**24)
    turned = math.radians(90 / math.log2(1e6))
    assert like(WAN, other) == pytest.approx((18 + 10 * math.cos(turned)) / 28)
    # By hand as the equation has it: two numbers of one length for each feature.
    a = np.array([1.0, 0.0] * 6)
    b = np.array([1.0, 0.0] * 2 + [math.cos(turned), math.sin(turned)] + [1.0, 0.0] * 3)
    w = np.repeat([2, 2, 10, 10, 3, 1], 2)
    cosine = (w * a * b).sum() / math.sqrt((w * a * a).sum() * (w * b * b).sum())
    assert like(WAN, other) == pytest.approx(cosine)


def test_the_class_weighs_more_than_the_size() -> None:
    bdp_bytes = 10e9 * 0.04 / 8
    within = msgspec.structs.replace(WAN, file_bytes=11 * bdp_bytes)
    beyond = msgspec.structs.replace(WAN, file_bytes=9 * bdp_bytes)
    assert like(WAN, within) > 0.99 > like(WAN, beyond)


def test_an_entry_that_tells_nothing_is_between_the_same_and_the_opposite() -> None:
    silent = Conditions(file_bytes=WAN.file_bytes, file_count=34)
    assert like(WAN, WAN) > like(WAN, silent) > 0.5
    # What is not known of the transfer wanted cannot tell entries apart.
    assert like(silent, WAN) == pytest.approx(1.0)


def test_the_threshold_starts_at_0_99_and_is_lowered_until_there_are_enough() -> None:
    history = of([LAN] * 50 + [WAN] * 30)
    first = similar(WAN, history, enough=30)
    assert first.threshold == 0.99
    assert sorted(first.rows) == list(range(50, 80))
    lowered = similar(WAN, history, enough=31)
    assert len(lowered.rows) == 80
    assert lowered.threshold <= lowered.likeness.min() < lowered.threshold + 0.01
    assert lowered.rows[0] >= 50
    assert (np.diff(lowered.likeness) <= 0).all()


def test_all_above_the_first_threshold_are_taken_even_where_fewer_are_enough() -> None:
    assert len(similar(WAN, of([WAN] * 20), enough=1).rows) == 20


def test_of_more_than_the_paper_asks_for_the_newest_are_taken() -> None:
    history = of([WAN] * (ENOUGH + 3))
    history.when_s[:] = np.arange(ENOUGH + 3)
    history.when_s[[7, 9]] = math.nan
    left_out = set(range(ENOUGH + 3)) - set(similar(WAN, history, enough=1).rows.tolist())
    assert left_out == {0, 7, 9}
    assert len(similar(WAN, history, enough=ENOUGH + 3).rows) == ENOUGH + 3


def test_with_little_history_it_uses_what_there_is() -> None:
    assert len(similar(WAN, of([LAN] * 3), enough=6000).rows) == 3
    assert len(similar(WAN, of([LAN])).rows) == 1
    assert len(similar(WAN, of([])).rows) == 0


def test_enough_is_the_papers_share_and_less_of_little_history() -> None:
    assert enough_of(21_000) == enough_of(10**6) == ENOUGH
    assert enough_of(10_500) == ENOUGH / 2
    assert enough_of(6000) == 1715
    assert enough_of(2100) == 210
    assert enough_of(48) == enough_of(1) == FITTABLE
