"""What has arrived of a transfer, written and read again."""

import asyncio
import contextlib
import errno
import fcntl
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from advisor.models.slicing import FileEntry, Part
from advisor.store import files as store_files
from advisor.transfer.engine.journal import (
    JournalStuck,
    Noted,
    NotedPart,
    TransferJournal,
    TransferRuns,
)
from advisor.transfer.engine.places import Places
from advisor.transfer.engine.resume import resume_message

PLACES = Places(source="/data/run.42", target="/store/run.42", destination_host="dtn02")
ONE, TWO, EMPTY = FileEntry("one", 100, 7), FileEntry("a/two", 50, 8), FileEntry("empty", 0, 9)
FILES = [ONE, TWO, EMPTY]
DIGEST = "ab" * 32
PARTS = [Part(ONE, 0, 40), Part(TWO, 0, 50), Part(ONE, 60, 40), Part(EMPTY, 0, 0)]
PIECES = [NotedPart(part, DIGEST) for part in PARTS]
DONE = {"one": [(0, 40), (60, 40)], "a/two": [(0, 50)], "empty": [(0, 0)]}


@pytest.fixture
def messages() -> list[str]:
    return []


@pytest.fixture
def journal(tmp_path: Path, messages: list[str]) -> TransferJournal:
    return TransferJournal(tmp_path / "state" / "transfers", PLACES, messages.append)


def _write(journal: TransferJournal, *batches: Sequence[NotedPart]) -> None:
    async def run() -> None:
        await journal.begin([])
        for batch in batches:
            await journal.note(batch)

    with journal:
        asyncio.run(run())


def _noted(journal: TransferJournal, files: Sequence[FileEntry] = FILES) -> Noted:
    with journal:
        return asyncio.run(journal.read(files))


def _read(
    journal: TransferJournal, files: Sequence[FileEntry] = FILES
) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for one in _noted(journal, files).parts:
        assert one.digest == DIGEST
        found.setdefault(one.part.file.name, []).append(
            (one.part.offset_bytes, one.part.size_bytes)
        )
    return found


def _file(journal_folder: Path) -> Path:
    [path] = (journal_folder / "state" / "transfers").glob("*.jsonl")
    return path


def test_what_was_noted_is_read(journal: TransferJournal, messages: list[str]) -> None:
    assert _read(journal) == {}
    _write(journal, PIECES[:2], PIECES[2:])
    assert _read(journal) == DONE
    assert journal.is_kept
    assert not messages


def test_wherever_it_is_torn_off_the_whole_lines_count(
    journal: TransferJournal, tmp_path: Path
) -> None:
    _write(journal, PIECES)
    content = _file(tmp_path).read_bytes()
    header = content.index(b"\n") + 1
    for end in range(header, len(content)):
        _file(tmp_path).write_bytes(content[:end])
        read = _read(journal)
        # The line of which only the newline is missing is whole.
        lines = content[header : end + 1].count(b"\n")
        assert sum(len(ranges) for ranges in read.values()) == lines, end


def test_lines_that_are_none_are_passed_over(journal: TransferJournal, tmp_path: Path) -> None:
    _write(journal, PIECES)
    with _file(tmp_path).open("ab") as file:
        file.write(
            b'\xff\n[]\n["one",100,7,0,0,90,20]\n["one",100,7,0,0,-5,10]\n["one",100,7,0,0,5,-1]\n'
            b"[" * 60_000 + b"\n\n"
        )
    assert _read(journal) == DONE


def test_of_a_file_that_changed_nothing_counts(journal: TransferJournal) -> None:
    _write(journal, PIECES)
    later = msgspec.structs.replace(ONE, mtime_ns=8)
    longer = msgspec.structs.replace(TWO, size_bytes=51)
    assert _read(journal, [later, longer, EMPTY]) == {"empty": DONE["empty"]}
    assert _read(journal, [ONE]) == {"one": DONE["one"]}
    noted = _noted(journal, [later, msgspec.structs.replace(EMPTY, inode=5)])
    assert noted.changed == {"one", "empty"}
    assert noted.gone == {"a/two"}


@pytest.mark.parametrize(
    "other",
    [
        {"source": "/data/run-42"},
        {"target": "/store/run-42"},
        {"destination_host": "dtn03"},
        {"server_url": "gsiftp://dtn02:2811"},
    ],
)
def test_another_transfer_has_another_journal(
    journal: TransferJournal, tmp_path: Path, messages: list[str], other: dict[str, str]
) -> None:
    _write(journal, PIECES)
    places = msgspec.structs.replace(PLACES, **other)
    second = TransferJournal(tmp_path / "state" / "transfers", places, messages.append)
    with journal:
        assert _read(second) == {}


