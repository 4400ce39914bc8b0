"""A ceiling for the rate of all clients together.

No client can be told how fast to be. What can be decided is when the next one starts: not before
the time has passed that all before it take at the ceiling. So the mean keeps to it. A piece is that
of a second at most, or 4 MiB where that is more; above the ceiling at a moment are one piece, and
what is caught up with of the last second.
"""

from collections.abc import Callable
from typing import Final

from advisor.models.piecework import LEAST_RANGE_BYTES

_PIECE_S: Final = 1.0
_CAUGHT_UP_S: Final = 1.0


class RateLimit:
    """Keeps count of what was begun. `bps` None: there is none. `clock`: seconds."""

    def __init__(self, bps: float | None, clock: Callable[[], float]) -> None:
        self._bytes_per_s = bps / 8 if bps else None
        self._clock = clock
        self._free_s = float("-inf")

    def may_start(self) -> bool:
        """Whether another client may."""
        return self._clock() >= self._free_s

    def take(self, size_bytes: int) -> None:
        """One starts, with so many bytes."""
        if self._bytes_per_s:
            # Who looks whether one may start does so now and then: what is late by that is made up.
            began_s = max(self._free_s, self._clock() - _CAUGHT_UP_S)
            self._free_s = began_s + size_bytes / self._bytes_per_s

    def bounded(self, size_bytes: int) -> int:
        """How large a piece may be that is to be of this size."""
        if self._bytes_per_s is None:
            return size_bytes
        return min(size_bytes, max(LEAST_RANGE_BYTES, round(self._bytes_per_s * _PIECE_S)))
