"""A group of files that share one setting."""

from collections.abc import Sequence

import msgspec

from advisor.models.piecework import Done, Piecework
from advisor.models.slicing import FileEntry
from advisor.transfer.engine.client import Client


class FailedFile(msgspec.Struct, frozen=True):
    """A file that could not be moved, and why, in a sentence."""

    file: FileEntry
    message: str


class FileGroup:
    """Files that share one setting, which may change at any time.

    `concurrency`: the number of clients to keep running; 0 starts none and lets the running ones
    finish their batch. `parallelism`: streams of each client started from now on. `expected_bps`:
    what as many clients are expected to move together, by which batches are sized until some have
    ended; None to go by earlier batches. `failed_files`: files that could not be moved. `done`:
    ranges that arrived earlier, as in `Piecework`. `work`: replaces the default work, which moves
    each file once. `whole`: no file is moved in ranges.
    """

    def __init__(
        self,
        name: str,
        files: Sequence[FileEntry],
        concurrency: int = 0,
        parallelism: int = 1,
        done: Done | None = None,
        work: Piecework | None = None,
        *,
        whole: bool = False,
    ) -> None:
        self.name = name
        self.files = tuple(files)
        self.whole = whole
        self.work = work or Piecework(files, done, whole=whole)
        self.concurrency = concurrency
        self.parallelism = parallelism
        self.expected_bps: float | None = None
        self.clients: set[Client] = set()
        self.failed_files: list[FailedFile] = []
        self._left_bytes = 0

    def leave(self, client: Client) -> None:
        """This client has ended its work for the group."""
        self.clients.discard(client)
        self._left_bytes += client.moved_bytes

    @property
    def carried_bytes(self) -> int:
        """Bytes that the path has carried for it. Never decreases, so rates are computed from it.

        What was moved twice counts twice; what arrived in earlier sessions does not count.
        """
        return self._left_bytes + sum(client.moved_bytes for client in self.clients)

    @property
    def moved_bytes(self) -> int:
        """Bytes that have arrived, and those the other side's kernel has of batches under way.

        Decreases when a batch has to be moved again.
        """
        return self.work.done_bytes + sum(client.moved_bytes for client in self.clients)

    @property
    def arrived_bytes(self) -> int:
        """Bytes of parts that arrived and were checked."""
        return self.work.done_bytes

    @property
    def arrived_files(self) -> int:
        """Files that arrived completely."""
        return self.work.done_files

    @property
    def total_bytes(self) -> int:
        """Bytes of all files, including those that could not be moved."""
        return self.work.total_bytes

    @property
    def total_files(self) -> int:
        """All files, including those that could not be moved."""
        return self.work.total_files

    @property
    def running(self) -> int:
        """Clients that run now, including the successor of one that is about to end."""
        return sum(not client.has_ended for client in self.clients)

    @property
    def is_over(self) -> bool:
        """Whether everything that could be moved has arrived, and no client is left."""
        return self.work.is_done and not self.clients

    @property
    def runs_out(self) -> bool:
        """Whether all that is left is under way: from now on the number of clients decreases."""
        under_way = sum(client.batch.total_bytes for client in self.clients)
        return self.is_over or self.work.left_bytes <= under_way

    def set_aside(self, file: FileEntry, message: str) -> None:
        """Do not move this file any further, for this reason."""
        if not self.work.is_dropped(file):
            self.work.drop(file)
            self.failed_files.append(FailedFile(file, message))
