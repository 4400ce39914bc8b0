"""From a history and a sample to levels."""

import math
import subprocess
import sys
from collections.abc import Iterable

import msgspec
import pytest

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.harp.account import evidence_of
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import HarpAnswer, SampleTransfer, optimise
from advisor.models.harp.optimum import keep_of
from tests.unit.models.harp.worlds import BOX, DAY_S, LAN, WAN, hill, sweep

LIGHT, HEAVY = (8, 3, 2), (26, 20, 2)
START = Levels(concurrency=2, parallelism=2)
WHOLE = 1.0


def answer(
    entries: Iterable[PastTransfer],
    sample_bps: float | None = 1e9,
    wanted: Conditions = WAN,
    relaxation: float = WHOLE,
    start: Levels = START,
) -> HarpAnswer:
    sample = SampleTransfer(levels=start, throughput_bps=sample_bps) if sample_bps else None
    history = History.of(entries)
    return optimise(wanted, sample, history, BOX, keep=keep_of(relaxation))


def triple(levels: Levels) -> tuple[int, int, int]:
    return levels.concurrency, levels.parallelism, levels.pipelining


def days(
    truths: Iterable[tuple[tuple[int, int, int], float]], noise: float = 0.03
) -> list[PastTransfer]:
    """One sweep a day, two days apart."""
    return [
        entry
        for day, (best, height_bps) in enumerate(truths)
        for entry in sweep(hill(best, height_bps), when_s=2 * day * DAY_S, noise=noise, seed=day)
    ]


def finite(found: HarpAnswer) -> bool:
    rates = [found.throughput_bps, found.unit_throughput_bps]
    rates += [one.top_bps for one in found.groups] + [one.weight for one in found.groups]
    return all(math.isfinite(rate) and rate > 0 for rate in rates)


def test_the_known_optimum_is_found() -> None:
    found = answer(days([((12, 6, 4), 5e9)] * 4))
    assert len(found.groups) == 4
    assert triple(found.levels) == pytest.approx((12, 6, 4), abs=1.5)
    assert found.throughput_bps == pytest.approx(5e9, rel=0.03)
    assert found.unit_throughput_bps == pytest.approx(hill((12, 6, 4), 5e9)(1, 6, 4), rel=0.05)


def test_the_sample_tells_which_load_it_is() -> None:
    entries = days([(LIGHT, 8e9), (HEAVY, 2e9)] * 4)
    light = answer(entries, hill(LIGHT, 8e9)(2, 2, 1))
    heavy = answer(entries, hill(HEAVY, 2e9)(2, 2, 1))
    # Two classes weigh 2 to 1: (2 × 8 + 26) / 3 and (8 + 2 × 26) / 3, and so for parallelism.
    assert triple(light.levels)[:2] == pytest.approx((14, 26 / 3), abs=1.5)
    assert triple(heavy.levels)[:2] == pytest.approx((20, 43 / 3), abs=1.5)
    assert light.throughput_bps > heavy.throughput_bps
    assert [(one.weight, one.top_bps > 5e9) for one in light.groups] == [(2, True)] * 4 + [
        (1, False)
    ] * 4
    assert light.groups[0].expected_bps == pytest.approx(hill(LIGHT, 8e9)(2, 2, 1), rel=0.1)


def test_without_a_sample_all_groups_count_the_same_and_it_says_so() -> None:
    found = answer(days([(LIGHT, 8e9), (HEAVY, 2e9)]), sample_bps=None)
    assert {one.weight for one in found.groups} == {1.0}
    assert "No sample" in found.worth
    assert {one.expected_bps for one in found.groups} == {None}


def test_relaxation_takes_less_and_says_what_that_gives() -> None:
    entries = days([((28, 28, 10), 5e9)] * 3)
    whole, relaxed = answer(entries), answer(entries, relaxation=0.7)
    assert relaxed.levels.concurrency < whole.levels.concurrency
    assert relaxed.levels.parallelism < whole.levels.parallelism
    truth = hill((28, 28, 10), 5e9)
    assert relaxed.throughput_bps == pytest.approx(truth(*triple(relaxed.levels)), rel=0.05)


def test_outlier_groups_are_left_out_with_their_reason() -> None:
    noise = sweep(lambda cc, p, pp: 1e9, when_s=99 * DAY_S, noise=0.5)
    found = answer([*days([((12, 6, 4), 5e9)] * 2), *noise])
    assert [len(one.rows) for one in found.left_out] == [216]
    assert "R²" in found.left_out[0].reason
    assert "1 left out" in found.worth
    assert triple(found.levels) == pytest.approx((12, 6, 4), abs=1.5)


