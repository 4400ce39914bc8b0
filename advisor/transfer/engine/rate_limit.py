"""A limit on the rate of all clients together.

The rate of a client cannot be set, but the start of the next one can: not before the time has
passed that all earlier batches take at the limit. So the mean rate stays within the limit. A batch
takes at most a second at the limit, or has 4 MiB if that is more. In the short term the rate
exceeds the limit by one batch, and by catching up on the last second.
"""

from collections.abc import Callable
from typing import Final

from advisor.models.piecework import LEAST_RANGE_BYTES

_PIECE_S: Final = 1.0
_CAUGHT_UP_S: Final = 1.0


class RateLimit:
    """Counts what was started. `bps`: None for no limit. `clock`: in seconds."""

    def __init__(self, bps: float | None, clock: Callable[[], float]) -> None:
        self._bytes_per_s = bps / 8 if bps else None
        self._clock = clock
        self._free_s = float("-inf")

    def change(self, bps: float) -> None:
        """From now on this is the limit, also for the rest of what was started."""
        bytes_per_s, now_s = bps / 8, self._clock()
        if self._bytes_per_s and self._free_s > now_s:
            self._free_s = now_s + (self._free_s - now_s) * self._bytes_per_s / bytes_per_s
        self._bytes_per_s = bytes_per_s

    def may_start(self) -> bool:
        """Whether another client may start."""
        return self._clock() >= self._free_s

    def take(self, size_bytes: int) -> None:
        """A client starts with this many bytes."""
        if self._bytes_per_s:
            # The caller polls: compensate for its delay.
            began_s = max(self._free_s, self._clock() - _CAUGHT_UP_S)
            self._free_s = began_s + size_bytes / self._bytes_per_s

    def bounded(self, size_bytes: int) -> int:
        """The size of a batch that should have this size, bounded by the limit."""
        if self._bytes_per_s is None:
            return size_bytes
        return min(size_bytes, max(LEAST_RANGE_BYTES, round(self._bytes_per_s * _PIECE_S)))
