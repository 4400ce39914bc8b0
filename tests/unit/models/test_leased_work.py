"""The work of one node: every byte that was leased is drawn once, and none twice."""

import itertools
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from advisor.models.leased_work import LeasedWork
from advisor.models.piecework import LEAST_RANGE_BYTES, MOST_FILES, Batch
from advisor.models.slicing import FileEntry, Part

MIB = 2**20


def part(name: str, offset: int, size: int, of: int | None = None) -> Part:
    return Part(FileEntry(name, offset + size if of is None else of, 1), offset, size)


def whole(name: str, size: int) -> Part:
    return part(name, 0, size)


@st.composite
def leases(draw: st.DrawFn) -> list[list[Part]]:
    """Distinct ranges of files, in several leases."""
    found = []
    for number in range(draw(st.integers(0, 6))):
        cuts = sorted(draw(st.sets(st.integers(0, 60), min_size=2, max_size=5)))
        size = cuts[-1] * MIB
        for begin, end in itertools.pairwise(cuts):
            found.append(part(str(number), begin * MIB, (end - begin) * MIB, size))
    some = draw(st.lists(st.integers(0, 3 * MIB), max_size=6))
    found += [whole(f"small{number}", size) for number, size in enumerate(some)]
    order = draw(st.permutations(found))
    return [list(order[::2]), list(order[1::2])]


@given(leases(), st.integers(1, 80 * MIB), st.integers(1, 5), st.integers(0, 3))
def test_every_byte_is_drawn_once_whatever_comes_back(
    leased: list[list[Part]], wanted: int, clients: int, gives_back: int
) -> None:
    work = LeasedWork()
    arrived: list[Part] = []
    for some in leased:
        work.add(some)
        while batch := work.draw(wanted, clients):
            assert len(batch.parts) == 1 or all(one.is_whole for one in batch.parts)
            if gives_back:
                gives_back -= 1
                work.give_back(batch)
                continue
            work.done(batch)
            arrived += batch.parts
    assert not work.is_done
    work.close()
    assert work.is_done
    everything = [one for some in leased for one in some]
    assert work.done_bytes == work.total_bytes == sum(one.size_bytes for one in everything)
    assert _bytes(arrived) == _bytes(everything)
    empty = Counter(one.file.name for one in everything if not one.size_bytes)
    assert empty == Counter(one.file.name for one in arrived if not one.size_bytes)


def _bytes(parts: list[Part]) -> Counter[tuple[str, int]]:
    grains: Counter[tuple[str, int]] = Counter()
    for one in parts:
        if one.is_whole and one.size_bytes % MIB:
            grains[one.file.name, -1] += 1
            continue
        for at in range(one.offset_bytes, one.offset_bytes + one.size_bytes, MIB):
            grains[one.file.name, at] += 1
    return grains


def test_ranges_that_follow_each_other_are_drawn_as_one() -> None:
    work = LeasedWork()
    first, second = part("a", 0, 4 * MIB, 64 * MIB), part("a", 4 * MIB, 4 * MIB, 64 * MIB)
    work.add([first, whole("b", 10), second])
    assert work.draw(64 * MIB, 1) == Batch((part("a", 0, 8 * MIB, 64 * MIB),))


def test_it_asks_for_more_before_clients_wait_and_not_for_ever_more() -> None:
    work = LeasedWork()
    assert work.wanted_bytes
    work.add([part("a", 0, 64 * MIB, 640 * MIB)])
    assert not work.wanted_bytes
    work.draw(8 * MIB, 2)
    assert not work.wanted_bytes
    while work.draw(8 * MIB, 2):
        if work.wanted_bytes:
            break
    assert work.wanted_bytes >= 8 * MIB
    work.close()
    assert not work.wanted_bytes


def test_what_cannot_be_moved_holds_nothing_up_and_is_not_taken_again() -> None:
    work = LeasedWork()
    bad, good = part("bad", 0, 8 * MIB, 16 * MIB), whole("good", 100)
    work.add([bad, good])
    drawn = work.draw(8 * MIB, 1)
    assert drawn is not None
    work.drop(bad.file)
    work.give_back(drawn)
    work.add([part("bad", 8 * MIB, 8 * MIB, 16 * MIB)])
    assert work.draw(8 * MIB, 1) == Batch((good,))
    work.done(Batch((good,)))
    work.close()
    assert (work.is_done, work.left_bytes) == (True, 0)


def test_while_it_is_open_it_never_runs_out() -> None:
    work = LeasedWork()
    work.add([whole("a", 100)])
    batch = work.draw(100, 1)
    assert batch is not None
    work.done(batch)
    assert work.left_bytes > 2**60
    work.close()
    assert work.left_bytes == 0


def test_batches_have_bounds() -> None:
    work = LeasedWork()
    work.add([whole(str(number), 0) for number in range(MOST_FILES + 1)])
    batch = work.draw(LEAST_RANGE_BYTES, 1)
    assert batch is not None
    assert len(batch.parts) == MOST_FILES


def test_no_file_is_cut_where_a_tool_moves_whole_ones() -> None:
    work = LeasedWork()
    work.keep_whole()
    sizes = {"a": 600 * MIB, "b": 10, "c": 20, "d": 300 * MIB}
    work.add([whole(name, size) for name, size in sizes.items()])
    drawn = []
    while batch := work.draw(8 * MIB, 3):
        drawn.append([one.file.name for one in batch.parts])
        assert all(one.is_whole for one in batch.parts)
    assert drawn == [["a"], ["c", "b"], ["d"]]
