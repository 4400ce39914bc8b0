from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.models import log_transfers
from advisor.models.log_transfers import (
    GAP_S,
    LEAST_PAUSE_S,
    STAYS_OPEN_S,
    LoggedFile,
    LoggedTransfer,
    LogTransfers,
    Movement,
)

MOVEMENT = Movement("server", "client", "user", "", True, 4, ("0", "262144"))


def _file(
    start_s: float,
    end_s: float,
    size_bytes: int = 1000,
    movement: Movement = MOVEMENT,
    retransmits: int | None = None,
    line: int = 1,
) -> LoggedFile:
    return LoggedFile(
        movement=movement,
        name=f"file {line}",
        size_bytes=size_bytes,
        start_s=start_s,
        end_s=end_s,
        retransmits=retransmits,
        place=("log", line),
    )


def _all(files: Sequence[LoggedFile]) -> list[LoggedTransfer]:
    transfers = LogTransfers()
    for file in files:
        assert transfers.add(file)
    return transfers.rest()


def _times(files: Sequence[LoggedFile]) -> list[tuple[float, float]]:
    return [(one.start_s, one.end_s) for one in _all(files)]


def test_one_file() -> None:
    (one,) = _all([_file(10, 30, 5000, retransmits=3, line=7)])
    assert (one.files, one.total_bytes, one.elapsed_s) == (1, 5000, 20)
    assert (one.concurrency, one.retransmits, one.place) == (1, 3, ("log", 7))


def test_files_at_once_and_after_each_other() -> None:
    # Three channels for nine seconds, of which one has nothing to do for the last three.
    files = [_file(0, 3), _file(0, 5), _file(0, 6), _file(3, 6), _file(5, 9), _file(6, 9)]
    (one,) = _all(files)
    assert (one.files, one.total_bytes, one.elapsed_s) == (6, 6000, 9)
    # 3 + 5 + 6 + 3 + 4 + 3 seconds of files in 9.
    assert one.concurrency == round(24 / 9)


def test_pauses_count_for_the_time_but_not_for_the_concurrency() -> None:
    files = [_file(k * 3.0 + c / 100, k * 3.0 + 2) for k in range(5) for c in (0, 1)]
    (one,) = _all(sorted(files, key=lambda f: f.end_s)[:2])
    assert one.concurrency == 2
    # One file at a time, a second between any two.
    (one,) = _all([_file(k * 3.0, k * 3.0 + 2) for k in range(5)])
    assert (one.elapsed_s, one.concurrency) == (14, 1)


def test_an_unusual_pause_divides() -> None:
    # Two commands of four files each, two of them at a time, a second between the commands.
    command = [(0.0, 2.0), (0.0, 3.0), (2.0, 4.0), (3.0, 5.0)]
    files = [_file(at + a, at + b) for at in (0.0, 6.0) for a, b in command]
    assert _times(files) == [(0, 5), (6, 11)]
    # Half a second between all files is how this client works.
    assert _times([_file(k * 2.5, k * 2.5 + 2) for k in range(4)]) == [(0, 9.5)]


def test_what_never_and_what_always_divides() -> None:
    at_once = [_file(0, 4), _file(1, 5), _file(2, 6)]
    short, long = LEAST_PAUSE_S * 0.9, LEAST_PAUSE_S * 1.1
    assert len(_all([*at_once, _file(6 + short, 8)])) == 1
    assert len(_all([*at_once, _file(6 + long, 8)])) == 2
    one_by_one = [_file(k * (GAP_S + 1), k * (GAP_S + 1) + 2) for k in range(3)]
    assert len(_all(one_by_one)) == 1
    assert len(_all([_file(k * (GAP_S + 3), k * (GAP_S + 3) + 2) for k in range(3)])) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"host": "x"},
        {"peer": "x"},
        {"user": "x"},
        {"task": "x"},
        {"received": False},
        {"streams": 8},
        {"sizes": ("1048576", "262144")},
    ],
)
def test_other_movements_are_other_transfers(changes: dict[str, object]) -> None:
    other = Movement(**(MOVEMENT._asdict() | changes))
    both = _all([_file(0, 5), _file(0, 5, movement=other), _file(5, 9)])
    assert sorted((one.movement, one.files) for one in both) == sorted([(MOVEMENT, 2), (other, 1)])


