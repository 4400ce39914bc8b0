"""Whether a file is still the one that was listed."""

import os
from pathlib import Path

import msgspec
import pytest

from advisor.hosts.file_samples import is_unchanged, sample_files
from advisor.models.slicing import FileEntry


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    return path


def listed(path: Path) -> FileEntry:
    [entry] = sample_files(path, seed=1)
    return entry


def test_a_file_that_was_replaced_with_the_same_size_and_time_is_another(file: Path) -> None:
    entry = listed(file)
    assert is_unchanged(file, entry)
    other = file.with_name("other")
    other.write_bytes(b"after!")
    os.utime(other, ns=(entry.mtime_ns, entry.mtime_ns))
    other.replace(file)
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (entry.size_bytes, entry.mtime_ns)
    assert not is_unchanged(file, entry)


def test_another_change_time_or_another_inode_is_enough(file: Path) -> None:
    entry = listed(file)
    assert not is_unchanged(file, msgspec.structs.replace(entry, ctime_ns=entry.ctime_ns - 1))
    assert not is_unchanged(file, msgspec.structs.replace(entry, inode=entry.inode + 1))


def test_where_no_inode_is_known_size_and_time_decide(file: Path) -> None:
    entry = msgspec.structs.replace(listed(file), inode=0, ctime_ns=0)
    assert is_unchanged(file, entry)
    assert not is_unchanged(file, msgspec.structs.replace(entry, mtime_ns=entry.mtime_ns - 1))
    assert not is_unchanged(file, msgspec.structs.replace(entry, size_bytes=7))
    file.unlink()
    assert not is_unchanged(file, entry)
