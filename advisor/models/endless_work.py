"""One large file, moved repeatedly: the work of an experiment with a fixed duration."""

from typing import Final

from advisor.domain.quantities import format_bytes
from advisor.models.piecework import ENDLESS_BYTES, GRAIN_BYTES, LEAST_RANGE_BYTES, Batch, Piecework
from advisor.models.slicing import FileEntry, Part

LEAST_BYTES: Final = 2 * LEAST_RANGE_BYTES
"""Of the file: a range of the whole file would be overwritten by the next while it is checked."""


class EndlessWork(Piecework):
    """Ranges of the file, starting over at its end. The work never ends.

    `most_bytes`: only this much of the file's start is moved, so the destination never holds more.
    Raises ValueError for less than LEAST_BYTES.
    """

    def __init__(self, file: FileEntry, most_bytes: int) -> None:
        self._end_bytes = min(file.size_bytes, most_bytes)
        if self._end_bytes < LEAST_BYTES:
            raise ValueError(f"at least {format_bytes(LEAST_BYTES)} of one file are needed")
        super().__init__([file])
        self._file = file
        self._at_bytes = 0

    @property
    def left_bytes(self) -> int:
        """Always more than is in flight."""
        return ENDLESS_BYTES

    @property
    def is_done(self) -> bool:
        """Never, unless the file cannot be moved."""
        return self.is_dropped(self._file)

    def draw(self, wanted_bytes: int, clients: int, file_bytes: int = 0) -> Batch | None:
        """The next range of about `wanted_bytes`, at most half of the file."""
        if self.is_dropped(self._file):
            return None
        length = max(LEAST_RANGE_BYTES, min(wanted_bytes, self._end_bytes // 2))
        length -= length % GRAIN_BYTES
        if self._at_bytes + length > self._end_bytes:
            self._at_bytes = 0
        part = Part(self._file, self._at_bytes, length)
        self._at_bytes += length
        return Batch((part,))

    def done(self, batch: Batch) -> None:
        """Count an arrived batch."""
        self.done_bytes += batch.total_bytes

    def give_back(self, batch: Batch) -> None:
        """Ignore a batch that did not arrive; there are always others."""
