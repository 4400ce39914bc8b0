"""Which part of a dataset to move in a probe, so that it represents the whole.

A transfer of many files depends on the files as much as on the bytes: each costs connections, round
trips and disk operations. So a slice has the dataset's mix of sizes: each class of sizes
contributes the same fraction of its bytes. Files too large for that are cut: a range of each, over
as many files as would be in flight at once, so that concurrency has the same effect in the slice as
in the whole. Where files cannot be cut, a slice has as many large ones, and of every other class
the same fraction: more than a probe has time for, which ends it.

Within a slice the classes are interleaved: each class's parts are spread evenly over it. So every
beginning of a slice has that mix too, and a probe that is stopped early still represents the whole.
Tools that cannot cut files move them in an order of their own, and what arrived is counted file by
file.

An empty file costs as much as any other small file, so it counts as one byte here: a slice of a
fraction of the bytes has that fraction of the empty files too, and always something else besides.
"""

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from advisor.domain.dataset import SizeBin, Work

if TYPE_CHECKING:
    import numpy as np

_LEAST_RANGE_BYTES: Final = 4 * 2**20
"""Below this the cost of a range is mostly that of a file, however few bytes it has."""

_GRAIN_BYTES: Final = 2**20
_SMALL: Final = 1e-6


class FileEntry(msgspec.Struct, frozen=True):
    """A file: path relative to the dataset's, size in bytes, and which version of it.

    The version: modification and change time in nanoseconds since 1970, and inode, 0 if not known.
    """

    name: str
    size_bytes: int
    mtime_ns: int
    ctime_ns: int = 0
    inode: int = 0


