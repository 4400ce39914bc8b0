"""One large file, moved over and over: work for an experiment that is to last its time."""

from typing import Final

from advisor.domain.quantities import format_bytes
from advisor.models.piecework import GRAIN_BYTES, LEAST_RANGE_BYTES, Batch, Piecework
from advisor.models.slicing import FileEntry, Part

LEAST_BYTES: Final = 2 * LEAST_RANGE_BYTES
"""Of the file: a range that was all of it would be written over by the next while it is checked."""

_ENDLESS_BYTES: Final = 2**62


class EndlessWork(Piecework):
    """Ranges of the file, from its begin again after its end. Nothing of it is ever left to do.

    It is never done. `most_bytes`: of what is behind these nothing is moved, so the destination
    holds no more. Raises ValueError for less than LEAST_BYTES.
    """

    def __init__(self, file: FileEntry, most_bytes: int) -> None:
        self._end_bytes = min(file.size_bytes, most_bytes)
        if self._end_bytes < LEAST_BYTES:
            raise ValueError(f"{format_bytes(LEAST_BYTES)} of one file at least are needed")
        super().__init__([file])
        self._file = file
        self._at_bytes = 0

    @property
    def left_bytes(self) -> int:
        """Always more than is under way."""
        return _ENDLESS_BYTES

    @property
    def is_done(self) -> bool:
        """Never, unless it cannot be moved."""
        return self.is_dropped(self._file)

    def draw(self, wanted_bytes: int, clients: int, file_bytes: int = 0) -> Batch | None:
        """The next range of about so many bytes, half of the file at most."""
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
        """It has arrived, once more."""
        self.done_bytes += batch.total_bytes

    def give_back(self, batch: Batch) -> None:
        """It did not arrive; there is no lack of others."""
