"""When a sample transfer has told enough (HARP 2018, section 3.1.1).

The transfer of a class begins, and its throughput is looked at every 3 s; as soon as two looks in a
row differ by no more than 5 % of the last one, their mean is the sample's throughput. After 15 s,
which the paper counts on ("sampling finishes in less than 15 seconds"), the last two looks are
taken as they are.
"""

from typing import Final

INTERVAL_S: Final = 3.0
WITHIN: Final = 0.05
LONGEST_S: Final = 15.0


class AdaptiveSample:
    """Is told what each interval gave, from the first byte on."""

    def __init__(self, looks_at_most: int = round(LONGEST_S / INTERVAL_S)) -> None:
        self._looks: list[float] = []
        self._most = looks_at_most

    def look(self, bps: float) -> float | None:
        """The throughput in the interval that has just ended, in bit/s, at least zero.

        The sample's own, when it is over; None as long as it goes on.
        """
        self._looks.append(bps)
        if self.converged or len(self._looks) >= self._most:
            return self.so_far
        return None

    @property
    def converged(self) -> bool:
        """Whether the last two looks agree."""
        if len(self._looks) < 2:
            return False
        before, last = self._looks[-2:]
        return last > 0 and abs(last - before) <= WITHIN * last

    @property
    def so_far(self) -> float:
        """The mean of the last two looks, of one where there is no other; 0 before any."""
        last = self._looks[-2:]
        return sum(last) / len(last) if last else 0.0
