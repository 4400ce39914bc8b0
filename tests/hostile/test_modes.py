"""Another user of this machine reads, or writes, what the program stores."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from advisor.domain import events as ev
from advisor.domain.endpoints import Pair
from advisor.domain.records import RemarkRecord
from advisor.models.slicing import FileEntry, Part
from advisor.store.files import replace_file
from advisor.store.history import Store
from advisor.transfer.engine.journal import NotedPart, TransferJournal
from advisor.transfer.engine.places import Places

PAIR = Pair("dtn1.example.org", "dtn2.example.org")


@pytest.fixture(autouse=True, params=[0o000, 0o022, 0o002, 0o077], ids=oct)
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def fill(folder: Path) -> None:
    """Everything a session stores: records, raw output, events, a transfer's journal."""
    store = Store(folder / "history", cache=folder / "cache")
    store.append(RemarkRecord(pair=PAIR, session="s", kind="note", text="t", recorded_s=1.0))
    store.keep_raw(PAIR, "s", "out", b"data")
    for close in (True, False):
        log = store.event_log(PAIR, "s")
        log(ev.Notice(at_s=0, message="m"))
        if close:
            log.close()
    store.sessions(PAIR)
    places = Places(source="/data", target="/store", destination_host="dtn02")

    async def write(journal: TransferJournal) -> None:
        await journal.begin([])
        await journal.note([NotedPart(Part(FileEntry("one", 100, 7), 0, 100), "ab" * 32)])

    with TransferJournal(folder / "transfers", places, print) as journal:
        asyncio.run(write(journal))
    log.close()


def modes(folder: Path) -> tuple[set[int], set[int]]:
    """Of all folders and of all files below."""
    below = list(folder.rglob("*"))
    assert len(below) > 8
    return (
        {path.stat().st_mode & 0o7777 for path in below if path.is_dir()},
        {path.stat().st_mode & 0o7777 for path in below if path.is_file()},
    )


@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_what_is_stored_is_its_owners_alone(tmp_path: Path, mode: int) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine").chmod(mode)
    fill(tmp_path / "mine" / "advisor")
    assert modes(tmp_path / "mine") == ({0o700}, {0o600})


@pytest.mark.parametrize(
    ("mode", "folders", "files"),
    [
        (0o2770, 0o2770, 0o660),
        (0o770, 0o770, 0o660),
        (0o2750, 0o2750, 0o640),
        (0o2777, 0o2770, 0o660),
    ],
)
def test_in_a_folder_shared_on_purpose_the_group_keeps_its_rights(
    tmp_path: Path, mode: int, folders: int, files: int
) -> None:
    (tmp_path / "ours").mkdir()
    (tmp_path / "ours").chmod(mode)
    fill(tmp_path / "ours")
    assert modes(tmp_path / "ours") == ({folders}, {files})


def test_what_the_user_asked_for_has_the_umasks_mode(tmp_path: Path, umask: int) -> None:
    replace_file(tmp_path / "plot", b"data", public=True)
    assert (tmp_path / "plot").stat().st_mode & 0o7777 == 0o666 & ~umask