def test_a_late_file_joins_those_it_ran_beside() -> None:
    # They are apart by more than any pause, but for the file that was under way all the time.
    files = [_file(0, 5, line=3), _file(100, 105, line=2), _file(1, 110, line=9)]
    (one,) = _all(files)
    assert (one.files, one.elapsed_s, one.concurrency) == (3, 110, round(119 / 110))
    assert one.place == ("log", 2)


def test_the_same_file_counts_once() -> None:
    transfers = LogTransfers()
    files = [_file(k, k + 2, line=k) for k in range(5)]
    assert [transfers.add(file) for file in files] == [True] * 5
    assert [transfers.add(file) for file in files] == [False] * 5
    (one,) = transfers.rest()
    assert (one.files, one.total_bytes) == (5, 5000)


def test_retransmits_are_known_only_where_all_are() -> None:
    known = [_file(0, 1, retransmits=2), _file(1, 2, retransmits=3)]
    assert _all(known)[0].retransmits == 5
    assert _all([*known, _file(2, 3)])[0].retransmits is None


def test_a_transfer_ends_when_the_log_is_long_past_it() -> None:
    transfers = LogTransfers()
    transfers.add(_file(0, 5))
    transfers.add(_file(1000, 1005))
    assert transfers.ended(STAYS_OPEN_S + 4) == []
    assert [one.end_s for one in transfers.ended(STAYS_OPEN_S + 100)] == [5]
    assert [one.end_s for one in transfers.rest()] == [1005]
    assert transfers.rest() == []


def test_no_transfer_is_cut_where_it_no_longer_stays_open() -> None:
    transfers = LogTransfers()
    for k in range(10):
        transfers.add(_file(k, k + 1.0))
    assert transfers.ended(STAYS_OPEN_S + 5.5) == []
    (one,) = transfers.ended(STAYS_OPEN_S + 11)
    assert one.files == 10


def test_no_more_stay_open_than_memory_has_room_for() -> None:
    transfers = LogTransfers(most_open=10)
    for k in range(11):
        transfers.add(_file(k * 100, k * 100 + 5))
    ended = transfers.ended(1100)
    assert [one.start_s for one in ended] == [0, 100, 200, 300, 400]
    assert len(transfers.rest()) == 6


def test_a_long_transfer_is_put_together_with_few_pauses_remembered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_transfers, "_MOST_RUNS", 16)
    files = [_file(k * 1.05, k * 1.05 + 1.0, line=k) for k in range(1000)]
    later = [_file(3000 + f.start_s, 3000 + f.end_s) for f in files[:100]]
    transfers = LogTransfers()
    for file in files + later:
        transfers.add(file)
        assert sum(map(len, transfers._runs.values())) <= 16
    first, second = transfers.rest()
    assert (first.files, first.total_bytes, first.concurrency) == (1000, 1000_000, 1)
    assert (first.start_s, first.end_s) == (0, files[-1].end_s)
    assert second.files == 100


_moments = st.integers(0, 400).map(lambda n: n / 8)
_files = st.lists(
    st.tuples(_moments, st.integers(1, 80).map(lambda n: n / 8), st.integers(1, 10**12)),
    min_size=1,
    max_size=30,
).map(
    lambda rows: [
        _file(start, start + length, size, line=k) for k, (start, length, size) in enumerate(rows)
    ]
)


@given(_files, st.randoms(use_true_random=False))
def test_the_order_of_lines_does_not_matter(files: list[LoggedFile], random: object) -> None:
    shuffled = list(files)
    random.shuffle(shuffled)  # type: ignore[attr-defined] # hypothesis' Random has no public type
    assert _all(shuffled) == _all(files)


@given(_files)
def test_nothing_is_lost_and_transfers_are_apart(files: list[LoggedFile]) -> None:
    found = _all(files)
    assert sum(one.files for one in found) == len(files)
    assert sum(one.total_bytes for one in found) == sum(file.size_bytes for file in files)
    for one, following in pairwise(found):
        assert following.start_s - one.end_s > LEAST_PAUSE_S
    for one in found:
        inside = [f for f in files if one.start_s <= f.start_s and f.end_s <= one.end_s]
        assert len(inside) == one.files
        # Sampled between the eighths of a second on which everything begins and ends.
        moments = {
            (n + 0.5) / 8 for f in inside for n in range(int(f.start_s * 8), int(f.end_s * 8))
        }
        at_once = [sum(f.start_s < m < f.end_s for f in inside) for m in moments]
        assert one.concurrency == max(1, round(sum(at_once) / len(at_once)))
