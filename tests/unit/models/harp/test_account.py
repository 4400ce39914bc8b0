"""HARP's answer as it is shown."""

import msgspec
import numpy as np
import pytest

from advisor.domain.evidence import Evidence
from advisor.domain.transfers import Levels, PastTransfer
from advisor.models.harp.account import evidence_of
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import SampleTransfer, optimise
from tests.unit.models.harp.worlds import BOX, DAY_S, WAN, hill, sweep


def evidence_for(past: list[PastTransfer], sample: SampleTransfer | None = None) -> Evidence:
    history = History.of(past)
    found = optimise(WAN, sample, history, BOX)
    return evidence_of(WAN, sample, history, found)


def test_groups_are_reported_with_their_say_and_their_surfaces() -> None:
    quiet = sweep(hill((8, 4, 2), 8e9), when_s=0.0)
    busy = sweep(hill((24, 16, 2), 2e9), when_s=5 * DAY_S)
    sample = SampleTransfer(levels=Levels(concurrency=2, parallelism=2), throughput_bps=1.9e9)
    evidence = evidence_for(quiet + busy, sample)
    assert (evidence.known, evidence.similar) == (432, 432)
    assert sum(one.share for one in evidence.groups) == pytest.approx(1)
    first, second = evidence.groups
    assert first.began_s == 5 * DAY_S
    assert first.share > second.share
    assert first.sample_bps == pytest.approx(hill((24, 16, 2), 2e9)(2, 2, 1), rel=0.05)
    assert first.conditions == WAN
    assert [one.level for one in first.slices] == ["concurrency", "parallelism", "pipelining"]
    along = first.slices[0]
    assert [value for value, _ in along.measured] == [1, 2, 4, 8, 16, 32]
    for value, rate_bps in along.measured:
        levels = int(value), along.held.parallelism, along.held.pipelining
        assert rate_bps == hill((24, 16, 2), 2e9)(*levels)
    near = min(along.fitted, key=lambda pair: abs(pair[0] - 24))
    assert near[1] == pytest.approx(2e9, rel=0.1)


def test_it_travels_as_json() -> None:
    evidence = evidence_for(sweep(hill((8, 4, 2), 8e9)))
    assert msgspec.json.decode(msgspec.json.encode(evidence), type=Evidence) == evidence


def test_groups_left_out_are_reported_with_the_reason() -> None:
    rng = np.random.default_rng(1)
    noise = [
        msgspec.structs.replace(one, throughput_bps=float(rng.uniform(1e8, 9e9)))
        for one in sweep(hill((8, 4, 2), 8e9), when_s=9 * DAY_S)
    ]
    [out] = evidence_for(sweep(hill((8, 4, 2), 8e9)) + noise).left_out
    assert out.transfers == 216
    assert out.began_s == 9 * DAY_S
    assert "R²" in out.reason


def test_unknown_figures_stay_unknown_and_many_groups_are_not_all_drawn() -> None:
    conditions = msgspec.structs.replace(WAN, rtt_s=None, file_count=None)
    past = [
        one
        for day in range(8)
        for one in sweep(hill((8, 4, 2), 8e9), conditions, when_s=2 * day * DAY_S)
    ]
    evidence = evidence_for(past)
    assert evidence.groups[0].conditions.rtt_s is None
    assert evidence.groups[0].conditions.file_count is None
    assert len(evidence.groups) == 8
    assert [bool(one.slices) for one in evidence.groups] == [True] * 6 + [False] * 2
