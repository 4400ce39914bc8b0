"""What is said of a transfer at its end, and the exit code."""

from pathlib import Path

import pytest

from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.transfer.engine.batch_outcome import MovingFailed
from advisor.transfer.engine.ending import Moving, ending_of
from advisor.transfer.engine.file_group import Places, Portion
from advisor.transfer.engine.journal import TransferJournal

MEGABYTE = 10**6
AGAIN = "the same command goes on from there"


FILES = [FileEntry(str(n), MEGABYTE, 0) for n in range(3)]


def portion(arrived: int, troubled: int = 0) -> Portion:
    return arriving(Portion("all", FILES), arrived, troubled)


def arriving(one: Portion, arrived: int, troubled: int = 0) -> Portion:
    while (drawn := one.work.draw(3 * MEGABYTE, 1)) is not None:
        for part in drawn.parts:
            number = int(part.file.name)
            if number < arrived:
                one.work.done(Batch((Part(part.file, 0, MEGABYTE),)))
            elif number >= 3 - troubled:
                one.set_aside(part.file, "it cannot be read")
    return one


def moving(folder: Path, *portions: Portion, unreadable: int = 0) -> Moving:
    places = Places(source="/a", target="/b", destination_host="c")
    return Moving(portions, TransferJournal(folder, places, print), unreadable)


@pytest.mark.parametrize(
    ("arrived", "troubled", "failure", "is_over", "exit_code", "words"),
    [
        (3, 0, "", True, 0, "all 3 files are there, "),
        (2, 1, "", True, 1, "2 of 3 files are there whole, 1 could not be moved"),
        (
            1,
            0,
            "the disk is full",
            False,
            1,
            f"the disk is full; 1 of 3 files are there whole; {AGAIN}",
        ),
        (1, 0, "", False, 130, f"stopped: 1 of 3 files are there whole; {AGAIN}"),
        # Stopped in the moment in which the last file arrived.
        (3, 0, "", False, 130, f"stopped: 3 of 3 files are there whole; {AGAIN}"),
    ],
)
def test_the_end(
    tmp_path: Path,
    arrived: int,
    troubled: int,
    failure: str,
    is_over: bool,
    exit_code: int,
    words: str,
) -> None:
    on_its_way = moving(tmp_path, portion(arrived, troubled))
    ending = ending_of(on_its_way, 4.0, MovingFailed(failure) if failure else None, is_over=is_over)
    assert ending.message.startswith(words)
    assert ending.exit_code == exit_code
    assert ending.complete == (exit_code == 0)
    assert (ending.files, ending.moved_bytes) == (arrived, arrived * MEGABYTE)
    assert ending.missing == ["2: it cannot be read"] * troubled
    assert ending.missing_files == troubled


def test_all_portions_count(tmp_path: Path) -> None:
    ending = ending_of(moving(tmp_path, portion(3), portion(2, 1)), 4.0, None, is_over=True)
    assert ending.message == "5 of 6 files are there whole, 1 could not be moved"


def test_what_was_there_before_is_not_this_runs(tmp_path: Path) -> None:
    one = Portion("all", FILES, done={"0": [(0, MEGABYTE)]})
    on_its_way = moving(tmp_path, one)
    arriving(one, 3)
    ending = ending_of(on_its_way, 4.0, None, is_over=True)
    assert ending.complete
    assert (ending.moved_bytes, ending.earlier_bytes) == (3 * MEGABYTE, MEGABYTE)
    assert ending.message == (
        "all 3 files are there, 2.86 MiB; of it now 1.91 MiB in 4 s, 4 Mbit/s"
    )


def test_what_could_not_be_read_is_not_passed_over(tmp_path: Path) -> None:
    ending = ending_of(moving(tmp_path, portion(3), unreadable=2), 4.0, None, is_over=True)
    assert not ending.complete
    assert ending.exit_code == 1
    assert ending.message == ("3 of 3 files are there whole, 2 files or folders could not be read")
