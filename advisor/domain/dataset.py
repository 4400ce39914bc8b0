"""The files to move."""

from typing import TypeAlias

import msgspec

SizeBin: TypeAlias = tuple[int, int, int]
"""Files of about one size: exponent e, how many have 2^e ≤ size < 2^(e+1) bytes, and their bytes
together. Empty files have the exponent -1."""


class Dataset(msgspec.Struct, frozen=True, kw_only=True):
    """How much there is to move.

    `total_bytes` is at least 1. `path`, `files` and `largest` are known when a directory or file
    was named; `largest` is the path of the biggest file relative to `path`, "" when `path` is
    a file; where a name is not UTF-8 it has U+FFFD for the bytes that are not. `sizes`: from small
    to large, empty where they are not known. `unreadable`: files and folders that could not be
    read and are in none of the figures.
    """

    total_bytes: int
    path: str | None = None
    files: int | None = None
    largest: str | None = None
    largest_bytes: int | None = None
    sizes: tuple[SizeBin, ...] = ()
    unreadable: int = 0
