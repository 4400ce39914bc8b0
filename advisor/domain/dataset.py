"""The files to move."""

from typing import TypeAlias

import msgspec

SizeBin: TypeAlias = tuple[int, int, int]
"""Files of similar size: the exponent e, the number with 2^e ≤ size < 2^(e+1) bytes, and their
total bytes. Empty files have the exponent -1."""


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """The size and content of a dataset.

    `total_bytes` is at least 1. `path`, `files` and `largest` are known when a directory or file
    was named. `largest` is the path of the biggest file relative to `path`, "" when `path` is a
    file; bytes of a name that are not UTF-8 become U+FFFD. `sizes`: from small to large, empty
    where they are not known. `unreadable`: the number of files and folders that could not be read;
    no other figure includes them.
    """

    total_bytes: int
    path: str | None = None
    files: int | None = None
    largest: str | None = None
    largest_bytes: int | None = None
    sizes: tuple[SizeBin, ...] = ()
    unreadable: int = 0