def test_a_surface_that_leaves_what_was_measured_far_behind_is_left_out() -> None:
    # Both ends of a parabola whose top, three times as high as they are, nobody has seen.
    ends = [
        PastTransfer(
            conditions=WAN,
            levels=Levels(concurrency=cc, parallelism=1),
            throughput_bps=1e8 * cc * (33 - cc),
        )
        for cc in (1, 2, 3, 30, 31, 32) * 7
    ]
    found = answer(ends, 5e8)
    assert not found.groups
    assert "27.2 Gbit/s, far above all measurements" in found.left_out[0].reason
    assert found.levels.concurrency in (3, 30)
    assert found.throughput_bps == pytest.approx(9e9)


def test_entries_of_another_kind_are_not_asked_while_there_are_enough() -> None:
    lan = sweep(hill((1, 1, 30), 9e8), LAN)
    found = answer([*days([((12, 6, 4), 5e9)] * 4), *lan])
    assert all(row < 4 * 216 for one in found.groups for row in one.rows)
    assert found.similar.threshold == 0.99
    # Where there is nothing else they are, and it is said.
    other = answer(lan)
    assert "None of them is of this kind" in other.worth


def test_a_load_the_history_has_not_seen_is_said() -> None:
    entries = days([((12, 6, 4), 5e9)] * 3)
    assert "has not seen today's load" in answer(entries, sample_bps=1e8).worth
    assert "has not seen" not in answer(entries, hill((12, 6, 4), 5e9)(2, 2, 1)).worth


def test_a_flat_history_does_not_decide_alone() -> None:
    flat = sweep(lambda cc, p, pp: 1e9)
    sampled = answer(flat, 1e9, start=Levels(concurrency=6, parallelism=3))
    assert triple(sampled.levels)[:2] == (6, 3)
    assert "none is below the rule of thumb's" in sampled.worth
    rule = Levels(concurrency=4, parallelism=2)
    history = History.of(flat)
    assert triple(optimise(WAN, None, history, BOX, by_rule=rule).levels)[:2] == (4, 2)
    assert triple(optimise(WAN, None, history, BOX).levels)[:2] == (1, 1)


def test_a_history_of_another_load_does_not_decide_alone() -> None:
    entries, start = days([((3, 2, 2), 5e9)] * 2), Levels(concurrency=6, parallelism=8)
    foreign = answer(entries, 1e8, start=start)
    assert triple(foreign.levels)[:2] == (6, 8)
    assert "none is below the rule of thumb's" in foreign.worth
    today = answer(entries, hill((3, 2, 2), 5e9)(6, 8, 1), start=start)
    assert triple(today.levels)[:2] == pytest.approx((3, 2), abs=1.5)
    assert "rule of thumb" not in today.worth


def test_few_transfers_get_a_smooth_surface_and_it_is_named() -> None:
    entries = days([((12, 6, 4), 5e9)])
    few = answer(entries[::6])
    assert [one.surface.kind for one in few.groups] == ["smooth"]
    assert "smooth surface with a prior" in few.worth
    enough = answer(entries[::5])
    assert [one.surface.kind for one in enough.groups] == ["polynomial"]
    assert "smooth" not in enough.worth


def test_little_history_is_used_and_called_little() -> None:
    found = answer(days([((12, 6, 4), 5e9)]))
    assert "216 of 216 past transfers in 1 group" in found.worth
    assert "3.6% of the 6000" in found.worth
    assert "a hint" in found.worth


def test_a_level_that_was_never_varied_stays_what_it_was() -> None:
    entries = [one for one in days([((12, 6, 1), 5e9)] * 2) if one.levels.pipelining == 4]
    assert answer(entries).levels.pipelining == 4


def test_a_few_rows_give_their_best_if_it_beats_the_sample() -> None:
    few = [
        PastTransfer(
            conditions=WAN, levels=Levels(concurrency=cc, parallelism=4), throughput_bps=cc * 1e9
        )
        for cc in (1, 2, 3)
    ]
    better = answer(few, 1e9)
    assert triple(better.levels) == (3, 4, 1)
    assert better.throughput_bps == 3e9
    assert better.unit_throughput_bps == 1e9
    assert "first guess" in better.worth
    assert "3 similar entries" in better.worth
    worse = answer(few, 4e9)
    assert triple(worse.levels) == (2, 2, 1)
    assert worse.throughput_bps == 4e9
    assert "sample's own" in worse.worth


