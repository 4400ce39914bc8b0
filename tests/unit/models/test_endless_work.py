"""One file, moved over and over."""

import pytest

from advisor.models.endless_work import LEAST_BYTES, EndlessWork
from advisor.models.piecework import LEAST_RANGE_BYTES
from advisor.models.slicing import FileEntry

FILE = FileEntry("", 64 * 2**20, 0)


def test_it_never_ends_and_stays_within_the_file() -> None:
    work = EndlessWork(FILE, 2**40)
    drawn = 0
    for _ in range(50):
        batch = work.draw(10 * 2**20, 4)
        assert batch is not None
        [part] = batch.parts
        assert part.offset_bytes >= 0
        assert part.offset_bytes + part.size_bytes <= FILE.size_bytes
        work.done(batch)
        drawn += batch.total_bytes
    assert not work.is_done
    assert work.done_bytes == drawn > FILE.size_bytes
    assert work.left_bytes > FILE.size_bytes


def test_no_range_is_the_whole_file() -> None:
    """A whole file would be cut to nothing and written again, while somebody checks it."""
    batch = EndlessWork(FILE, 2**40).draw(2**40, 1)
    assert batch is not None
    assert not batch.parts[0].is_whole


def test_of_the_file_only_so_much_is_moved() -> None:
    work = EndlessWork(FILE, 20 * 2**20)
    ends = set()
    for _ in range(20):
        batch = work.draw(6 * 2**20, 1)
        assert batch is not None
        ends.add(batch.parts[0].offset_bytes + batch.parts[0].size_bytes)
    assert max(ends) <= 20 * 2**20


def test_what_failed_is_not_owed() -> None:
    work = EndlessWork(FILE, 2**40)
    first = work.draw(LEAST_RANGE_BYTES, 1)
    assert first is not None
    work.give_back(first)
    second = work.draw(LEAST_RANGE_BYTES, 1)
    assert second is not None
    assert second.parts[0].offset_bytes == first.total_bytes


def test_a_file_that_cannot_be_moved_is_the_end() -> None:
    work = EndlessWork(FILE, 2**40)
    work.drop(FILE)
    assert work.is_done
    assert work.draw(LEAST_RANGE_BYTES, 1) is None


def test_a_file_that_is_too_small() -> None:
    with pytest.raises(ValueError, match="at least"):
        EndlessWork(FileEntry("", LEAST_BYTES - 1, 0), 2**40)
