"""What there is to move, looked up on this host."""

import os
from pathlib import Path

from advisor.domain.dataset import Dataset


def scan(path: Path) -> Dataset:
    """The files of a file or directory: how many, how much, which is the largest.

    Symbolic links are counted as what they point to when that is a file, and not followed into
    directories. Raises OSError when it cannot be read, ValueError when nothing is in it.
    """
    path = path.absolute()
    if path.is_file():
        size = path.stat().st_size
        if not size:
            raise ValueError("the file is empty")
        return Dataset(total_bytes=size, path=str(path), files=1, largest="", largest_bytes=size)
    total, files, largest, largest_bytes = 0, 0, "", 0
    for folder, _, names in os.walk(path, onerror=_raise):
        for name in names:
            file = Path(folder, name)
            if not file.is_file():
                continue
            size = file.stat().st_size
            total, files = total + size, files + 1
            if size > largest_bytes:
                largest, largest_bytes = str(file.relative_to(path)), size
    if not total:
        raise ValueError("there is nothing to move in it")
    return Dataset(
        total_bytes=total,
        path=str(path),
        files=files,
        largest=largest,
        largest_bytes=largest_bytes,
    )


def _raise(error: OSError) -> None:
    raise error
