"""What the experiment sends repeatedly: ranges of one file, or several whole ones."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from advisor.domain.dataset import Dataset
from advisor.hosts.datasets import listed_files, scan
from advisor.models.endless_files import EndlessFiles
from advisor.models.endless_work import EndlessWork
from advisor.models.piecework import LEAST_RANGE_BYTES
from advisor.models.slicing import FileEntry

_FILE_BYTES: Final = 16 * 2**20
"""Of each whole file: small beside what a path moves in a step, large beside the cost of a file."""

_FOR_EACH: Final = 2
"""How many whole files there are for each that may be under way, so that no client waits."""

_VERSIONS: Final = 2
"""A whole file that is replaced is there until its successor is complete."""


@contextlib.contextmanager
def sparse_files(space_bytes: int, at_once: int, *, whole: bool) -> Iterator[Path]:
    """A sparse file, or a folder of them for a tool that moves whole files; removed at the end."""
    with tempfile.TemporaryDirectory(prefix="advisor-", ignore_cleanup_errors=True) as folder:
        sparse = Path(folder) / "sparse"
        if not whole:
            _make(sparse, space_bytes)
        else:
            sparse.mkdir()
            size_bytes = _whole_bytes(space_bytes, at_once)
            for number in range(space_bytes // _VERSIONS // size_bytes):
                _make(sparse / f"{number}", size_bytes)
        yield sparse


def _make(path: Path, size_bytes: int) -> None:
    path.touch()
    os.truncate(path, size_bytes)


def _whole_bytes(space_bytes: int, at_once: int) -> int:
    return min(_FILE_BYTES, space_bytes // (_VERSIONS * _FOR_EACH * at_once))


def least_space_bytes(at_once: int, *, whole: bool) -> int:
    """The space that files to send need at each destination."""
    return LEAST_RANGE_BYTES * (_VERSIONS * _FOR_EACH * at_once if whole else _VERSIONS)


class Source(msgspec.Struct, frozen=True):
    """What is sent to every destination, read once."""

    path: Path
    dataset: Dataset
    files: list[FileEntry]


def source_at(path: Path) -> Source:
    """The file at that path, or the files below it. Raises OSError, ValueError."""
    return Source(path, scan(path), list(listed_files(path)))


def endless_work(
    files: Sequence[FileEntry], space_bytes: int, at_once: int, *, whole: bool
) -> tuple[Sequence[FileEntry], EndlessWork | EndlessFiles]:
    """Those of the files that are sent, and the work of sending them. Raises ValueError."""
    if not whole:
        [file] = files
        return files, EndlessWork(file, space_bytes)
    # In any order, so that those that fit in the space are as mixed as all of them.
    mixed = [files[index] for index in np.random.default_rng(0).permutation(len(files))]
    work = EndlessFiles(mixed, space_bytes // _VERSIONS, _FOR_EACH * at_once)
    return work.files, work
