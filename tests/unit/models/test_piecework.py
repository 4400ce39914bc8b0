"""A dataset drawn in batches: all of it, once, whatever becomes of them."""

from collections import defaultdict
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.models.piecework import LEAST_RANGE_BYTES, MOST_FILES, Batch, Piecework
from advisor.models.slicing import FileEntry, Part

MIB = 2**20

sizes = st.one_of(
    st.just(0),
    st.integers(1, 5000),
    st.integers(1, 9 * MIB),
    st.integers(4 * MIB - 2, 4 * MIB + 2),
    st.integers(1, 300 * MIB),
)


def _files(*sizes: int) -> list[FileEntry]:
    return [FileEntry(f"f{number}", size, 0) for number, size in enumerate(sizes)]


def _all(work: Piecework, wanted_bytes: int, clients: int = 1) -> list[Batch]:
    batches = []
    while batch := work.draw(wanted_bytes, clients):
        batches.append(batch)
        work.done(batch)
    return batches


def _covers(file: FileEntry, parts: list[Part]) -> bool:
    """Whether they follow one another from the file's first byte to its last."""
    at = 0
    for part in sorted(parts, key=lambda part: part.offset_bytes):
        if part.offset_bytes != at:
            return False
        at += part.size_bytes
    return at == file.size_bytes


class _Site:
    """Those who draw, and what became of what they drew."""

    def __init__(self, work: Piecework, data: st.DataObject) -> None:
        self._work = work
        self._data = data
        self._under_way: list[Batch] = []
        self.arrived: dict[str, list[Part]] = defaultdict(list)
        self.dropped: set[str] = set()

    def draw(self) -> None:
        wanted_bytes = self._data.draw(st.integers(1, 200 * MIB))
        clients = self._data.draw(st.integers(0, 8))
        file_bytes = self._data.draw(st.sampled_from([0, 1000, 5 * MIB]))
        if batch := self._work.draw(wanted_bytes, clients, file_bytes):
            assert not self.dropped & {part.file.name for part in batch.parts}
            self._under_way.append(batch)

    def done(self) -> None:
        for batch in self._one():
            for part in batch.parts:
                self.arrived[part.file.name].append(part)
            self._work.done(batch)

    def give_back(self) -> None:
        for batch in self._one():
            self._work.give_back(batch)

    def give_back_halves(self) -> None:
        for batch in self._one():
            for half in batch.halves():
                self._work.give_back(half)

    def drop(self) -> None:
        for batch in self._one():
            self._work.drop(batch.parts[0].file)
            self.dropped.add(batch.parts[0].file.name)
            self._work.give_back(batch)

    def finish(self) -> None:
        while not self._work.is_done:
            self.draw()
            self.done()

    def _one(self) -> list[Batch]:
        """One of those under way, if there is any."""
        if not self._under_way:
            return []
        return [self._under_way.pop(self._data.draw(st.integers(0, len(self._under_way) - 1)))]


ACTS = [_Site.draw, _Site.draw, _Site.done, _Site.give_back, _Site.give_back_halves, _Site.drop]


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(sizes, max_size=20), st.lists(st.sampled_from(ACTS), max_size=60), st.data())
def test_every_byte_exactly_once_whatever_happens(
    sizes: list[int], acts: list[Callable[[_Site], None]], data: st.DataObject
) -> None:
    files = _files(*sizes)
    work = Piecework(files)
    site = _Site(work, data)
    for act in acts:
        act(site)
        assert 0 <= work.done_bytes <= work.total_bytes - work.left_bytes
    site.finish()
    kept = [file for file in files if file.name not in site.dropped]
    assert work.left_bytes == 0
    assert work.done_bytes == sum(file.size_bytes for file in kept)
    assert work.done_files == len(kept)
    assert (work.total_files, work.total_bytes) == (len(files), sum(sizes))
    for file in kept:
        parts = site.arrived[file.name]
        assert _covers(file, parts)
        assert len(parts) == 1 or min(p.size_bytes for p in parts) >= LEAST_RANGE_BYTES


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(sizes, max_size=20),
    st.lists(st.lists(st.sampled_from(ACTS), max_size=20), min_size=1, max_size=4),
    st.data(),
)
def test_every_byte_exactly_once_however_often_it_is_interrupted(
    sizes: list[int], runs: list[list[Callable[[_Site], None]]], data: st.DataObject
) -> None:
    files = _files(*sizes)
    arrived: dict[str, list[Part]] = defaultdict(list)
    for acts in [*runs, [_Site.finish]]:
        done = {
            name: data.draw(st.permutations([(p.offset_bytes, p.size_bytes) for p in parts]))
            for name, parts in arrived.items()
        }
        work = Piecework(files, done)
        assert work.done_bytes == sum(p.size_bytes for parts in arrived.values() for p in parts)
        assert work.done_files == sum(_covers(f, arrived[f.name]) for f in files if f.name in done)
        assert work.left_bytes == work.total_bytes - work.done_bytes
        site = _Site(work, data)
        for act in acts:
            act(site)
        for name, parts in site.arrived.items():
            if name not in site.dropped:
                arrived[name] += parts
    assert work.is_done
    assert (work.done_files, work.done_bytes) == (len(files), sum(sizes))
    for file in files:
        assert _covers(file, arrived[file.name])
        assert sum(not part.size_bytes for part in arrived[file.name]) == (not file.size_bytes)


