"""Online tuning of the classes of a plan."""

import numpy as np
import pytest

from advisor.domain.transfers import Levels
from advisor.models.file_classes import Size
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import Optimiser, SampleTransfer
from advisor.models.harp.optimum import keep_of
from advisor.transfer.planned.retuning import ClassRate, Retuning
from tests.benchmarks.plans_virtual import LOADS, Data, run_plan
from tests.unit.models.harp.worlds import BOX, DAY_S, WAN, Truth, hill, sweep

LIGHT, HEAVY = hill((8, 3, 2), 8e9), hill((26, 20, 2), 2e9)
WHOLE = keep_of(1.0)
LARGE = Data((Size.LARGE,), 6)


def retuning(truth: Truth) -> Retuning:
    """Of a plan made by a sample under this load; history knows a light and a heavy one."""
    entries = sweep(LIGHT, when_s=0.0, noise=0.02) + sweep(HEAVY, when_s=2 * DAY_S, noise=0.02)
    optimiser = Optimiser(WAN, History.of(entries), BOX)
    levels = Levels(concurrency=2, parallelism=2)
    sample = SampleTransfer(levels=levels, throughput_bps=truth(2, 2, 1))
    return Retuning(optimiser, optimiser.answer(sample, keep=WHOLE), WHOLE)


def expected_bps(one: Retuning, levels: Levels) -> float:
    found = one.answer.expected_bps(levels)
    assert found is not None
    return found


def alone(one: Retuning, ratio: float) -> ClassRate:
    levels = one.answer.levels
    return ClassRate(levels=levels, bps=ratio * expected_bps(one, levels), is_alone=True)


def beside(levels: Levels, bps: float) -> ClassRate:
    return ClassRate(levels=levels, bps=bps, is_alone=False)


def test_levels_change_after_four_epochs_of_another_load() -> None:
    one = retuning(LIGHT)
    before = one.answer.levels
    seen = alone(one, 0.2)
    assert [one.look(seen) for _ in range(3)] == [None] * 3
    after = one.look(seen)
    assert after is not None
    assert after is one.answer
    assert after.levels.concurrency >= before.concurrency + 2
    assert after.levels.parallelism >= before.parallelism + 2
    assert after.throughput_bps == after.expected_bps(after.levels)


def test_one_usual_epoch_in_between_begins_again() -> None:
    one = retuning(LIGHT)
    heavy, usual = alone(one, 0.2), alone(one, 1.0)
    assert [one.look(seen) for seen in (heavy, heavy, heavy, usual, heavy, heavy, heavy)] == [
        None
    ] * 7
    assert one.look(heavy) is not None


@pytest.mark.parametrize("truth", [LIGHT, HEAVY])
def test_the_load_of_the_plan_changes_nothing(truth: Truth) -> None:
    one = retuning(truth)
    noise = np.random.default_rng(0).uniform(0.75, 1.25, 40)
    assert [one.look(alone(one, float(ratio))) for ratio in noise] == [None] * 40


def test_beside_others_the_first_epoch_is_the_reference() -> None:
    one, levels = retuning(LIGHT), Levels(concurrency=3, parallelism=3)
    # A tenth of what it would get alone, since others are moved too: that is no other load.
    shared_bps = expected_bps(one, levels) / 10
    assert [one.look(beside(levels, shared_bps)) for _ in range(8)] == [None] * 8
    found = [one.look(beside(levels, shared_bps / 5)) for _ in range(4)]
    assert found[:3] == [None] * 3
    assert found[3] is not None
    assert found[3].levels.concurrency > levels.concurrency


def test_other_company_has_another_reference() -> None:
    one, levels = retuning(LIGHT), Levels(concurrency=3, parallelism=3)
    for _ in range(3):
        one.look(beside(levels, 5e9))
    one.restart()
    assert [one.look(beside(levels, 1e9)) for _ in range(8)] == [None] * 8


def test_an_epoch_in_which_nothing_arrived_says_nothing() -> None:
    one = retuning(LIGHT)
    assert [one.look(alone(one, 0.0)) for _ in range(6)] == [None] * 6


@pytest.mark.parametrize("load", LOADS)
def test_a_constant_load_is_left_as_planned(load: str) -> None:
    plain, tuned = (
        run_plan(name, ((0.0, load),), 0, LARGE)
        for name in ("HARP, sample", "HARP, sample and online tuning")
    )
    assert tuned.changes == 0
    assert tuned.bps == pytest.approx(plain.bps, rel=0.01)


def test_a_load_that_becomes_heavy_is_followed() -> None:
    timeline = ((0.0, "light"), (100.0, "heavy"))
    plain, tuned = (
        run_plan(name, timeline, 0, LARGE)
        for name in ("HARP, sample", "HARP, sample and online tuning")
    )
    assert tuned.changes >= 1
    assert tuned.flows > plain.flows
    assert tuned.bps > 1.05 * plain.bps


def test_classes_that_are_moved_together_are_followed_too() -> None:
    data, timeline = Data(times=3), ((0.0, "light"), (100.0, "heavy"))
    plain, tuned = (
        run_plan(name, timeline, 0, data)
        for name in ("HARP, sample", "HARP, sample and online tuning")
    )
    assert tuned.changes >= 1
    assert tuned.bps > plain.bps
