"""Several files, moved whole and over and over."""

import pytest

from advisor.models.endless_files import EndlessFiles
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry

MIB = 2**20
FILES = [FileEntry(f"{number}", (1 + number % 3) * MIB, 0) for number in range(12)]
SPACE = 2**30


def drawn(work: EndlessFiles, wanted_bytes: int, clients: int = 1) -> Batch:
    batch = work.draw(wanted_bytes, clients)
    assert batch is not None
    return batch


def names(batch: Batch) -> list[str]:
    return [part.file.name for part in batch.parts]


def test_it_never_ends_and_moves_every_file_whole() -> None:
    work = EndlessFiles(FILES, SPACE, 4)
    moved: dict[str, int] = {}
    for _ in range(60):
        batch = drawn(work, 3 * MIB)
        assert all(part.is_whole for part in batch.parts)
        for name in names(batch):
            moved[name] = moved.get(name, 0) + 1
        work.done(batch)
    assert not work.is_done
    assert work.left_bytes > work.total_bytes
    assert work.done_bytes > 3 * work.total_bytes
    assert max(moved.values()) - min(moved.values()) <= 1
    assert len(moved) == len(FILES)


def test_no_file_is_under_way_twice() -> None:
    work = EndlessFiles(FILES, SPACE, 4)
    under_way: set[str] = set()
    while batch := work.draw(4 * MIB, 2):
        assert not under_way & set(names(batch))
        under_way |= set(names(batch))
    assert len(under_way) == len(FILES)


def test_every_client_has_its_share() -> None:
    work = EndlessFiles(FILES, SPACE, 4)
    batches = [drawn(work, 2**40, clients=4) for _ in range(4)]
    assert all(batch.parts for batch in batches)


def test_what_did_not_arrive_is_drawn_again() -> None:
    work = EndlessFiles(FILES, SPACE, 4)
    lost = drawn(work, 2**40)
    work.give_back(lost)
    seen: set[str] = set()
    while batch := work.draw(MIB, 1):
        seen |= set(names(batch))
    assert seen == {file.name for file in FILES}
    assert work.done_bytes == 0


def test_a_file_that_cannot_be_moved_is_left_out() -> None:
    work = EndlessFiles(FILES, SPACE, 4)
    batch = drawn(work, MIB)
    for file in FILES[:-1]:
        work.drop(file)
    work.give_back(batch)
    assert not work.is_done
    assert names(drawn(work, MIB)) == [FILES[-1].name]
    assert work.draw(MIB, 1) is None
    work.drop(FILES[-1])
    assert work.is_done


def test_only_so_much_is_at_the_destination() -> None:
    files = [FileEntry("large", 10 * MIB, 0), FileEntry("empty", 0, 0), *FILES]
    work = EndlessFiles(files, 6 * MIB, 2)
    assert {"large", "empty"}.isdisjoint(file.name for file in work.files)
    assert work.total_bytes == 6 * MIB


def test_too_few_files() -> None:
    with pytest.raises(ValueError, match="13 files are needed, and 12 of 12"):
        EndlessFiles(FILES, SPACE, 13)
