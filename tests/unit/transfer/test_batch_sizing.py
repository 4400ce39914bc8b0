"""How much a client is given, and when it is enough."""

import pytest

from advisor.transfer.engine.batch_sizing import Backoff, BatchSizer, SetupTimes


def test_before_anything_is_known_it_is_as_expected() -> None:
    sizer = BatchSizer(8e6, 0.05)
    assert sizer.bytes_in(5, 1) == 5_000_000
    assert sizer.bytes_in(5, 10) == 500_000


def test_what_bytes_and_files_take_is_distinguished() -> None:
    sizer = BatchSizer(8e6, 0.05)
    for moved_bytes, files in ((20_000_000, 1), (3_000_000, 30), (10_000_000, 10)) * 4:
        sizer.learn(moved_bytes, files, moved_bytes / 2e6 + files * 0.3, 4)
    assert sizer.bytes_in(1, 4) == pytest.approx(2e6, rel=0.05)
    assert sizer.file_bytes(4) == pytest.approx(0.3 * 2e6, rel=0.1)


@pytest.mark.parametrize("took_s", [0.5, 12.0])
def test_the_same_again_takes_as_long_again(took_s: float) -> None:
    """Where all batches are alike, no more than that can be known."""
    sizer = BatchSizer(8e6, 0.05)
    for _ in range(30):
        sizer.learn(5_000_000, 50, took_s, 2)
    left = sizer.bytes_in(took_s, 2)
    assert 5_000_000 + 50 * sizer.file_bytes(2) == pytest.approx(left, rel=0.05)


def test_a_new_pace_is_learnt() -> None:
    sizer = BatchSizer(8e6, 0.01)
    for bps in [8e6] * 20 + [80e6] * 10:
        sizer.learn(10_000_000, 1, 80e6 / bps, 1)
    assert sizer.bytes_in(1, 1) == pytest.approx(10e6, rel=0.1)


def test_a_batch_without_a_time_tells_nothing() -> None:
    sizer = BatchSizer(8e6, 0.05)
    sizer.learn(10, 1, 0.0, 1)
    assert sizer.bytes_in(5, 1) == 5_000_000


def test_more_clients_share_until_it_is_known_better() -> None:
    sizer = BatchSizer(8e6, 0.01)
    for _ in range(10):
        sizer.learn(10_000_000, 1, 10.0, 4)
    alone = sizer.bytes_in(1, 4)
    assert sizer.bytes_in(1, 16) == pytest.approx(alone / 4, rel=0.01)
    assert sizer.bytes_in(1, 1) == alone
    for _ in range(20):
        sizer.learn(10_000_000, 1, 10.0, 16)
    assert sizer.bytes_in(1, 16) == pytest.approx(alone, rel=0.05)


def test_what_is_expected_of_several_clients_replaces_what_was_learnt() -> None:
    sizer = BatchSizer(8e6, 0.01)
    for _ in range(10):
        sizer.learn(10_000_000, 1, 10.0, 2)
    sizer.expect(40e6, 5)
    assert sizer.bytes_in(1, 5) == 1_000_000
    sizer.learn(2_000_000, 1, 1.0, 5)
    learnt = sizer.bytes_in(1, 5)
    assert learnt == pytest.approx(2e6, rel=0.05)
    sizer.expect(40e6, 5)
    assert sizer.bytes_in(1, 5) == learnt, "Nothing new is expected."
    sizer.expect(40e6, 10)
    assert sizer.bytes_in(1, 10) == 500_000


def test_set_ups_are_as_they_are_as_a_rule() -> None:
    setup_times = SetupTimes()
    assert setup_times.usual_s == 0
    for one_s in (0.5, 0.6, 30.0):
        setup_times.learn(one_s)
    assert setup_times.usual_s == 0.6


def test_what_failed_at_once_counts_once() -> None:
    backoff = Backoff()
    for _ in range(8):
        backoff.add(began_s=1.0, now_s=2.0)
    assert not backoff.are_too_many
    assert not backoff.may_start(2.5)
    assert backoff.may_start(3.0)
    backoff.add(began_s=3.0, now_s=3.1)
    assert not backoff.may_start(4.0)
    assert not backoff.are_too_many
    backoff.add(began_s=5.2, now_s=5.3)
    assert backoff.are_too_many


def test_one_that_arrives_makes_good_for_all() -> None:
    backoff = Backoff()
    backoff.add(1.0, 2.0)
    backoff.add(3.0, 4.0)
    backoff.clear()
    assert backoff.may_start(4.0)
    backoff.add(5.0, 6.0)
    assert not backoff.are_too_many
