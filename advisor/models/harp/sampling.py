"""When a sample transfer is long enough (HARP 2018, section 3.1.1).

The throughput of a class's transfer is measured every 3 s; as soon as two consecutive values differ
by no more than 5 % of the last one, their mean is the sample's throughput. After 15 s, which the
paper expects to suffice ("sampling finishes in less than 15 seconds"), the mean of the last two
values is used as it is.
"""

from typing import Final

INTERVAL_S: Final = 3.0
WITHIN: Final = 0.05
LONGEST_S: Final = 15.0


class AdaptiveSample:
    """Receives the throughput of each interval, from the first byte on."""

    def __init__(self, looks_at_most: int = round(LONGEST_S / INTERVAL_S)) -> None:
        self._looks: list[float] = []
        self._most = looks_at_most

    def look(self, bps: float) -> float | None:
        """Process the throughput of the interval that has just ended, in bit/s, at least zero.

        Returns the sample's throughput when it has ended; None while it continues.
        """
        self._looks.append(bps)
        if self.converged or len(self._looks) >= self._most:
            return self.so_far
        return None

    @property
    def converged(self) -> bool:
        """Whether the last two intervals agree."""
        if len(self._looks) < 2:
            return False
        before, last = self._looks[-2:]
        return last > 0 and abs(last - before) <= WITHIN * last

    @property
    def so_far(self) -> float:
        """The mean of the last two intervals, or the only one; 0 before any."""
        last = self._looks[-2:]
        return sum(last) / len(last) if last else 0.0