LINK_BPS = 10e9


def rising(most_bps: float, grid: Iterable[int]) -> list[PastTransfer]:
    """Up to what the link had left then: a smooth surface goes beyond it near the edge."""
    return [
        PastTransfer(
            conditions=WAN,
            levels=Levels(concurrency=cc, parallelism=p),
            throughput_bps=min(most_bps, 1.2e9 * cc * p**0.8),
        )
        for cc in grid
        for p in grid
    ]


@pytest.mark.parametrize("sample_bps", [None, 1e9, 7e9, 9.9e9])
@pytest.mark.parametrize("grid", [(1, 2), (1, 2, 4), (1, 2, 4, 8), (1, 2, 4, 8, 16, 32)])
@pytest.mark.parametrize("most_bps", [9e9, 9.9e9, 20e9])
def test_no_more_is_expected_than_the_link_carries(
    most_bps: float, grid: tuple[int, ...], sample_bps: float | None
) -> None:
    history = rising(most_bps, grid)
    found = answer(history, sample_bps, relaxation=0.95)
    assert 0 < found.unit_throughput_bps <= found.throughput_bps * (1 + 1e-9)
    assert found.throughput_bps <= LINK_BPS
    most = Levels(concurrency=32, parallelism=32, pipelining=32)
    for levels in (found.levels, most):
        again = found.at(levels)
        assert max(again.throughput_bps, again.unit_throughput_bps) <= LINK_BPS
        assert (found.expected_bps(levels) or 0.0) <= LINK_BPS
    sample = SampleTransfer(levels=START, throughput_bps=sample_bps) if sample_bps else None
    shown = evidence_of(WAN, sample, History.of(history), found)
    assert all(one.answer_bps <= LINK_BPS for one in shown.groups)


def test_a_sample_that_was_faster_shows_what_the_link_carries() -> None:
    found = answer(rising(20e9, (1, 2, 4, 8)), 14e9)
    assert LINK_BPS < found.throughput_bps <= 14e9
    unknown = msgspec.structs.replace(WAN, bandwidth_bps=None)
    assert answer(rising(20e9, (1, 2, 4, 8)), 7e9, wanted=unknown).throughput_bps > LINK_BPS


def test_of_a_few_rows_the_most_similar_ones_speak() -> None:
    near = PastTransfer(
        conditions=WAN, levels=Levels(concurrency=4, parallelism=4), throughput_bps=2e9
    )
    far = PastTransfer(
        conditions=LAN, levels=Levels(concurrency=1, parallelism=1), throughput_bps=9e9
    )
    assert triple(answer([far, near]).levels) == (4, 4, 1)


def test_one_row_and_none() -> None:
    row = PastTransfer(
        conditions=WAN, levels=Levels(concurrency=6, parallelism=2), throughput_bps=2e9
    )
    one = answer([row])
    assert triple(one.levels) == (6, 2, 1)
    assert "1 similar entry" in one.worth
    assert triple(answer([row], sample_bps=None).levels) == (6, 2, 1)
    assert triple(answer([], 1e9).levels) == (2, 2, 1)
    assert all(finite(found) for found in (one, answer([], 1e9)))
    with pytest.raises(ValueError, match="run a sample"):
        answer([], sample_bps=None)


def test_levels_outside_the_box_are_not_given() -> None:
    row = PastTransfer(
        conditions=WAN, levels=Levels(concurrency=64, parallelism=2), throughput_bps=9e9
    )
    assert triple(answer([row]).levels) == (2, 2, 1)
    beyond = answer([], 1e9, start=Levels(concurrency=64, parallelism=2))
    assert beyond.levels.concurrency == 32


@pytest.mark.parametrize("field", ["bandwidth_bps", "rtt_s", "buffer_bytes", "file_count"])
def test_missing_figures_do_not_become_nan(field: str) -> None:
    less = msgspec.structs.replace(WAN, **{field: None})
    entries = days([((12, 6, 4), 5e9)] * 2)
    silent = [msgspec.structs.replace(one, conditions=less, when_s=None) for one in entries]
    for found in (answer(entries, wanted=less), answer(silent), answer(silent, wanted=less)):
        assert finite(found)
        assert triple(found.levels) == pytest.approx((12, 6, 4), abs=2)


def test_a_sample_that_moved_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="take one that moved something"):
        SampleTransfer(levels=START, throughput_bps=0.0)


def test_nothing_slow_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys, advisor.models.harp.ann, advisor.models.harp.optimiser;"
        "print([name for name in ('sklearn', 'scipy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