class Part(msgspec.Struct, frozen=True):
    """A file of a slice, or a range of one."""

    file: FileEntry
    offset_bytes: int
    size_bytes: int

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole file."""
        return self.size_bytes == self.file.size_bytes


class _Class:
    """The files of one size bin: their totals, and which come next.

    `per_byte`: what it has for each byte of the dataset. `owed_bytes`: what earlier slices should
    have taken of it and did not.
    """

    def __init__(self, one: SizeBin, files: list[FileEntry], dataset_bytes: int) -> None:
        _, self.count, self._bytes = one
        self.total_bytes = max(self._bytes, self.count)
        self.mean_bytes = self.total_bytes / self.count
        self.per_byte = self.total_bytes / dataset_bytes
        self._files = files
        self._next = 0
        self._offsets: dict[str, int] = {}
        self.owed_bytes = 0.0

    @property
    def has_data(self) -> bool:
        """Whether its files are more than empty ones."""
        return self._bytes > 0

    def take(self, wanted_bytes: float, at_once: int) -> list[Part]:
        """Parts of about `wanted_bytes`; less than a file is owed to the next slice."""
        self.owed_bytes += wanted_bytes
        pieces = min(self.count, at_once)
        each = self.owed_bytes / pieces
        if each >= _LEAST_RANGE_BYTES and self.mean_bytes > each:
            return self._ranges(pieces, each)
        if self.mean_bytes > self.owed_bytes >= _LEAST_RANGE_BYTES:
            return self._ranges(max(1, int(self.owed_bytes // _LEAST_RANGE_BYTES)), None)
        return self._whole_files()

    def least_fraction(self, fraction: float, at_once: int) -> float:
        """The fraction of its files that keeps all workers busy; 0 if the files are so small that
        `fraction` of its bytes does so."""
        pieces = min(self.count, at_once)
        each = fraction * self.total_bytes / pieces
        return pieces / self.count if self.mean_bytes > max(each, _LEAST_RANGE_BYTES) else 0.0

    def take_whole(self, fraction: float) -> list[Part]:
        """This fraction of its files, as far as they are known; less than one is owed."""
        self.owed_bytes += fraction * self.total_bytes
        number = min(int(self.owed_bytes / self.mean_bytes + _SMALL), len(self._files))
        self.owed_bytes = min(self.owed_bytes - number * self.mean_bytes, self.mean_bytes)
        return [self._next_whole() for _ in range(number)]

    def _whole_files(self) -> list[Part]:
        parts: list[Part] = []
        while self.owed_bytes >= (size := max(1, self._files[self._next].size_bytes)):
            if len(parts) >= len(self._files):
                break
            parts.append(self._next_whole())
            self.owed_bytes -= size
        return parts

    def _next_whole(self) -> Part:
        file = self._files[self._next]
        self._next = (self._next + 1) % len(self._files)
        return Part(file, 0, file.size_bytes)

    def _ranges(self, pieces: int, each: float | None) -> list[Part]:
        length = _grains(self.owed_bytes / pieces if each is None else each)
        parts = []
        for _ in range(min(pieces, len(self._files))):
            parts.append(self._range(self._files[self._next], length))
            self._next = (self._next + 1) % len(self._files)
        self.owed_bytes -= sum(part.size_bytes for part in parts)
        return parts

    def _range(self, file: FileEntry, length: int) -> Part:
        """The next range of a file; from its start again at the end."""
        length = min(length, file.size_bytes)
        begin = self._offsets.get(file.name, 0)
        if begin + length > file.size_bytes:
            begin = 0
        self._offsets[file.name] = begin + length
        return Part(file, begin, length)

    def one_part(self, *, whole: bool) -> Part:
        """The next file, or its smallest range, whatever is owed."""
        part = self._next_whole()
        if not whole:
            part = self._range(part.file, _LEAST_RANGE_BYTES)
        self.owed_bytes -= part.size_bytes
        return part

    def give_back(self, part: Part) -> None:
        """Let the next range of this file start where this one does."""
        self._offsets[part.file.name] = part.offset_bytes


def _grains(size: float) -> int:
    return max(1, round(size / _GRAIN_BYTES)) * _GRAIN_BYTES


class Slicer:
    """Takes slices of a dataset, each of files other than the previous ones while there are any.

    `files`: those that are known, at least one of every bin of `sizes` that has bytes. `at_once`:
    maximum number in flight. `whole`: no file is cut, so that a slice may have more bytes than are
    wanted, and time has to end the probe. `has_all`: whether `files` are all of them.
    """

    def __init__(
        self,
        files: Sequence[FileEntry],
        sizes: Sequence[SizeBin],
        at_once: int,
        rng: "np.random.Generator",
        *,
        whole: bool = False,
    ) -> None:
        by_bin: dict[int, list[FileEntry]] = {}
        for index in rng.permutation(len(files)):
            by_bin.setdefault(files[index].size_bytes.bit_length() - 1, []).append(files[index])
        total = sum(one[2] for one in sizes)
        known = [one for one in sizes if by_bin.get(one[0])]
        self._classes = [_Class(one, by_bin[one[0]], total or 1) for one in known]
        self._at_once = at_once
        self._whole = whole
        self._rng = rng
        self.total_bytes = total
        self._files = files
        self.has_all = len(files) == sum(one[1] for one in sizes)

    def all(self) -> list[Part]:
        """The whole dataset, of which every file has to be known (`has_all`), by name."""
        return [Part(one, 0, one.size_bytes) for one in sorted(self._files, key=_by_name)]

    def take(self, wanted_bytes: float) -> list[Part]:
        """The parts of a slice of about `wanted_bytes`; the classes are interleaved.

        At most the whole dataset, and at least one part that is not empty. Raises ValueError where
        there is none to take.
        """
        if not self._classes:
            raise ValueError("none of its files can be moved")
        with_data = [one for one in self._classes if one.has_data]
        if not with_data:
            raise ValueError("all of its files that can be moved are empty")
        wanted_bytes = min(wanted_bytes, self.total_bytes)
        placed: list[tuple[float, Part]] = []
        for parts in self._taken(wanted_bytes):
            within = self._rng.random(len(parts)).tolist()
            places = ((i + one) / len(parts) for i, one in enumerate(within))
            placed += zip(places, parts, strict=True)
        if not any(part.size_bytes for _, part in placed):
            most_owed = max(with_data, key=lambda one: one.owed_bytes)
            placed.append((0.0, most_owed.one_part(whole=self._whole)))
        return [part for _, part in sorted(placed, key=lambda pair: pair[0])]

    def _taken(self, wanted_bytes: float) -> list[list[Part]]:
        """The parts of each class."""
        if not self._whole:
            return [one.take(wanted_bytes * one.per_byte, self._at_once) for one in self._classes]
        fraction = wanted_bytes / self.total_bytes
        least = [one.least_fraction(fraction, self._at_once) for one in self._classes]
        return [one.take_whole(max(fraction, *least)) for one in self._classes]

    def give_back(self, parts: Sequence[Part]) -> None:
        """Take ranges that did not arrive again in the next slice."""
        for part in parts:
            for one in self._classes:
                one.give_back(part)


def _by_name(file: FileEntry) -> str:
    return file.name


def moved_work(
    parts: Sequence[Part], moved_bytes: float, arrived: Sequence[bool] | None = None
) -> Work:
    """What was moved of a slice when it was stopped after this many bytes.

    `arrived`: which parts are complete, None if they are moved in the slice's order. What was moved
    beyond these counts as the fraction of a file that it is.
    """
    in_order = arrived is None
    if arrived is None:
        ends = itertools.accumulate(part.size_bytes for part in parts)
        arrived = [end <= moved_bytes for end in ends]
    sizes = [part.size_bytes for part in itertools.compress(parts, arrived)]
    missing = [part.size_bytes for part, is_here in zip(parts, arrived, strict=True) if not is_here]
    if not missing:
        return Work.of_sizes(sizes)
    # Of those under way, one with many bytes is the more likely.
    under_way = missing[0] if in_order else sum(x**2 for x in missing) / max(1, sum(missing))
    left = max(0.0, moved_bytes - sum(sizes))
    cut = Work.of_sizes([*sizes, left], is_cut=True)
    # Where only empty files are missing, the bytes are the tool's own.
    begun = min(left / max(1.0, under_way), len(missing))
    return msgspec.structs.replace(cut, files=len(sizes) + begun)


def whole_bps(throughput_bps: float, overhead_s: float, total_bytes: int) -> float:
    """The mean rate of a transfer of `total_bytes`, from start to end.

    `throughput_bps`: while data flows. `overhead_s`: once, in addition; it may be negative where a
    probe was faster at the start than later.
    """
    bits = total_bytes * 8
    return bits / max(1e-3, bits / throughput_bps + overhead_s)


def slice_bytes(rate_bps: float, data_s: float, total_bytes: int) -> int:
    """The bytes to move for data to flow for `data_s` at this rate; at most all."""
    return min(total_bytes, max(1, math.ceil(rate_bps * data_s / 8)))
