"""Who has which lot, and what of it has arrived."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.models.leases import Leases, NotLeased, lots_of
from advisor.models.piecework import Piecework
from advisor.models.slicing import FileEntry, Part

MIB = 2**20
BIG = FileEntry("big", 40 * MIB, 1)
SMALL = [FileEntry(f"small{number}", 1000, 1) for number in range(3)]


def big(offset: int, size: int) -> Part:
    return Part(BIG, offset * MIB, size * MIB)


def small(number: int) -> Part:
    return Part(SMALL[number], 0, 1000)


def some() -> Leases:
    return Leases([(big(0, 20),), (big(20, 20),), tuple(small(n) for n in range(3))])


@given(st.lists(st.integers(0, 200 * MIB), max_size=30), st.integers(1, 8))
def test_lots_are_the_whole_dataset_once(sizes: list[int], nodes: int) -> None:
    files = [FileEntry(str(number), size, 1) for number, size in enumerate(sizes)]
    lots = lots_of(Piecework(files), nodes)
    ranges: dict[str, list[tuple[int, int]]] = {}
    for lot in lots:
        assert lot
        for part in lot:
            ranges.setdefault(part.file.name, []).append((part.offset_bytes, part.size_bytes))
    assert ranges.keys() == {file.name for file in files}
    for file in files:
        at = 0
        for offset, size in sorted(ranges[file.name]):
            assert offset == at
            at += size
        assert at == file.size_bytes


def test_the_next_node_gets_what_has_not_arrived() -> None:
    leases = some()
    assert leases.take(1, {1: 11, 3: 12}) == [big(0, 20), *map(small, range(3))]
    assert leases.arrived(1, big(4, 8)) == {}
    assert leases.arrived(1, small(1)) == {}
    assert leases.lose(1) == {1: 11, 3: 12}
    assert leases.take(2, {1: 21, 3: 22}) == [big(0, 4), big(12, 8), small(0), small(2)]
    assert leases.arrived(2, small(0)) == {}
    assert leases.arrived(2, small(2)) == {3: 22}
    assert leases.held_by(2) == {1: 21}


def test_a_part_may_cover_several_lots_of_the_node() -> None:
    leases = some()
    leases.take(1, {1: 11, 2: 12})
    assert leases.arrived(1, big(10, 20)) == {}
    assert leases.arrived(1, big(0, 10)) == {1: 11}
    assert leases.arrived(1, big(30, 10)) == {2: 12}


@pytest.mark.parametrize(
    "part",
    [
        big(10, 20),  # half of it is another node's
        big(20, 20),
        small(0),
        Part(FileEntry("big", 40 * MIB, 2), 0, 20 * MIB),  # another version
        Part(FileEntry("other", 10, 1), 0, 10),
        Part(BIG, 0, 0),
    ],
)
def test_a_node_cannot_report_what_it_was_not_given(part: Part) -> None:
    leases = some()
    leases.take(1, {1: 11})
    leases.take(2, {2: 12})
    with pytest.raises(NotLeased):
        leases.arrived(1, part)
    assert leases.arrived(1, big(0, 20)) == {1: 11}


def test_a_node_cannot_report_a_part_twice_or_after_it_was_lost() -> None:
    leases = some()
    leases.take(1, {1: 11, 2: 12})
    leases.arrived(1, big(0, 8))
    with pytest.raises(NotLeased):
        leases.arrived(1, big(0, 8))
    leases.lose(1)
    with pytest.raises(NotLeased):
        leases.arrived(1, big(8, 4))


def test_who_had_a_lot_before_has_lost_it() -> None:
    leases = some()
    leases.take(1, {1: 11, 2: 12})
    leases.take(2, {1: 21})
    assert leases.held_by(1) == {2: 12}
    with pytest.raises(NotLeased):
        leases.arrived(1, big(0, 20))
    assert leases.arrived(2, big(0, 20)) == {1: 21}


def test_a_file_that_fails_is_a_lot_of_its_own_and_the_rest_continues() -> None:
    leases = some()
    leases.take(1, {3: 13})
    complete, lot = leases.failed(1, SMALL[0])
    assert (complete, lot) == ({}, 4)
    assert leases.size_of(4) == 1000
    assert leases.failed_in(4) == {1}
    assert leases.failed_everywhere({1, 2}) == []
    assert leases.arrived(1, small(1)) == {}
    assert leases.arrived(1, small(2)) == {3: 13}
    assert leases.take(2, {4: 14}) == [small(0)]
    assert leases.failed(2, SMALL[0]) == ({4: 14}, 5)
    assert leases.failed_everywhere({1, 2}) == ["small0"]
    assert leases.failed_everywhere({1, 2, 3}) == []
    assert leases.drop(SMALL[0]) == {5: 0}
    assert leases.failed_everywhere({1, 2}) == []


def test_what_another_node_has_moved_has_not_failed_everywhere() -> None:
    leases = some()
    leases.take(1, {3: 13})
    leases.failed(1, SMALL[0])
    leases.take(2, {4: 14})
    leases.arrived(2, small(0))
    # The second node has ended meanwhile.
    assert leases.failed_everywhere({1}) == []


def test_what_is_dropped_is_taken_out_of_all_lots() -> None:
    leases = some()
    leases.take(1, {1: 11})
    assert leases.drop(BIG) == {1: 11, 2: 0}
    assert leases.sizes == [3000]


def test_an_empty_file_arrives() -> None:
    empty = FileEntry("empty", 0, 1)
    leases = Leases([(Part(empty, 0, 0),)])
    leases.take(1, {1: 5})
    assert leases.arrived(1, Part(empty, 0, 0)) == {1: 5}
