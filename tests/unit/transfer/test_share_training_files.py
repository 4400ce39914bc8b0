"""What the experiment sends: ranges of a sparse file, or sparse files."""

import pytest

from advisor.models.endless_files import EndlessFiles
from advisor.models.endless_work import EndlessWork
from advisor.transfer.shared.training_files import (
    endless_work,
    least_space_bytes,
    source_at,
    sparse_files,
)

GIB = 2**30


def test_a_tool_that_moves_ranges_has_one_file() -> None:
    with sparse_files(GIB, 8, whole=False) as path:
        files, work = endless_work(source_at(path).files, GIB, 8, whole=False)
        assert isinstance(work, EndlessWork)
        assert [file.size_bytes for file in files] == [GIB]
    assert not path.exists()


@pytest.mark.parametrize("at_once", [2, 8, 64])
def test_a_tool_that_moves_whole_files_has_two_for_each_at_a_time(at_once: int) -> None:
    space = max(GIB // 4, least_space_bytes(at_once, whole=True))
    with sparse_files(space, at_once, whole=True) as path:
        files, work = endless_work(source_at(path).files, space, at_once, whole=True)
        assert isinstance(work, EndlessFiles)
        assert len(files) >= 2 * at_once
        # A file that is replaced is there until the new one is whole.
        assert 2 * sum(file.size_bytes for file in files) <= space
        assert min(file.size_bytes for file in files) >= 4 * 2**20
    assert not path.exists()


def test_the_least_space_is_enough() -> None:
    for whole in (False, True):
        space = least_space_bytes(8, whole=whole)
        with sparse_files(space, 8, whole=whole) as path:
            endless_work(source_at(path).files, space, 8, whole=whole)
