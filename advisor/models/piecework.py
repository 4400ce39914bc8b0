"""A whole dataset as pieces of work, drawn one after another by the clients that move them.

Every part of the work has the same mix of sizes as the whole: the classes of sizes (powers of two)
are processed in parallel, each in proportion. So the present rate represents that of the rest, and
large files do not accumulate at the end.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

import msgspec

from advisor.models.slicing import FileEntry, Part

GRAIN_BYTES: Final = 2**20
LEAST_RANGE_BYTES: Final = 4 * 2**20
MOST_FILES: Final = 2000
"""Per batch; more would make a retry after a failure expensive."""

ENDLESS_BYTES: Final = 2**62
"""More than can be under way: what is left of work that never runs out."""

Done: TypeAlias = Mapping[str, Sequence[tuple[int, int]]]
"""The finished ranges by file name: offset and length in bytes, in any order."""

_LEAST_SHARE: Final = 0.25
"""Of the wanted bytes: lower bound of batches near the end, since each has a set-up cost."""


class Batch(msgspec.Struct, frozen=True):
    """The unit of one transfer: whole files, the largest first, or a range of a large file.

    The remainder of a batch near its end then takes as long as what came shortly before.
    """

    parts: tuple[Part, ...]

    @property
    def total_bytes(self) -> int:
        """The size of all its parts."""
        return sum(part.size_bytes for part in self.parts)

    def halves(self) -> list["Batch"]:
        """Two batches with half of the parts each; itself if it has only one."""
        middle = len(self.parts) // 2
        return [Batch(some) for some in (self.parts[:middle], self.parts[middle:]) if some]


class _Class:
    """The undrawn files of similar size: stretches, each a whole file or a range of one.

    `cut_bytes`: how much of the first one has been drawn.
    """

    def __init__(self) -> None:
        self.stretches: deque[Part] = deque()
        self.cut_bytes = 0
        self._total = self._left = 0

    def add(self, stretch: Part) -> None:
        self.stretches.append(stretch)
        self._total += max(1, stretch.size_bytes)
        self._left = self._total

    @property
    def left_share(self) -> float:
        return self._left / self._total

    @property
    def first_bytes(self) -> int:
        """The rest of the first stretch."""
        return self.stretches[0].size_bytes - self.cut_bytes

    def draw(self, size_bytes: int) -> Part:
        """The next `size_bytes` of the first stretch, which has as many."""
        first = self.stretches[0]
        part = Part(first.file, first.offset_bytes + self.cut_bytes, size_bytes)
        self.cut_bytes += size_bytes
        self._left -= max(1, size_bytes)
        if self.cut_bytes == first.size_bytes:
            self._next()
        return part

    def drop_first(self) -> int:
        """Drop the first stretch; return how many of its bytes were not drawn."""
        left = self.first_bytes
        self._left -= max(1, left)
        self._next()
        return left

    def _next(self) -> None:
        self.stretches.popleft()
        self.cut_bytes = 0


class Piecework:
    """The files of a dataset, with distinct names, to be drawn in batches and reported done.

    Every byte of every file is in exactly one batch that is drawn and not given back, or was done
    before; the same calls give the same batches. `done`: the finished ranges within each file; an
    empty file is done with any range of zero bytes. `whole`: no file is cut, and one that is not
    finished is drawn from its start.
    """

    def __init__(
        self, files: Sequence[FileEntry], done: Done | None = None, *, whole: bool = False
    ) -> None:
        self._whole = whole
        self._returned: deque[Batch] = deque()
        self._dropped: set[str] = set()
        self._dropped_bytes = 0
        self._undone_bytes: dict[str, int] = {}
        self._undrawn_bytes = self._undrawn_stretches = 0
        self.total_bytes = sum(file.size_bytes for file in files)
        self.total_files = len(files)
        self.done_bytes = 0
        self.done_files = 0
        by_bin: dict[int, _Class] = {}
        for file in files:
            for stretch in self._left_of(file, (done or {}).get(file.name, ())):
                by_bin.setdefault(stretch.size_bytes.bit_length(), _Class()).add(stretch)
                self._undrawn_bytes += stretch.size_bytes
                self._undrawn_stretches += 1
        self._classes = [by_bin[exponent] for exponent in sorted(by_bin, reverse=True)]

    def _left_of(self, file: FileEntry, done: Sequence[tuple[int, int]]) -> list[Part]:
        """The rest of a partly finished file; counts the finished part."""
        if not done:
            return [Part(file, 0, file.size_bytes)]
        left = [Part(file, offset, length) for offset, length in _gaps(file.size_bytes, done)]
        if left and self._whole:
            return [Part(file, 0, file.size_bytes)]
        left_bytes = sum(part.size_bytes for part in left)
        self.done_bytes += file.size_bytes - left_bytes
        if left:
            self._undone_bytes[file.name] = left_bytes
        else:
            self.done_files += 1
        return left

    @property
    def left_bytes(self) -> int:
        """The bytes that are neither done nor dropped."""
        return self.total_bytes - self.done_bytes - self._dropped_bytes

    @property
    def is_done(self) -> bool:
        """Whether every file is done or dropped."""
        return self.done_files + len(self._dropped) == self.total_files

    def is_dropped(self, file: FileEntry) -> bool:
        """Whether the file was dropped."""
        return file.name in self._dropped

    def draw(self, wanted_bytes: int, clients: int, file_bytes: int = 0) -> Batch | None:
        """The next batch, of about `wanted_bytes`; None while there is nothing to draw.

        Batches shrink near the end, so that all `clients` finish at about the same time. A file
        larger than `wanted_bytes` is divided into ranges, smaller ones are combined. `file_bytes`:
        the overhead per file, as the bytes that could be moved in that time.
        """
        if self._returned:
            return self._returned.popleft()
        wanted_bytes = self._bounded(wanted_bytes, clients, file_bytes)
        parts: list[Part] = []
        cost_bytes = 0
        passed_over: list[_Class] = []
        while cost_bytes < wanted_bytes and len(parts) < MOST_FILES:
            one = self._least_drawn(passed_over)
            if one is None:
                break
            size_bytes = one.first_bytes if self._whole else _next_bytes(one, wanted_bytes)
            if size_bytes == one.stretches[0].file.size_bytes:
                parts.append(self._drawn(one, size_bytes))
                cost_bytes += size_bytes + file_bytes
            elif parts:
                passed_over.append(one)
            else:
                return Batch((self._drawn(one, size_bytes),))
        parts.sort(key=lambda part: part.size_bytes, reverse=True)
        return Batch(tuple(parts)) if parts else None

    def done(self, batch: Batch) -> None:
        """Count a batch that has arrived."""
        for part in batch.parts:
            if part.file.name in self._dropped:
                continue
            self.done_bytes += part.size_bytes
            left = self._undone_bytes.pop(part.file.name, part.file.size_bytes) - part.size_bytes
            if left:
                self._undone_bytes[part.file.name] = left
            else:
                self.done_files += 1

    def give_back(self, batch: Batch) -> None:
        """Return a batch that did not arrive: it is drawn again before anything else."""
        parts = self._wanted(batch.parts)
        if parts:
            self._returned.append(Batch(parts))

    def drop(self, file: FileEntry) -> None:
        """Drop a file that cannot be moved, part of which is not done yet."""
        if file.name in self._dropped:
            return
        self._dropped.add(file.name)
        self._dropped_bytes += file.size_bytes
        self.done_bytes -= file.size_bytes - self._undone_bytes.pop(file.name, file.size_bytes)
        kept = (self._wanted(batch.parts) for batch in self._returned)
        self._returned = deque(Batch(parts) for parts in kept if parts)

    def _wanted(self, parts: Iterable[Part]) -> tuple[Part, ...]:
        return tuple(part for part in parts if part.file.name not in self._dropped)

    def _bounded(self, wanted_bytes: int, clients: int, file_bytes: int) -> int:
        """Guided self-scheduling: at most half of a client's share of the remainder."""
        left = self._undrawn_bytes + self._undrawn_stretches * file_bytes
        least = max(LEAST_RANGE_BYTES, round(wanted_bytes * _LEAST_SHARE))
        return max(1, min(wanted_bytes, max(left // (2 * max(1, clients)), least)))

    def _least_drawn(self, but: Sequence[_Class]) -> _Class | None:
        """The class with the largest undrawn fraction; of equal ones, that of larger files."""
        found: _Class | None = None
        for one in self._classes:
            while one.stretches and one.stretches[0].file.name in self._dropped:
                self._undrawn_stretches -= not one.cut_bytes
                self._undrawn_bytes -= one.drop_first()
            if not one.stretches or one in but:
                continue
            if found is None or one.left_share > found.left_share:
                found = one
        return found

    def _drawn(self, one: _Class, size_bytes: int) -> Part:
        self._undrawn_stretches -= not one.cut_bytes
        self._undrawn_bytes -= size_bytes
        return one.draw(size_bytes)


def _next_bytes(one: _Class, wanted_bytes: int) -> int:
    """How much of its first stretch to draw: all, or a range including a small rest."""
    left = one.first_bytes
    length = max(LEAST_RANGE_BYTES, round(wanted_bytes / GRAIN_BYTES) * GRAIN_BYTES)
    if left <= max(wanted_bytes, LEAST_RANGE_BYTES) or left - length < LEAST_RANGE_BYTES:
        return left
    return length


def _gaps(size_bytes: int, done: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Offset and length of the gaps between these ranges of `size_bytes`, and after them."""
    at = 0
    for offset, length in sorted(done):
        if offset > at:
            yield at, offset - at
        at = max(at, offset + length)
    if at < size_bytes:
        yield at, size_bytes - at
