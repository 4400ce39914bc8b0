"""The work of one node among several: pieces that are leased to it while it moves others."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final

from advisor.models.piecework import (
    ENDLESS_BYTES,
    GRAIN_BYTES,
    LEAST_RANGE_BYTES,
    MOST_FILES,
    Batch,
    Piecework,
)
from advisor.models.slicing import FileEntry, Part

_KEPT_AHEAD: Final = 2.0
"""How much is held ready, in what all clients together draw at once."""

_ASKED_FROM: Final = 0.75
"""Of that: with less, more is asked for."""


class LeasedWork(Piecework):
    """Parts of files, in the order in which they are added, cut and combined into batches.

    Of a file there may be any ranges; the rest of it is another node's. The work is over once
    `close` was called and everything has arrived or been dropped.
    """

    def __init__(self) -> None:
        super().__init__([])
        self._waiting: deque[Part] = deque()
        self._waiting_bytes = 0
        self._appetite_bytes = 0
        self._is_open = True

    def add(self, parts: Iterable[Part]) -> None:
        """Parts that this node is to move from now on. What continues a waiting range is joined."""
        for part in self._wanted(parts):
            name = part.file.name
            self._undone_bytes[name] = self._undone_bytes.get(name, 0) + part.size_bytes
            self.total_bytes += part.size_bytes
            self._waiting_bytes += part.size_bytes
            if not self._joined(part):
                self._waiting.append(part)

    def _joined(self, part: Part) -> bool:
        if part.is_whole:
            return False
        for number, one in enumerate(self._waiting):
            if one.file == part.file and one.offset_bytes + one.size_bytes == part.offset_bytes:
                size_bytes = one.size_bytes + part.size_bytes
                self._waiting[number] = Part(one.file, one.offset_bytes, size_bytes)
                return True
        return False

    def keep_whole(self) -> None:
        """Cut no file from now on."""
        self._whole = True

    def close(self) -> None:
        """Nothing will be added any more."""
        self._is_open = False

    @property
    def left_bytes(self) -> int:
        """Above all that may be under way while more may be added."""
        return ENDLESS_BYTES if self._is_open else super().left_bytes

    @property
    def is_done(self) -> bool:
        """Whether nothing will be added, and all that was has arrived or been dropped."""
        return not self._is_open and not self._undone_bytes

    @property
    def wanted_bytes(self) -> int:
        """How much more is to be leased, so that no client waits; 0 for nothing now."""
        ready = self._waiting_bytes + sum(batch.total_bytes for batch in self._returned)
        kept = round(_KEPT_AHEAD * self._appetite_bytes)
        if not self._is_open or ready > _ASKED_FROM * kept or (ready and not kept):
            return 0
        return max(1, kept - ready)

    def draw(self, wanted_bytes: int, clients: int, file_bytes: int = 0) -> Batch | None:
        """As `Piecework.draw`, of what waits."""
        self._appetite_bytes = wanted_bytes * max(1, clients)
        if self._returned:
            return self._returned.popleft()
        share = self._waiting_bytes // max(1, clients)
        wanted_bytes = max(1, min(wanted_bytes, max(share, LEAST_RANGE_BYTES)))
        parts: list[Part] = []
        passed_over: list[Part] = []
        cost_bytes = 0
        while self._waiting and cost_bytes < wanted_bytes and len(parts) < MOST_FILES:
            part = self._waiting.popleft()
            fits = part.size_bytes <= max(wanted_bytes, LEAST_RANGE_BYTES)
            if part.is_whole and (fits or (self._whole and not parts)):
                parts.append(part)
                cost_bytes += part.size_bytes + file_bytes
            elif parts:
                passed_over.append(part)
            else:
                return self._batch_of([self._cut(part, wanted_bytes)])
        self._waiting.extendleft(reversed(passed_over))
        return self._batch_of(sorted(parts, key=lambda one: one.size_bytes, reverse=True))

    def _cut(self, part: Part, wanted_bytes: int) -> Part:
        """The beginning of a part that is moved by ranges; the rest waits, unless it is small."""
        length = max(LEAST_RANGE_BYTES, round(wanted_bytes / GRAIN_BYTES) * GRAIN_BYTES)
        left_bytes = part.size_bytes - length
        if left_bytes < LEAST_RANGE_BYTES:
            return part
        self._waiting.appendleft(Part(part.file, part.offset_bytes + length, left_bytes))
        return Part(part.file, part.offset_bytes, length)

    def _batch_of(self, parts: Sequence[Part]) -> Batch | None:
        self._waiting_bytes -= sum(part.size_bytes for part in parts)
        return Batch(tuple(parts)) if parts else None

    def done(self, batch: Batch) -> None:
        """Count a batch that has arrived."""
        for part in self._wanted(batch.parts):
            self.done_bytes += part.size_bytes
            left = self._undone_bytes.pop(part.file.name) - part.size_bytes
            if left:
                self._undone_bytes[part.file.name] = left

    def drop(self, file: FileEntry) -> None:
        """Forget what waits of a file that cannot be moved from here, and take no more of it."""
        self._dropped.add(file.name)
        self._dropped_bytes += self._undone_bytes.pop(file.name, 0)
        self._returned = deque(
            Batch(parts) for batch in self._returned if (parts := self._wanted(batch.parts))
        )
        self._waiting = deque(self._wanted(self._waiting))
        self._waiting_bytes = sum(part.size_bytes for part in self._waiting)
