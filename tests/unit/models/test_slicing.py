"""Slices that stand for the whole."""

import numpy as np
import pytest

from advisor.domain.dataset import SizeBin
from advisor.models.file_classes import SizeHistogram
from advisor.models.slicing import (
    FileEntry,
    Part,
    Slicer,
    moved_work,
    slice_bytes,
    whole_bps,
)

MIB = 2**20


def _files(*groups: tuple[int, int]) -> tuple[list[FileEntry], tuple[SizeBin, ...]]:
    """This many files of each size."""
    histogram = SizeHistogram()
    files = []
    for number, (count, size) in enumerate(groups):
        for index in range(count):
            histogram.add(size)
            files.append(FileEntry(f"{number}/{index}", size, 0))
    return files, histogram.bins


def _slicer(*groups: tuple[int, int], at_once: int = 16, seed: int = 1) -> Slicer:
    return Slicer(*_files(*groups), at_once, np.random.default_rng(seed))


def _bytes(parts: list[Part]) -> int:
    return sum(part.size_bytes for part in parts)


def test_tiny_files_are_taken_whole_and_in_turn() -> None:
    slicer = _slicer((1000, 1000))
    first, second = slicer.take(100_000), slicer.take(100_000)
    assert len(first) == len(second) == 100
    assert all(part.is_whole for part in first + second)
    assert not {p.file.name for p in first} & {p.file.name for p in second}


def test_every_size_gives_its_share() -> None:
    slicer = _slicer((2000, 100_000), (100, 2 * MIB), (4, 50 * MIB))
    total = 2000 * 100_000 + 100 * 2 * MIB + 4 * 50 * MIB
    taken = [part for _ in range(5) for part in slicer.take(total / 20)]
    for number, share in ((0, 200_000_000), (1, 200 * MIB), (2, 200 * MIB)):
        got = _bytes([p for p in taken if p.file.name.startswith(f"{number}/")])
        assert got == pytest.approx(share / 4, rel=0.15)


def test_large_files_are_cut_into_as_many_ranges_as_are_under_way() -> None:
    parts = _slicer((8, 1000 * MIB), at_once=4).take(64 * MIB)
    assert len(parts) == 4
    assert len({part.file.name for part in parts}) == 4
    assert {part.size_bytes for part in parts} == {16 * MIB}


def test_a_single_file_is_gone_through_range_after_range() -> None:
    slicer = _slicer((1, 100 * MIB))
    parts = [slicer.take(30 * MIB)[0] for _ in range(4)]
    assert [part.offset_bytes for part in parts] == [0, 30 * MIB, 60 * MIB, 0]
    assert {part.size_bytes for part in parts} == {30 * MIB}


def test_a_range_that_did_not_arrive_comes_again() -> None:
    slicer = _slicer((1, 100 * MIB))
    slicer.take(10 * MIB)
    lost = slicer.take(10 * MIB)
    slicer.give_back(lost)
    assert slicer.take(10 * MIB) == lost


def test_all_that_is_wanted_is_all_there_is() -> None:
    slicer = _slicer((10, 1000), (2, 5 * MIB))
    parts = slicer.take(1e15)
    assert sorted(part.file.name for part in parts) == sorted(
        [f"0/{i}" for i in range(10)] + ["1/0", "1/1"]
    )
    assert all(part.is_whole for part in parts)


def test_a_slice_is_never_empty() -> None:
    slicer = _slicer((3, 3 * MIB), (1000, 10))
    assert [len(slicer.take(1)) for _ in range(20)] == [1] * 20
    assert [p.size_bytes for p in _slicer((1, 100 * MIB)).take(1)] == [4 * MIB]


def test_without_files_there_is_nothing_to_take() -> None:
    with pytest.raises(ValueError, match="none of its files"):
        Slicer([], (), 4, np.random.default_rng(0)).take(100)


@pytest.mark.parametrize("whole", [False, True])
def test_empty_files_alone_are_nothing_to_take(whole: bool) -> None:
    """Those with data may have names that the tool cannot carry."""
    files, bins = _files((3, 0), (2, 1000))
    for known in (bins[:1], bins):
        slicer = Slicer(files[:3], known, 4, np.random.default_rng(0), whole=whole)
        with pytest.raises(ValueError, match="are empty"):
            slicer.take(100)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("wanted", [1, 1000, 100_000, 10**9])
@pytest.mark.parametrize(
    "groups",
    [
        ((1, 0), (10, 1000 * MIB)),
        ((1, 0), (1, 1)),
        ((1, 0), (100, 10**6)),
        ((5000, 0), (1, 10**9)),
        ((5000, 0), (1, 10)),
    ],
)
def test_no_slice_is_of_empty_files_alone(
    groups: tuple[tuple[int, int], ...], wanted: int, whole: bool
) -> None:
    slicer = Slicer(*_files(*groups), 8, np.random.default_rng(1), whole=whole)
    for _ in range(30):
        assert _bytes(slicer.take(wanted)) > 0


@pytest.mark.parametrize("whole", [False, True])
def test_a_slice_has_its_fraction_of_the_empty_files(whole: bool) -> None:
    slicer = Slicer(*_files((400, 0), (2000, 1000)), 4, np.random.default_rng(1), whole=whole)
    taken = [part for _ in range(5) for part in slicer.take(2000 * 1000 / 20)]
    names = {part.file.name for part in taken if not part.size_bytes}
    assert len(names) == sum(not part.size_bytes for part in taken) == 100
    assert len(taken) == 600
    assert len(slicer.take(1e12)) == 2400


