"""One client: a run of the tool for one batch, monitored while it runs."""

import asyncio
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from advisor.api.tool import OutputReader, Progress, Step
from advisor.domain.measurement import Interval
from advisor.models.piecework import Batch
from advisor.probing.transfer import Ran, run_transfer

_LONGEST_S: Final = 7 * 86400.0
_FINISHING_S: Final = 600.0
"""How long it may take to end once the kernel of the other side has everything: a store assembles
the parts of an object, a server writes to a slow disk."""

_FEWEST_LOOKS: Final = 3
_LATE_S: Final = 1.5


class Client:
    """A run of the tool for one batch.

    `moved_bytes`: received by the kernel of the other side. `is_dismissed`: it is ended before its
    batch is done, see `dismiss`. `has_ended`: the process is gone. Times are the event loop's.
    """

    def __init__(
        self, batch: Batch, sample_every_s: float, stall_s: float, begun: Callable[[float], None]
    ) -> None:
        """`begun` is called with the seconds from the start to the first byte."""
        self.batch = batch
        self.moved_bytes = 0
        self.is_dismissed = False
        self.has_ended = False
        self._total_bytes = batch.total_bytes
        self._sample_every_s = sample_every_s
        self._stall_s = stall_s
        self._begun = begun
        self._clock = asyncio.get_running_loop().time
        self._deadline: asyncio.Timeout | None = None
        self._looks: deque[tuple[float, int]] = deque()
        self._files: int | None = None
        self.began_s = self._clock()

    def is_ending(self, within_s: float) -> bool:
        """Whether it has ended, is being ended, or will end within this time at its recent rate.

        The recent one, because small files come last in a batch and are slower. One that has moved
        everything and still has not ended for a while is at work.
        """
        if self.has_ended or self.is_dismissed:
            return True
        if len(self._looks) < 2:
            return False
        (first_s, first_bytes), (last_s, last_bytes) = self._looks[0], self._looks[-1]
        gained_bytes, passed_s = last_bytes - first_bytes, self._clock() - last_s
        left_bytes = self._total_bytes - last_bytes
        if not left_bytes and passed_s > max(within_s, _LATE_S, 2 * self._sample_every_s):
            return False
        return left_bytes * (last_s - first_s) <= (within_s + passed_s) * gained_bytes

    async def run(self, step: Step, reader: OutputReader, list_file: Path) -> Ran | None:
        """Run it to its end; None if it was ended as stalled or dismissed. Raises OSError."""
        if self.is_dismissed:
            return None
        self.began_s = self._clock()
        try:
            async with asyncio.timeout(self._stall_s) as self._deadline:
                return await run_transfer(
                    step,
                    _Listening(reader, self._hear),
                    list_file,
                    self._total_bytes,
                    ceiling_s=_LONGEST_S,
                    sample_every_s=self._sample_every_s,
                    seen=self._see,
                )
        except TimeoutError:
            return None
        finally:
            self.has_ended = True
            list_file.unlink(missing_ok=True)

    def dismiss(self) -> None:
        """End it now, whatever it has moved: `run` returns None."""
        self.is_dismissed = True
        if not self.has_ended:
            self._expires_in(0.0)

    def _see(self, interval: Interval) -> None:
        now_s = self._clock()
        self.moved_bytes += interval.received_bytes
        if not self._looks:
            self._begun(max(0.0, now_s - self.began_s - self._sample_every_s / 2))
        self._looks.append((now_s, self.moved_bytes))
        while len(self._looks) > _FEWEST_LOOKS and self._looks[1][0] <= now_s - _LATE_S:
            self._looks.popleft()
        if interval.received_bytes:
            self._lives()

    def _hear(self, progress: Progress) -> None:
        if progress.files_begun is not None:
            self._files = max(self._files or 0, progress.files_begun)
        self._lives()

    def _lives(self) -> None:
        if not self.is_dismissed:
            self._expires_in(max(self._stall_s, _FINISHING_S) if self._has_all else self._stall_s)

    @property
    def _has_all(self) -> bool:
        """Whether all bytes are there, and the last file is under way where the tool names files.

        The bytes alone do not say it of small files: what goes with each of them counts too.
        """
        if not 0 < self._total_bytes <= self.moved_bytes:
            return False
        return self._files is None or self._files >= len(self.batch.parts) - 1

    def _expires_in(self, within_s: float) -> None:
        if self._deadline is not None and not self._deadline.expired():
            self._deadline.reschedule(self._clock() + within_s)


class _Listening:
    """An output reader that also reports activity: empty files move no byte."""

    def __init__(self, reader: OutputReader, said: Callable[[Progress], None]) -> None:
        self._reader = reader
        self._said = said

    def feed(self, line: str) -> Progress | None:
        """As in `OutputReader`."""
        progress = self._reader.feed(line)
        if progress is not None:
            self._said(progress)
        return progress
