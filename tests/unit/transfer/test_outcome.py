"""What is said of a transfer at its end, and the exit code."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from advisor.domain.manifest import Exclusion
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry, Part
from advisor.transfer.engine.batch_outcome import TransferFailed
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.journal import TransferJournal
from advisor.transfer.engine.outcome import TransferState, outcome_of
from advisor.transfer.engine.places import Places

MEGABYTE = 10**6
AGAIN = "the same command resumes from there"


FILES = [FileEntry(str(n), MEGABYTE, 0) for n in range(3)]


def group(arrived: int, troubled: int = 0) -> FileGroup:
    return arriving(FileGroup("all", FILES), arrived, troubled)


def arriving(one: FileGroup, arrived: int, troubled: int = 0) -> FileGroup:
    while (drawn := one.work.draw(3 * MEGABYTE, 1)) is not None:
        for part in drawn.parts:
            number = int(part.file.name)
            if number < arrived:
                one.work.done(Batch((Part(part.file, 0, MEGABYTE),)))
            elif number >= 3 - troubled:
                one.set_aside(part.file, "it cannot be read")
    return one


def state(folder: Path, *groups: FileGroup, exclusions: Sequence[Exclusion] = ()) -> TransferState:
    places = Places(source="/a", target="/b", destination_host="c")
    return TransferState(groups, TransferJournal(folder, places, print), exclusions)


@pytest.mark.parametrize(
    ("arrived", "troubled", "failure", "is_over", "exit_code", "words"),
    [
        (3, 0, "", True, 0, "all 3 files are there, "),
        (2, 1, "", True, 1, "2 of 3 files have arrived completely, 1 could not be moved"),
        (
            1,
            0,
            "the disk is full",
            False,
            1,
            f"the disk is full; 1 of 3 files have arrived completely; {AGAIN}",
        ),
        (0, 0, "Name it.", False, 1, "Name it; 0 of 3 files have arrived completely; "),
        (1, 0, "", False, 130, f"stopped: 1 of 3 files have arrived completely; {AGAIN}"),
        # Stopped in the moment in which the last file arrived.
        (3, 0, "", False, 130, f"stopped: 3 of 3 files have arrived completely; {AGAIN}"),
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
    on_its_way = state(tmp_path, group(arrived, troubled))
    outcome = outcome_of(
        on_its_way, 4.0, TransferFailed(failure) if failure else None, is_over=is_over
    )
    assert outcome.message.startswith(words)
    assert outcome.exit_code == exit_code
    assert outcome.complete == (exit_code == 0)
    assert (outcome.files, outcome.moved_bytes) == (arrived, arrived * MEGABYTE)
    assert outcome.missing == ["2: it cannot be read"] * troubled
    assert outcome.missing_files == troubled


def test_all_groups_count(tmp_path: Path) -> None:
    outcome = outcome_of(state(tmp_path, group(3), group(2, 1)), 4.0, None, is_over=True)
    assert outcome.message == "5 of 6 files have arrived completely, 1 could not be moved"


def test_what_was_there_before_is_not_this_runs(tmp_path: Path) -> None:
    one = FileGroup("all", FILES, done={"0": [(0, MEGABYTE)]})
    on_its_way = state(tmp_path, one)
    arriving(one, 3)
    outcome = outcome_of(on_its_way, 4.0, None, is_over=True)
    assert outcome.complete
    assert (outcome.moved_bytes, outcome.earlier_bytes) == (3 * MEGABYTE, MEGABYTE)
    assert outcome.message == (
        "all 3 files are there, 2.86 MiB; of it now 1.91 MiB in 4 s, 4 Mbit/s"
    )


def test_what_could_not_be_read_is_not_passed_over(tmp_path: Path) -> None:
    left_out = [Exclusion(name=name, reason="a socket") for name in "abcde"]
    outcome = outcome_of(state(tmp_path, group(3), exclusions=left_out), 4.0, None, is_over=True)
    assert not outcome.complete
    assert outcome.has_all_files
    assert outcome.exit_code == 1
    assert outcome.message == (
        "3 of 3 files have arrived completely, 5 entries left out: 'a' (a socket), 'b' (a socket), "
        "'c' (a socket) and 2 more"
    )
    assert outcome.missing == [f"{name}: a socket" for name in "abcde"]
