"""Rules of thumb for moving a dataset class by class."""

import pytest

from advisor.domain.transfers import Levels
from advisor.models.file_classes import Size
from advisor.models.planning import LevelLimits, Rule, SizedFiles, parted, rule_levels, shared
from advisor.models.slicing import FileEntry

MB = 10**6
BDP = 50 * MB


def files(*sizes: int) -> list[FileEntry]:
    return [FileEntry(f"f{number}", size, 0) for number, size in enumerate(sizes)]


def test_files_are_parted_by_the_bdp_and_none_is_lost() -> None:
    given = files(0, 1, 5 * MB, 20 * MB, 100 * MB, 600 * MB)
    found = parted(given, BDP, Rule.HARP)
    assert [(one.size, len(one.files)) for one in found] == [
        (Size.TINY, 3),
        (Size.SMALL, 1),
        (Size.MEDIUM, 1),
        (Size.LARGE, 1),
    ]
    assert sum(one.total_bytes for one in found) == sum(one.size_bytes for one in given)


def test_globus_parts_at_its_own_two_sizes_and_has_its_own_levels() -> None:
    found = parted(files(*[49 * MB] * 3, *[50 * MB] * 3, *[251 * MB] * 3), BDP, Rule.GLOBUS)
    assert [(one.size, len(one.files)) for one in found] == [
        (Size.SMALL, 3),
        (Size.MEDIUM, 3),
        (Size.LARGE, 3),
    ]
    levels = rule_levels(Rule.GLOBUS, found, BDP, None, LevelLimits())
    assert [(one.concurrency, one.parallelism, one.pipelining) for one in levels] == [
        (2, 2, 20),
        (2, 4, 10),
        (2, 8, 5),
    ]


def test_single_chunk_bounds_concurrency_by_the_limit_and_the_files() -> None:
    [tiny] = parted(files(*[MB] * 100), BDP, Rule.SINGLE_CHUNK)
    [levels] = rule_levels(Rule.SINGLE_CHUNK, [tiny], BDP, 4 * MB, LevelLimits(channels=10))
    assert levels == Levels(concurrency=10, parallelism=1, pipelining=50)
    [few] = parted(files(MB, MB, MB), BDP, Rule.SINGLE_CHUNK)
    [levels] = rule_levels(Rule.SINGLE_CHUNK, [few], BDP, 4 * MB, LevelLimits(channels=10))
    assert levels.concurrency == 3


def test_promc_hands_out_all_its_channels() -> None:
    classes = parted(files(*[MB] * 50, *[100 * MB] * 50, *[600 * MB] * 50), BDP, Rule.PROMC)
    levels = rule_levels(Rule.PROMC, classes, BDP, 4 * MB, LevelLimits(channels=10))
    assert sum(one.concurrency for one in levels) == 10
    assert min(one.concurrency for one in levels) >= 1


def test_a_class_of_few_bytes_is_moved_too() -> None:
    """Its clients would be none: `rclone --transfers 0`."""
    given = files(*[MB] * 100, *[100 * MB] * 10, *[2000 * MB] * 250)
    classes = parted(given, BDP, Rule.PROMC)
    levels = rule_levels(Rule.PROMC, classes, BDP, None, LevelLimits(channels=10))
    assert [one.concurrency for one in levels] == [1, 1, 8]


def test_large_files_are_cut_so_their_number_is_no_bound() -> None:
    classes = parted(files(*[MB] * 3, 600 * MB), BDP, Rule.PROMC)
    assert [one.most_channels for one in classes] == [3, 143]
    levels = rule_levels(Rule.PROMC, classes, BDP, 4 * MB, LevelLimits(channels=10))
    assert sum(one.concurrency for one in levels) == 10
    few = shared(classes, {Size.TINY: 10**12, Size.LARGE: 1}, BDP, LevelLimits(channels=10))
    assert few == [3, 7]


def test_only_the_rules_of_thumb_have_the_papers_bound() -> None:
    assert {rule: rule.channels for rule in Rule} == {
        Rule.HARP: 32,
        Rule.GLOBUS: 10,
        Rule.SINGLE_CHUNK: 10,
        Rule.PROMC: 10,
    }


def test_channels_go_by_what_is_left() -> None:
    classes = [SizedFiles(Size.TINY, files(*[MB] * 50)), SizedFiles(Size.LARGE, files(*[BDP] * 50))]
    limits = LevelLimits(channels=10)
    much = shared(classes, {Size.TINY: 10 * BDP, Size.LARGE: BDP}, BDP, limits)
    little = shared(classes, {Size.TINY: 1, Size.LARGE: BDP}, BDP, limits)
    assert much[0] > little[0]
    assert sum(much) == sum(little) == 10


@pytest.mark.parametrize("rule", list(Rule))
def test_nothing_is_above_what_the_user_allows(rule: Rule) -> None:
    classes = parted(files(*[MB] * 50, *[600 * MB] * 50), BDP, rule)
    limits = LevelLimits(channels=3, streams=2)
    for one in rule_levels(rule, classes, BDP, MB, limits):
        assert 1 <= one.concurrency <= 3
        assert 1 <= one.parallelism <= 2