def test_the_journal_of_something_else_is_not_believed(
    journal: TransferJournal, tmp_path: Path
) -> None:
    _write(journal, PIECES)
    content = _file(tmp_path).read_bytes()
    _file(tmp_path).write_bytes(content.replace(b"dtn02", b"dtn03"))
    assert _read(journal) == {}


def test_only_one_has_it_at_a_time(journal: TransferJournal, tmp_path: Path) -> None:
    second = TransferJournal(tmp_path / "state" / "transfers", PLACES, print)
    with journal, pytest.raises(TransferRuns, match="already running"), second:
        pass
    with second:
        pass


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP])
def test_without_locks_nothing_is_said_to_run_already(
    journal: TransferJournal, messages: list[str], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, "no flock here")

    monkeypatch.setattr(fcntl, "flock", refuse)
    for _ in range(2):
        with journal:
            pass
    [message] = messages
    assert "its file system has no locks): the transfer continues" in message


def test_it_says_how_far_it_is() -> None:
    done = {name: DONE[name] for name in ("one", "empty")}
    assert resume_message(FILES, done) == (
        "resumes: 1 of 3 files, 80 B of 150 B have arrived already"
    )
    assert resume_message(FILES, {}) == ""


def test_what_could_not_be_written_is_with_the_next(
    journal: TransferJournal, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int, data: bytes, offset: int) -> None:
        store_files.write_all(handle, data[: len(data) // 2], offset)
        raise OSError(28, "No space left on device")

    async def run() -> None:
        await journal.begin([])
        with monkeypatch.context() as patch:
            patch.setattr("advisor.transfer.engine.journal.write_all", full)
            await journal.note(PIECES[:1])
            await journal.note(PIECES[1:2])
        assert not journal.is_kept
        await journal.note(PIECES[2:])
        assert journal.is_kept

    with journal:
        asyncio.run(run())
    assert len(messages) == 1
    assert "no space left" in messages[0]
    assert _read(journal) == DONE


def test_what_does_not_come_to_disk_is_with_the_next(
    journal: TransferJournal, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    async def run() -> None:
        await journal.begin([])
        with monkeypatch.context() as patch:
            patch.setattr(os, "fdatasync", fails)
            await journal.note(PIECES[:2])
        assert not journal.is_kept
        await journal.note(PIECES[2:])
        assert journal.is_kept

    with journal:
        asyncio.run(run())
    assert len(messages) == 1
    assert "input/output error" in messages[0]
    assert _read(journal) == DONE


def test_a_journal_that_does_not_come_to_disk_is_none(
    journal: TransferJournal, messages: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> None:
        raise OSError(5, "Input/output error")

    _write(journal, PIECES)
    with monkeypatch.context() as patch, journal:
        patch.setattr(os, "fsync", fails)
        asyncio.run(journal.begin(PIECES[:1]))
    assert not journal.is_kept
    assert len(messages) == 1
    assert _read(journal) == {}


def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path: Path, messages: list[str]) -> None:
    (tmp_path / "file").touch()
    journal = TransferJournal(tmp_path / "file" / "transfers", PLACES, messages.append)
    _write(journal, PIECES)
    assert not journal.is_kept
    assert len(messages) == 1


def test_what_is_no_longer_so_must_go(
    journal: TransferJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(30, "Read-only file system")

    _write(journal, PIECES)
    monkeypatch.setattr("advisor.transfer.engine.journal.replace_file", fail)
    monkeypatch.setattr(Path, "unlink", fail)
    with journal, pytest.raises(JournalStuck, match="remove it"):
        asyncio.run(journal.begin([]))


def test_forgotten_it_is_as_if_it_had_never_been(journal: TransferJournal) -> None:
    _write(journal, PIECES)
    with journal:
        journal.forget()
        with contextlib.suppress(FileNotFoundError):
            journal.forget()
        asyncio.run(journal.note(PIECES))
    assert _read(journal) == {}


def test_the_token_is_that_of_the_first_run(journal: TransferJournal, tmp_path: Path) -> None:
    _write(journal, PIECES)
    again = TransferJournal(tmp_path / "state" / "transfers", PLACES, print)
    assert again.token != journal.token
    _read(again)
    assert again.token == journal.token
