import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.models.file_classes import (
    Size,
    SizeHistogram,
    classify,
    files_in_flight,
    of_bins,
    of_sizes,
    size_of,
)

MB = 10**6
BDP = 48 * MB  # The wide-area path of the paper's Table 1.


@pytest.mark.parametrize(
    ("megabytes", "expected"),
    [
        (1, Size.TINY),
        (5, Size.TINY),
        (15, Size.SMALL),
        (30, Size.SMALL),
        (50, Size.MEDIUM),
        (200, Size.MEDIUM),
        (1000, Size.LARGE),
        (5000, Size.LARGE),
    ],
)
def test_the_files_of_the_papers_experiments_are_in_its_classes(
    megabytes: int, expected: Size
) -> None:
    assert size_of(megabytes * MB, BDP) is expected


@pytest.mark.parametrize(
    ("size", "expected"), [(1000, Size.TINY), (MB, Size.TINY), (1000 * MB, Size.LARGE)]
)
def test_the_papers_example_at_a_bdp_of_40_mb(size: int, expected: Size) -> None:
    assert size_of(size, 40 * MB) is expected


def test_exact_sizes_give_exact_classes() -> None:
    found = classify(of_sizes([(0, 2), (MB, 100), (5 * MB, 1), (60 * MB, 2), (9000 * MB, 0)]), BDP)
    tiny, medium = found
    assert (tiny.size, tiny.files, tiny.total_bytes) == (Size.TINY, 103, 105 * MB)
    assert (tiny.smallest_bytes, tiny.largest_bytes) == (0, 5 * MB)
    assert (medium.size, medium.files, medium.total_bytes) == (Size.MEDIUM, 2, 120 * MB)


def test_what_each_class_asks_for() -> None:
    found = classify(of_sizes([(MB, 1), (20 * MB, 1), (100 * MB, 1), (1000 * MB, 1)]), BDP)
    meanings = {one.size: one.meaning for one in found}
    assert "48 of them fill the path" in meanings[Size.TINY]
    assert "pipelining removes the round trip" in meanings[Size.TINY]
    assert "concurrency matters most" in meanings[Size.SMALL]
    assert "parallel streams" in meanings[Size.MEDIUM]
    assert "parallelism matters" in meanings[Size.LARGE]


def test_files_in_flight_is_bdp_by_mean_size() -> None:
    assert files_in_flight(MB, BDP) == 48
    assert files_in_flight(5 * MB, BDP) == 10
    assert files_in_flight(0, 8) == 8


def test_bins_are_powers_of_two() -> None:
    histogram = SizeHistogram()
    for size in (0, 1, 2, 3, 4, 1023, 1024, 2047):
        histogram.add(size)
    assert histogram.bins == (
        (-1, 1, 0),
        (0, 1, 1),
        (1, 2, 5),
        (2, 1, 4),
        (9, 1, 1023),
        (10, 2, 3071),
    )


@given(st.lists(st.integers(0, 2**50), max_size=200), st.floats(1, 1e12))
def test_a_histogram_loses_no_file_and_bounds_every_size(sizes: list[int], bdp: float) -> None:
    histogram = SizeHistogram()
    for size in sizes:
        histogram.add(size)
    assert len(histogram.bins) <= 52
    groups = of_bins(histogram.bins)
    for group in groups:
        assert group.smallest_bytes <= group.mean_bytes <= group.largest_bytes
    found = classify(groups, bdp)
    assert sum(c.files for c in found) == len(sizes)
    assert sum(c.total_bytes for c in found) == sum(sizes)
    if sizes:
        assert found[0].smallest_bytes <= min(sizes) <= max(sizes) <= found[-1].largest_bytes
        assert found[-1].largest_bytes < 2 * max(1, max(sizes))
