"""The files to move."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from advisor.domain.bounded import Figure

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


class Work(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An amount of files, as far as the time of a transfer depends on it.

    `files`: whole files and ranges; a fraction where one was under way. `square_bytes`: the sum of
    the squared sizes. `is_cut`: the transfer was stopped, so no worker ran out of files.
    """

    files: Figure
    total_bytes: Figure
    largest_bytes: Figure
    square_bytes: Figure
    is_cut: bool = False

    @classmethod
    def of_sizes(cls, sizes: Sequence[float], *, is_cut: bool = False) -> "Work":
        """Files or ranges of these sizes."""
        return cls(
            files=len(sizes),
            total_bytes=math.fsum(sizes),
            largest_bytes=float(max(sizes, default=0)),
            square_bytes=math.fsum(float(size) ** 2 for size in sizes),
            is_cut=is_cut,
        )

    @classmethod
    def of_dataset(cls, dataset: Dataset) -> "Work":
        """A whole dataset; one file where its files are not known."""
        bins = [one for one in dataset.sizes if one[1]] or [(0, 1, dataset.total_bytes)]
        means = [(count, total_bytes / count) for _, count, total_bytes in bins]
        # Squares of sizes exceed 64-bit integers.
        largest = float(dataset.largest_bytes or max(size for _, size in means))
        squares = math.fsum(count * size**2 for count, size in means)
        return cls(
            files=dataset.files or 1,
            total_bytes=dataset.total_bytes,
            largest_bytes=largest,
            square_bytes=max(squares, largest**2),
        )