def test_the_whole_takes_its_overhead_once() -> None:
    assert whole_bps(8e6, 0.0, 10**6) == pytest.approx(8e6)
    assert whole_bps(8e6, 1.0, 10**6) == pytest.approx(4e6)
    assert whole_bps(8e6, 1.0, 10**9) == pytest.approx(8e6, rel=0.002)


def test_a_slice_lasts_as_long_as_asked_and_is_no_more_than_all() -> None:
    assert slice_bytes(8e8, 2.0, 10**12) == 200_000_000
    assert slice_bytes(8e8, 2.0, 1000) == 1000
    assert slice_bytes(8.0, 2.0, 10**12) == 2


def test_every_beginning_of_a_slice_has_the_mix_of_the_whole() -> None:
    parts = _slicer((2000, 50_000), (200, 500_000), (40, 2_500_000)).take(60_000_000)
    total = _bytes(parts)
    for number in range(3):
        own = [p for p in parts if p.file.name.startswith(f"{number}/")]
        half = moved_work(parts, total / 2)
        first = parts[: int(half.files)]
        mine = [p for p in first if p.file.name.startswith(f"{number}/")]
        assert len(mine) == pytest.approx(len(own) / 2, abs=1.5)


def test_what_was_moved_of_a_stopped_slice_counts_as_far_as_it_came() -> None:
    parts = [Part(FileEntry(str(n), size, 0), 0, size) for n, size in enumerate((10, 30, 100))]
    work = moved_work(parts, 65)
    assert work.is_cut
    assert work.files == pytest.approx(2.25)
    assert (work.total_bytes, work.largest_bytes) == (65, 30)
    whole = moved_work(parts, float("inf"))
    assert not whole.is_cut
    assert (whole.files, whole.total_bytes) == (3, 140)


def test_whole_files_are_as_many_as_can_be_in_flight_however_large() -> None:
    """Time ends such a probe; the next one has them too."""
    files, bins = _files((100, 1000), (6, 500 * MIB))
    slicer = Slicer(files, bins, 4, np.random.default_rng(1), whole=True)
    for _ in range(3):
        parts = slicer.take(20 * MIB)
        assert all(part.is_whole for part in parts)
        assert sum(part.size_bytes == 500 * MIB for part in parts) == 4


def test_a_slice_of_whole_files_has_the_mix_of_the_whole() -> None:
    groups = ((2000, 100_000), (100, 2 * MIB), (20, 50 * MIB))
    files, bins = _files(*groups)
    slicer = Slicer(files, bins, 4, np.random.default_rng(1), whole=True)
    for _ in range(3):
        parts = slicer.take(10 * MIB)
        for number, (count, _) in enumerate(groups):
            mine = [part for part in parts if part.file.name.startswith(f"{number}/")]
            assert len(mine) == pytest.approx(count * 4 / 20, abs=1)


def test_less_than_a_whole_file_is_owed() -> None:
    files, bins = _files((3, MIB), (90, 1000))
    slicer = Slicer(files, bins, 2, np.random.default_rng(1), whole=True)
    taken = [part for _ in range(30) for part in slicer.take((3 * MIB + 90_000) / 30)]
    assert sum(part.size_bytes == MIB for part in taken) == 3
    assert sum(part.size_bytes == 1000 for part in taken) == 90


def test_what_arrived_in_another_order_counts_file_by_file() -> None:
    parts = [Part(FileEntry(str(n), size, 0), 0, size) for n, size in enumerate((10, 30, 100))]
    work = moved_work(parts, 90, [True, False, False])
    assert work.is_cut
    assert work.total_bytes == 90
    # Of what is under way, 80 bytes, most is of the file of 100.
    assert work.files == pytest.approx(1 + 80 * 130 / (30**2 + 100**2))
    # The kernel may have counted less than what has arrived.
    assert moved_work(parts, 5, [True, True, False]).total_bytes == 40
    assert not moved_work(parts, 5, [True, True, True]).is_cut


def test_where_only_empty_files_are_missing_everything_else_counts() -> None:
    parts = [Part(FileEntry(str(n), size, 0), 0, size) for n, size in enumerate((10, 0, 0))]
    work = moved_work(parts, 10, [True, True, False])
    assert (work.files, work.total_bytes, work.is_cut) == (2, 10, True)
    # The kernel counts what the tool says to its server as well.
    assert moved_work(parts, 5000, [True, False, False]).files == 3
    assert moved_work(parts[1:], 0, [False, False]).files == 0


def test_a_single_file_is_never_cut_where_it_must_be_whole() -> None:
    files, bins = _files((1, 10**9))
    slicer = Slicer(files, bins, 16, np.random.default_rng(1), whole=True)
    for wanted in (1, MIB, 10**9):
        assert [part.is_whole for part in slicer.take(wanted)] == [True]


def test_the_whole_is_every_file_by_name() -> None:
    files = [FileEntry(name, size, 0) for name, size in (("b", 10), ("a", 3_000_000), ("c", 12))]
    sizes = [(3, 2, 22), (21, 1, 3_000_000)]
    slicer = Slicer(files, sizes, 4, np.random.default_rng(1))
    assert slicer.has_all
    slicer.take(1000)
    assert [part.file.name for part in slicer.all()] == ["a", "b", "c"]
    assert all(part.is_whole for part in slicer.all())
    some = Slicer(files[:2], sizes, 4, np.random.default_rng(1))
    assert not some.has_all
