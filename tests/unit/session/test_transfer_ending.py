"""What is said of a transfer at its end, and the exit code."""

import pytest

from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.session.moving.portion import Portion
from advisor.session.transfers.ending import ending_of


def portion(arrived: int, troubled: int = 0) -> Portion:
    """Of three files of a megabyte."""
    one = Portion("all", [FileEntry(str(n), 10**6, 0) for n in range(3)])
    drawn = one.work.draw(3 * 10**6, 1)
    while drawn is not None:
        for part in drawn.parts:
            number = int(part.file.name)
            if number < arrived:
                one.work.done(Batch((Part(part.file, 0, 10**6),)))
            elif number >= 3 - troubled:
                one.set_aside(part.file, "it cannot be read")
        drawn = one.work.draw(3 * 10**6, 1)
    return one


@pytest.mark.parametrize(
    ("arrived", "troubled", "failure", "is_over", "exit_code", "words"),
    [
        (3, 0, "", True, 0, "all 3 files are there, 2.86 MiB in 4 s, 6 Mbit/s"),
        (2, 1, "", True, 1, "2 of 3 files are there whole, 1 could not be moved"),
        (1, 0, "the disk is full", False, 1, "the disk is full; 1 of 3 files are there whole"),
        (1, 0, "", False, 130, "stopped: 1 of 3 files are there whole; the same command"),
        # Stopped in the moment in which the last file arrived.
        (3, 0, "", False, 130, "stopped: 3 of 3 files are there whole"),
    ],
)
def test_the_end(
    arrived: int, troubled: int, failure: str, is_over: bool, exit_code: int, words: str
) -> None:
    ending = ending_of(portion(arrived, troubled), 4.0, failure, is_over=is_over)
    assert ending["message"].startswith(words)
    assert ending["exit_code"] == exit_code
    assert ending["complete"] == (exit_code == 0)
    assert (ending["files"], ending["moved_bytes"]) == (arrived, arrived * 10**6)
    assert ending["missing"] == ["2: it cannot be read"] * troubled
    assert ending["missing_files"] == troubled
