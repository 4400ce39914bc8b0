"""File sizes in classes relative to the path, after HARP (Arslan, Pehlivan, Kosar 2018).

The paper divides files into Tiny, Small, Medium and Large (Section 3.1, line 3 of Algorithm 1) but
prints no thresholds. Its text says that they follow the bandwidth-delay product (Section 3.2: at a
BDP of 40 MB, 1 KB and 1 MB are Tiny, 1 GB is Large), and gives the sizes of each class on the path
of Table 1 with a BDP of 48 MB (Section 3.2.1): Tiny 1 to 5 MB, Small 15 to 30 MB, Medium 50 to
200 MB, Large 1 to 5 GB. The thresholds here are the round multiples of the BDP that separate all
of these: a fifth (between 0.10 and 0.31), one (between 0.63 and 1.04), and ten (between 4.2 and
20.8).
"""

import math
from collections.abc import Iterable
from enum import StrEnum
from typing import Final

import msgspec

from advisor.domain.dataset import SizeBin
from advisor.domain.quantities import format_bytes


class Size(StrEnum):
    """The four classes."""

    TINY = "tiny"
    SMALL = "small"
    MEDIUM = "medium"
    LARGE = "large"


BELOW_BDP: Final = {Size.TINY: 0.2, Size.SMALL: 1.0, Size.MEDIUM: 10.0, Size.LARGE: math.inf}
"""A class holds the files smaller than this many BDPs that are in no earlier class."""


class SizeGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A group of files. `files` is at least 1; sizes in bytes, both bounds included."""

    files: int
    total_bytes: int
    smallest_bytes: int
    largest_bytes: int

    @property
    def mean_bytes(self) -> float:
        """The mean size."""
        return self.total_bytes / self.files


class FileClass(SizeGroup, frozen=True, kw_only=True):
    """The files of one class, and their consequences for the settings."""

    size: Size
    meaning: str


class SizeHistogram:
    """Sizes by powers of two: needs no more memory for a million files than for a hundred."""

    def __init__(self) -> None:
        self._bins: dict[int, tuple[int, int]] = {}

    def add(self, size_bytes: int) -> None:
        """Count one file."""
        exponent = size_bytes.bit_length() - 1
        files, total_bytes = self._bins.get(exponent, (0, 0))
        self._bins[exponent] = files + 1, total_bytes + size_bytes

    @property
    def bins(self) -> tuple[SizeBin, ...]:
        """From small to large."""
        return tuple((exponent, *self._bins[exponent]) for exponent in sorted(self._bins))


def of_sizes(sizes: Iterable[tuple[int, int]]) -> list[SizeGroup]:
    """Groups from pairs of a size in bytes and the number of files of that size."""
    return [
        SizeGroup(files=files, total_bytes=size * files, smallest_bytes=size, largest_bytes=size)
        for size, files in sizes
        if files
    ]


def of_bins(bins: Iterable[SizeBin]) -> list[SizeGroup]:
    """Groups from a histogram; their smallest and largest sizes are the bounds of the bins.

    The size of a single file is known exactly.
    """
    return [
        SizeGroup(
            files=files,
            total_bytes=total_bytes,
            smallest_bytes=total_bytes if files == 1 else _bound(exponent),
            largest_bytes=total_bytes if files == 1 else max(0, _bound(exponent + 1) - 1),
        )
        for exponent, files, total_bytes in bins
        if files
    ]


def _bound(exponent: int) -> int:
    return 2**exponent if exponent >= 0 else 0


def size_of(size_bytes: float, bdp_bytes: float) -> Size:
    """The class of a file of this size. `bdp_bytes`: rate × RTT, above zero."""
    return next(size for size, share in BELOW_BDP.items() if size_bytes < share * bdp_bytes)


def classify(groups: Iterable[SizeGroup], bdp_bytes: float) -> list[FileClass]:
    """The classes that have files, from tiny to large. `bdp_bytes`: rate × RTT, above zero.

    A group is classified by its mean: with a histogram, files within a factor of two of a
    threshold may be counted in the adjacent class.
    """
    members: dict[Size, list[SizeGroup]] = {size: [] for size in Size}
    for group in groups:
        members[size_of(group.mean_bytes, bdp_bytes)].append(group)
    return [_joined(size, found, bdp_bytes) for size, found in members.items() if found]


def _joined(size: Size, groups: list[SizeGroup], bdp_bytes: float) -> FileClass:
    files, total_bytes = sum(g.files for g in groups), sum(g.total_bytes for g in groups)
    return FileClass(
        size=size,
        files=files,
        total_bytes=total_bytes,
        smallest_bytes=min(g.smallest_bytes for g in groups),
        largest_bytes=max(g.largest_bytes for g in groups),
        meaning=_meaning(size, total_bytes / files, bdp_bytes),
    )


def files_in_flight(mean_bytes: float, bdp_bytes: float) -> int:
    """The number of files of this size that fills the path: BDP ÷ mean size (Section 3)."""
    return math.ceil(bdp_bytes / max(1.0, mean_bytes))


def _meaning(size: Size, mean_bytes: float, bdp_bytes: float) -> str:
    """The requirements of the class, in the terms of GridFTP (Section 2; Table 3)."""
    fills = f"{files_in_flight(mean_bytes, bdp_bytes)} of them fill the path"
    bdp = format_bytes(bdp_bytes)
    match size:
        case Size.TINY:
            return (
                f"A file ends before its connection is up to speed, and {fills} ({bdp}): "
                "pipelining removes the round trip between files and concurrency keeps several "
                "in flight, while more streams per file have little data to share."
            )
        case Size.SMALL:
            return (
                f"One file cannot fill the path ({bdp}), and {fills}: concurrency matters most, "
                "and pipelining saves the round trip between files."
            )
        case Size.MEDIUM:
            return (
                f"One file fills the path ({bdp}), but not for long: parallel streams reach full "
                "speed sooner, and a second concurrent file bridges the gap to the next."
            )
        case Size.LARGE:
            return (
                f"One file keeps the path ({bdp}) full by itself: parallelism matters, "
                "pipelining gains nothing, and concurrency helps only where one file cannot be "
                "read or written as fast as the path carries it."
            )
