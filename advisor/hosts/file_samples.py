"""Sample files of a dataset to try a transfer on: all of them, or a number of each size."""

import random
from pathlib import Path
from typing import Final

from advisor.hosts.datasets import listed_files
from advisor.models.slicing import FileEntry

_KEPT_OF_A_SIZE: Final = 2000
"""Per size: more than a probe moves, and few enough for memory with fifty sizes."""


def sample_files(path: Path, seed: int) -> list[FileEntry]:
    """Files below a folder, or the file itself, whose name then is "".

    At most 2000 files of each size (powers of two), drawn uniformly. Raises OSError.
    """
    rng = random.Random(seed)
    kept: dict[int, list[FileEntry]] = {}
    seen: dict[int, int] = {}
    for entry in listed_files(path):
        exponent = entry.size_bytes.bit_length() - 1
        files, seen[exponent] = kept.setdefault(exponent, []), seen.get(exponent, 0) + 1
        if len(files) < _KEPT_OF_A_SIZE:
            files.append(entry)
        elif (place := rng.randrange(seen[exponent])) < _KEPT_OF_A_SIZE:
            files[place] = entry
    return [entry for exponent in sorted(kept) for entry in kept[exponent]]


def is_unchanged(path: Path, entry: FileEntry) -> bool:
    """Whether the file is still the one that was listed.

    A file that was replaced by one of the same size and time has another inode or change time.
    """
    try:
        status = path.stat()
    except OSError:
        return False
    if (status.st_size, status.st_mtime_ns) != (entry.size_bytes, entry.mtime_ns):
        return False
    # No file has the inode 0: it is not known then.
    return not entry.inode or (status.st_ctime_ns, status.st_ino) == (entry.ctime_ns, entry.inode)
