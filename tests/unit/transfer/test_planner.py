"""A plan from history, samples and rules of thumb."""

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.evidence import SampleSeen
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.file_classes import Size
from advisor.models.planning import LevelLimits, Rule
from advisor.models.slicing import FileEntry
from advisor.testing.samples import a_path
from advisor.transfer.planned.planner import Planner

MB = 10**6
PAIR = Pair("here", "there")
FILES = [FileEntry(f"tiny/{n}", MB, 0) for n in range(500)] + [
    FileEntry(f"large/{n}", 2000 * MB, 0) for n in range(20)
]
LEVELS = (1, 2, 4, 8)
LIMITS = LevelLimits(channels=10, streams=8)


def past(size: int, count: int, best: int, height_bps: float) -> list[PastTransfer]:
    conditions = Conditions(
        file_bytes=size,
        file_count=count,
        bandwidth_bps=10e9,
        rtt_s=0.04,
        buffer_bytes=2**22,
        network=str(PAIR),
    )
    return [
        PastTransfer(
            conditions=conditions,
            levels=Levels(concurrency=cc, parallelism=p),
            throughput_bps=height_bps * (1 - 0.01 * ((cc - best) ** 2 + (p - 2) ** 2)),
            when_s=0.0,
        )
        for cc in LEVELS
        for p in LEVELS
    ]


HISTORY = past(MB, 500, 6, 1e9) + past(2000 * MB, 20, 3, 8e9)


def planner(
    rule: Rule,
    history: list[PastTransfer] | None = None,
    limits: LevelLimits = LIMITS,
    files: list[FileEntry] = FILES,
) -> Planner:
    made = Planner(
        rule,
        a_path(rtt_s=0.04, bandwidth_bps=10e9),
        files,
        HISTORY if history is None else history,
        limits,
        seed=0,
    )
    for one in made.classes:
        made.look(one)
    return made


def test_harp_shares_channels_by_size_and_unit_throughput() -> None:
    made = planner(Rule.HARP)
    tiny, large = made.class_plans()
    assert (tiny.size, large.size) == ("tiny", "large")
    assert tiny.evidence is not None
    assert tiny.expected_bps == pytest.approx(1e9, rel=0.5)
    assert large.expected_bps == pytest.approx(8e9, rel=0.5)
    most = max(tiny.alone.concurrency, large.alone.concurrency)
    assert tiny.levels.concurrency + large.levels.concurrency == most
    assert (tiny.levels.parallelism, large.levels.parallelism) == (
        tiny.alone.parallelism,
        large.alone.parallelism,
    )


def test_harp_is_bounded_by_the_user_alone_and_its_samples_by_the_paper() -> None:
    rising = [
        msgspec.structs.replace(
            one,
            levels=Levels(concurrency=4 * one.levels.concurrency, parallelism=1),
            throughput_bps=1e8 * one.levels.concurrency,
        )
        for one in past(2000 * MB, 20, 3, 8e9)
    ] * 3
    few = [FileEntry(f"large/{n}", 2000 * MB, 0) for n in range(2)]
    wide = planner(Rule.HARP, rising, LevelLimits(channels=32, streams=8), few)
    assert wide.levels_now({Size.LARGE: 1})[Size.LARGE].concurrency > 10
    assert max(one.concurrency for one in wide.sample_levels.values()) <= 10
    narrow = planner(Rule.HARP, rising, LevelLimits(channels=6, streams=8), few)
    assert narrow.levels_now({Size.LARGE: 1})[Size.LARGE].concurrency == 6


def test_a_class_that_is_left_over_gets_what_it_asks_for() -> None:
    made = planner(Rule.HARP)
    tiny = made.class_plans()[0]
    alone = made.levels_now({Size.TINY: 10 * MB})
    assert alone == {Size.TINY: tiny.alone}


def test_a_sample_is_reported_and_shifts_what_is_expected() -> None:
    made = planner(Rule.HARP)
    [tiny, *_] = made.classes
    levels = made.sample_levels[Size.TINY]
    made.look(tiny, SampleSeen(levels=levels, throughput_bps=5e8))
    class_plan = made.class_plans()[0]
    assert class_plan.sample == SampleSeen(levels=levels, throughput_bps=5e8)
    assert class_plan.evidence is not None
    assert class_plan.evidence.sample == class_plan.sample


def test_without_history_it_is_a_rule_of_thumb_and_says_so() -> None:
    made = planner(Rule.HARP, [])
    assert not made.knows_transfers
    plans = made.class_plans()
    assert all(one.expected_bps is None for one in plans)
    assert all("no past transfer is similar" in one.reason for one in plans)
    assert [one.alone for one in plans] == list(made.sample_levels.values())
    assert made.pay_off() is None


def test_past_transfers_of_another_kind_are_no_guide() -> None:
    elsewhere = Conditions(file_bytes=2e9, file_count=20, network="a->b")
    one = Levels(concurrency=1, parallelism=1)
    made = planner(
        Rule.HARP, [PastTransfer(conditions=elsewhere, levels=one, throughput_bps=9e9)] * 20
    )
    assert made.knows_transfers
    assert all(plan.evidence is None for plan in made.class_plans())
    assert [plan.alone for plan in made.class_plans()] == list(made.sample_levels.values())


def test_what_samples_cost_is_weighed_against_what_they_bring() -> None:
    found = planner(Rule.HARP).pay_off()
    assert found is not None
    assert found.sample_s == 30
    assert found.tuned_bps >= found.plain_bps * 0.7


@pytest.mark.parametrize("rule", [Rule.GLOBUS, Rule.SINGLE_CHUNK, Rule.PROMC])
def test_rules_of_thumb_ask_nothing_of_the_past(rule: Rule) -> None:
    plans = planner(rule).class_plans()
    assert len(plans) == 2
    assert all(one.evidence is None and one.reason for one in plans)


def test_files_without_a_byte_get_levels_too() -> None:
    made = Planner(
        Rule.HARP,
        a_path(rtt_s=0.04, bandwidth_bps=10e9),
        [FileEntry("empty", 0, 0)],
        HISTORY,
        LevelLimits(),
        seed=0,
    )
    made.look(made.classes[0])
    [plan] = made.class_plans()
    assert plan.levels.concurrency == 1