def test_what_is_left_of_a_file_has_its_places() -> None:
    [file] = _files(100 * MIB)
    work = Piecework([file], {file.name: [(60 * MIB, 30 * MIB), (0, 20 * MIB)]})
    left = [part for batch in _all(work, 500 * MIB) for part in batch.parts]
    assert sorted((part.offset_bytes, part.size_bytes) for part in left) == [
        (20 * MIB, 40 * MIB),
        (90 * MIB, 10 * MIB),
    ]


def test_all_of_it_was_done_before() -> None:
    files = _files(100 * MIB, 5, 0)
    ranges = {file.name: [(0, file.size_bytes)] for file in files}
    work = Piecework(files, ranges)
    assert work.is_done
    assert work.draw(1, 1) is None
    assert (work.left_bytes, work.done_files, work.done_bytes) == (0, 3, work.total_bytes)


def test_a_batch_is_whole_files_or_one_range() -> None:
    work = Piecework(_files(*[300_000] * 500, *[8 * MIB] * 20, 300 * MIB, 250 * MIB))
    batches = _all(work, 20 * MIB)
    for batch in batches:
        assert len(batch.parts) == 1 or all(part.is_whole for part in batch.parts)
        assert batch.total_bytes <= 20 * MIB + 8 * MIB
    assert any(not batch.parts[0].is_whole for batch in batches)


def test_ranges_are_whole_mebibytes_and_the_last_takes_the_rest() -> None:
    work = Piecework(_files(40 * MIB + 12_345))
    parts = [part for batch in _all(work, 10 * MIB) for part in batch.parts]
    assert all(part.offset_bytes % MIB == 0 for part in parts)
    assert parts[-1].size_bytes >= LEAST_RANGE_BYTES


def test_a_stretch_of_the_work_has_the_sizes_of_the_whole() -> None:
    work = Piecework(_files(*[300_000] * 1000, *[8 * MIB] * 40, *[300 * MIB] * 3))
    drawn: dict[int, int] = defaultdict(int)
    while work.left_bytes > work.total_bytes / 2:
        batch = work.draw(16 * MIB, 1)
        assert batch
        for part in batch.parts:
            drawn[part.file.size_bytes] += part.size_bytes
        work.done(batch)
    assert drawn[300_000] / (1000 * 300_000) == pytest.approx(0.5, abs=0.1)
    assert drawn[8 * MIB] / (320 * MIB) == pytest.approx(0.5, abs=0.1)
    assert drawn[300 * MIB] / (900 * MIB) == pytest.approx(0.5, abs=0.1)


def test_towards_the_end_batches_get_smaller_so_that_all_end_together() -> None:
    work = Piecework(_files(400 * MIB))
    sizes = [batch.total_bytes for batch in _all(work, 80 * MIB, clients=4)]
    assert sizes[0] == 50 * MIB
    assert sizes == sorted(sizes, reverse=True) or sizes[:-1] == sorted(sizes[:-1], reverse=True)
    assert sizes[-2] == 20 * MIB, "but not below a quarter of what is wanted"


def test_what_files_take_beside_their_bytes_counts() -> None:
    def first(file_bytes: int) -> int:
        batch = Piecework(_files(*[1000] * 10_000)).draw(1_000_000, 1, file_bytes)
        assert batch
        return len(batch.parts)

    assert first(0) == 1000
    assert first(9000) == 100


def test_empty_files_are_moved_and_batches_have_a_most() -> None:
    work = Piecework(_files(*[0] * 5000))
    batches = _all(work, 10 * MIB)
    assert [len(batch.parts) for batch in batches] == [MOST_FILES, MOST_FILES, 1000]
    assert work.is_done


def test_nothing_is_done_from_the_start() -> None:
    assert Piecework([]).is_done
    assert Piecework([]).draw(1, 1) is None
    assert not Piecework(_files(0)).is_done


def test_the_same_calls_give_the_same_batches() -> None:
    sizes = [number * 77_777 for number in range(300)]
    assert _all(Piecework(_files(*sizes)), 9 * MIB) == _all(Piecework(_files(*sizes)), 9 * MIB)


def test_what_is_given_back_comes_next() -> None:
    work = Piecework(_files(100 * MIB))
    first, _ = work.draw(10 * MIB, 1), work.draw(10 * MIB, 1)
    assert first
    work.give_back(first)
    assert work.draw(50 * MIB, 1) == first


def test_of_a_dropped_file_nothing_more_is_drawn() -> None:
    files = _files(100 * MIB, 10)
    work = Piecework(files)
    range_ = work.draw(10 * MIB, 1)
    assert range_
    assert range_.parts[0].file == files[0]
    work.done(range_)
    work.drop(files[0])
    assert work.done_bytes == 0
    assert [part.file for batch in _all(work, 10 * MIB) for part in batch.parts] == [files[1]]
    assert work.is_done
    assert work.is_dropped(files[0])
    assert work.left_bytes == 0


def test_whole_files_are_never_cut() -> None:
    files = _files(1, 900 * MIB, 5000, 40 * MIB, 0)
    parts = [part for batch in _all(Piecework(files, whole=True), MIB, 4) for part in batch.parts]
    assert sorted(part.file.name for part in parts) == sorted(file.name for file in files)
    assert all(part.is_whole for part in parts)


def test_of_whole_files_a_part_that_is_there_does_not_count() -> None:
    """Another tool may have left it."""
    files = _files(10 * MIB, 10 * MIB)
    work = Piecework(files, {"f0": [(0, 4 * MIB)], "f1": [(0, 10 * MIB)]}, whole=True)
    assert work.done_bytes == 10 * MIB
    [batch] = _all(work, 100 * MIB)
    assert batch.parts == (Part(files[0], 0, 10 * MIB),)
    assert work.is_done
