"""The neural model that HARP is compared with."""

import importlib.util
import sys

import msgspec
import pytest

from advisor import registry
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.harp.ann import LEAST_ENTRIES, NeuralAnswer, neural_answer
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import SampleTransfer
from advisor.models.harp.optimum import LevelBounds
from tests.unit.models.harp.worlds import BOX, DAY_S, WAN, hill, sweep

START = Levels(concurrency=2, parallelism=2)


def answer(
    entries: list[PastTransfer], sample_bps: float, seed: int = 0, bounds: LevelBounds = BOX
) -> NeuralAnswer:
    sample = SampleTransfer(levels=START, throughput_bps=sample_bps)
    return neural_answer(WAN, sample, History.of(entries), bounds, seed=seed)


def test_it_finds_the_top_of_what_it_was_taught() -> None:
    found = answer(sweep(hill((16, 8, 4), 5e9), noise=0.02), hill((16, 8, 4), 5e9)(2, 2, 1))
    truth = hill((16, 8, 4), 5e9)
    levels = found.levels
    assert truth(levels.concurrency, levels.parallelism, levels.pipelining) > 0.97 * 5e9
    assert found.throughput_bps == pytest.approx(5e9, rel=0.1)
    assert found.entries == 216


def test_the_sample_tells_which_load_it_is() -> None:
    light, heavy = hill((4, 2, 1), 8e9), hill((32, 32, 1), 2e9)
    entries = [
        *sweep(light, noise=0.02),
        *sweep(heavy, when_s=2 * DAY_S, noise=0.02, seed=1),
        *sweep(light, when_s=4 * DAY_S, noise=0.02, seed=2),
        *sweep(heavy, when_s=6 * DAY_S, noise=0.02, seed=3),
    ]
    at_light, at_heavy = answer(entries, light(2, 2, 1)), answer(entries, heavy(2, 2, 1))
    assert at_light.throughput_bps > 6e9 > 3e9 > at_heavy.throughput_bps
    assert at_light.levels.concurrency < at_heavy.levels.concurrency


def test_no_more_is_expected_than_the_link_carries() -> None:
    fast = [
        msgspec.structs.replace(one, throughput_bps=3 * one.throughput_bps)
        for one in sweep(hill((16, 8, 4), 5e9), noise=0.02)
    ]
    assert answer(fast, 9e9).throughput_bps == WAN.bandwidth_bps
    assert answer(fast, 14e9).throughput_bps <= 14e9


def test_the_seed_decides_and_the_box_holds() -> None:
    entries = sweep(hill((16, 8, 4), 5e9), noise=0.1)
    assert answer(entries, 4e9, seed=1) == answer(entries, 4e9, seed=1)
    assert answer(entries, 4e9, seed=1) != answer(entries, 4e9, seed=2)
    small = LevelBounds(lower=Levels(concurrency=3, parallelism=3, pipelining=3), upper=BOX.upper)
    levels = answer(entries, 4e9, bounds=small).levels
    assert min(levels.concurrency, levels.parallelism, levels.pipelining) >= 3


def test_figures_and_levels_the_history_does_not_tell_are_not_made_up() -> None:
    silent = Conditions(file_bytes=3e9, network="wan")
    entries = [
        msgspec.structs.replace(one, conditions=silent)
        for one in sweep(hill((16, 8, 4), 5e9), noise=0.02)
        if one.levels.pipelining == 4
    ]
    found = answer(entries, hill((16, 8, 4), 5e9)(2, 2, 1))
    assert found.levels.pipelining == 4
    assert found.throughput_bps == pytest.approx(5e9, rel=0.1)


def test_too_little_to_learn_from_is_reported() -> None:
    few = sweep(hill((16, 8, 4), 5e9))[: LEAST_ENTRIES - 1]
    with pytest.raises(ValueError, match=f"needs {LEAST_ENTRIES} past transfers and there are 19"):
        answer(few, 1e9)


def test_without_scikit_learn_the_method_is_refused_with_what_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert registry.usable_method("ann-ot").name == "ann-ot"
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(registry.PluginMissing) as caught:
        registry.usable_method("ann-ot")
    assert str(caught.value) == (
        "ann-ot cannot run here: scikit-learn is not installed: "
        "pip install 'data-transfer-advisor[learn]'"
    )
    assert registry.usable_method("harp").name == "harp"
