"""Sample files of a dataset to try a transfer on: all of them, or a number of each size."""

import random
from pathlib import Path
from typing import Final

from advisor.hosts.datasets import regular_files
from advisor.models.slicing import FileEntry

_KEPT_OF_A_SIZE: Final = 2000
"""Per size: more than a probe moves, and few enough for memory with fifty sizes."""


def sample_files(path: Path, seed: int) -> list[FileEntry]:
    """Files below a folder, or the file itself, whose name then is "".

    At most 2000 files of each size (powers of two), drawn uniformly. Unreadable files and names
    that are not UTF-8 are left out. Raises OSError.
    """
    rng = random.Random(seed)
    kept: dict[int, list[FileEntry]] = {}
    seen: dict[int, int] = {}
    for name, status in regular_files(path):
        exponent = status.st_size.bit_length() - 1
        entry = FileEntry(name, status.st_size, status.st_mtime_ns)
        files, seen[exponent] = kept.setdefault(exponent, []), seen.get(exponent, 0) + 1
        if len(files) < _KEPT_OF_A_SIZE:
            files.append(entry)
        elif (place := rng.randrange(seen[exponent])) < _KEPT_OF_A_SIZE:
            files[place] = entry
    return [entry for exponent in sorted(kept) for entry in kept[exponent]]


def is_unchanged(path: Path, entry: FileEntry) -> bool:
    """Whether the file still has the size and time it had when it was listed."""
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_size, status.st_mtime_ns) == (entry.size_bytes, entry.mtime_ns)
