"""Several files, moved whole and repeatedly: the work of an experiment with a fixed duration."""

from collections import deque
from collections.abc import Sequence

from advisor.models.piecework import ENDLESS_BYTES, MOST_FILES, Batch, Piecework
from advisor.models.slicing import FileEntry, Part


class EndlessFiles(Piecework):
    """Whole files in turn, starting over after the last. The work never ends.

    A file that is under way is not drawn: two clients would write it at the same time.
    `most_bytes`: files beyond this sum are left out, so the destination never holds more. `least`:
    the number of files that are needed. Raises ValueError where there are fewer.
    """

    def __init__(self, files: Sequence[FileEntry], most_bytes: int, least: int) -> None:
        kept: list[FileEntry] = []
        left_bytes = most_bytes
        for file in files:
            if 0 < file.size_bytes <= left_bytes:
                kept.append(file)
                left_bytes -= file.size_bytes
        if len(kept) < least:
            raise ValueError(
                f"{least} files are needed, and {len(kept)} of {len(files)} have bytes and fit in "
                "the space"
            )
        super().__init__(kept, whole=True)
        self.files = tuple(kept)
        self._free = deque(kept)

    @property
    def left_bytes(self) -> int:
        """Always more than is in flight."""
        return ENDLESS_BYTES

    @property
    def is_done(self) -> bool:
        """Never, unless none of the files can be moved."""
        return len(self._dropped) == len(self.files)

    def draw(self, wanted_bytes: int, clients: int, file_bytes: int = 0) -> Batch | None:
        """The next files, of about `wanted_bytes`; at most half of a client's share of all."""
        wanted_bytes = min(wanted_bytes, self.total_bytes // (2 * max(1, clients)))
        parts: list[Part] = []
        cost_bytes = 0
        while self._free and len(parts) < MOST_FILES and (not parts or cost_bytes < wanted_bytes):
            file = self._free.popleft()
            parts.append(Part(file, 0, file.size_bytes))
            cost_bytes += file.size_bytes + file_bytes
        return Batch(tuple(parts)) if parts else None

    def done(self, batch: Batch) -> None:
        """Count a batch that has arrived; its files may be moved again."""
        self.done_bytes += batch.total_bytes
        self.give_back(batch)

    def give_back(self, batch: Batch) -> None:
        """Let the files of a batch be drawn again, after the others."""
        self._free.extend(part.file for part in self._wanted(batch.parts))

    def drop(self, file: FileEntry) -> None:
        """Draw a file that cannot be moved no more."""
        self._dropped.add(file.name)
        self._free = deque(one for one in self._free if one.name != file.name)
