import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from advisor.domain.dataset import Dataset
from advisor.domain.manifest import ListingRules
from advisor.hosts.datasets import ScanProgress, scan, scanning

NOBODY = 65534


@contextmanager
def without_privileges() -> Iterator[None]:
    """As root nothing is refused; the block runs as somebody to whom it is."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anyone may enter; those of pytest are their owner's alone."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        Path(name).chmod(0o755)
        yield Path(name)
        for folder in (p for p in Path(name).iterdir() if p.is_dir()):
            folder.chmod(0o700)


def last(path: Path) -> ScanProgress:
    *_, progress = scanning(path)
    return progress


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x" * 5)
    assert scan(tmp_path / "f") == Dataset(
        total_bytes=5,
        path=str(tmp_path / "f"),
        files=1,
        largest="",
        largest_bytes=5,
        sizes=((2, 1, 5),),
    )


def test_a_tree(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/big").write_bytes(b"x" * 1024)
    (tmp_path / "a/small").write_bytes(b"x" * 3)
    (tmp_path / "empty").touch()
    found = scan(tmp_path)
    assert (found.files, found.total_bytes) == (3, 1027)
    assert (found.largest, found.largest_bytes) == ("a/b/big", 1024)
    assert found.sizes == ((-1, 1, 0), (1, 1, 3), (10, 1, 1024))
    assert found.unreadable == 0


def test_it_says_how_far_it_is(tmp_path: Path) -> None:
    for number in range(25):
        (tmp_path / str(number)).write_bytes(b"xy")
    seen = list(scanning(tmp_path, every=10))
    assert [p.files for p in seen] == [10, 20, 25]
    assert [p.total_bytes for p in seen] == [20, 40, 50]
    assert [p.finished for p in seen] == [False, False, True]
    assert seen[1].sizes == ((1, 20, 40),)


def test_nothing_to_move(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to move"):
        scan(tmp_path)
    (tmp_path / "empty").touch()
    with pytest.raises(ValueError, match="nothing to move"):
        scan(tmp_path)
    with pytest.raises(ValueError, match="nothing to move"):
        scan(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        scan(tmp_path / "absent")


def test_what_is_refused_is_counted_and_told(open_folder: Path) -> None:
    (open_folder / "plain").write_bytes(b"xx")
    (open_folder / "secret").write_bytes(b"xxxx")
    (open_folder / "closed").mkdir()
    (open_folder / "closed/inside").write_bytes(b"x")
    (open_folder / "secret").chmod(0)
    (open_folder / "closed").chmod(0)
    with without_privileges():
        progress = last(open_folder)
    assert (progress.files, progress.total_bytes, progress.unreadable) == (1, 2, 2)
    assert sorted(progress.reasons) == [
        f"{open_folder}/closed: Permission denied",
        f"{open_folder}/secret: Permission denied",
    ]
    assert progress.dataset().unreadable == 2


def test_a_folder_that_is_refused_itself(open_folder: Path) -> None:
    (open_folder / "closed").mkdir(mode=0o700)
    (open_folder / "closed").chmod(0)
    with without_privileges(), pytest.raises(PermissionError):
        scan(open_folder / "closed")


def test_the_reasons_are_bounded(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    for number in range(50):
        os.mkfifo(tmp_path / f"pipe{number}")
    progress = last(tmp_path)
    assert progress.unreadable == 50
    assert len(progress.reasons) == 10
    assert all("a named pipe" in reason for reason in progress.reasons)


def test_links_are_no_files_unless_they_are_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (inside / "own").write_bytes(b"x")
    (outside / "f").write_bytes(b"x" * 7)
    (inside / "to file").symlink_to(outside / "f")
    (inside / "to folder").symlink_to(outside)
    assert (last(inside).files, last(inside).total_bytes) == (1, 1)
    followed = scan(inside, ListingRules(follow_links=True))
    assert (followed.files, followed.total_bytes) == (3, 15)


def test_what_cannot_be_moved_is_counted(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    os.mkfifo(tmp_path / "pipe")
    progress = last(tmp_path)
    assert (progress.files, progress.unreadable) == (1, 1)
    assert progress.reasons == (f"{tmp_path}/pipe: a named pipe",)
    excluded = scan(tmp_path, ListingRules(exclude=("pi*",)))
    assert excluded.unreadable == 0


def test_files_and_folders_that_vanish_meanwhile(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"d{number}").mkdir()
        (tmp_path / f"d{number}/f").write_bytes(b"x")
        (tmp_path / f"d{number}/g").write_bytes(b"x")
    steps = scanning(tmp_path, every=1)
    next(step for step in steps if step.files == 1)
    for folder in tmp_path.iterdir():
        shutil.rmtree(folder)
    *_, progress = steps
    assert progress.finished
    # The folder being read was listed already; its second file is gone all the same.
    assert (progress.files, progress.unreadable) == (1, 0)


def test_names_that_are_not_utf8_are_counted_as_not_movable(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/latin\xe9"
    Path(os.fsdecode(name)).write_bytes(b"xyz")
    (tmp_path / "plain").write_bytes(b"xyz")
    found = scan(tmp_path)
    assert (found.files, found.unreadable, found.largest) == (1, 1, "plain")
    assert last(tmp_path).reasons == (f"{tmp_path}/latin\\xe9: its name is not UTF-8",)
    with pytest.raises(ValueError, match="not UTF-8"):
        scan(Path(os.fsdecode(name)))


def test_holes_are_counted_as_what_is_sent(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**10)
    found = scan(tmp_path)
    assert (found.total_bytes, found.sizes) == (10**10, ((33, 1, 10**10),))


def test_datasets_stored_before_have_no_sizes() -> None:
    old = b'{"total_bytes":7,"path":"/d","files":1,"largest":"","largest_bytes":7}'
    assert msgspec.json.decode(old, type=Dataset).sizes == ()
