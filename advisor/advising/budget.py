"""The time budget of a session."""

from collections.abc import Callable
from typing import Final

DEFAULT_S: Final = 60.0
REFERENCE_RTT_S: Final = 0.1
"""Up to this RTT the default applies; above it the budget grows with the RTT, as probes do."""

SHORTEST_S: Final = 5.0
"""Less is not enough for one probe of each contender, on any path."""


FILES_TAKE: Final = 2.0
"""Factor for sessions that move files, whose probes take that much longer."""


def default_budget_s(rtt_s: float, *, files: bool = False) -> float:
    """60 s up to 100 ms RTT, above that proportional to the RTT; with `files` twice as much."""
    return DEFAULT_S * max(1.0, rtt_s / REFERENCE_RTT_S) * (FILES_TAKE if files else 1.0)


class Budget:
    """Counts down on `clock`, which is monotonic and in seconds.

    `spent_s`: what a resumed session had used before.
    """

    def __init__(self, total_s: float, clock: Callable[[], float], spent_s: float = 0.0) -> None:
        self.total_s = total_s
        self._clock = clock
        self._began_s = clock() - spent_s
        self._given_back_s = 0.0

    @property
    def left_s(self) -> float:
        """Seconds left, at least 0."""
        return max(0.0, self.total_s - (self._clock() - self._began_s) + self._given_back_s)

    def longest_wait_s(self, probe_s: float) -> float | None:
        """How long a probe of `probe_s` may take to begin; None if it may take any time."""
        return max(self.left_s, probe_s)

    def extend(self, by_s: float) -> None:
        """Add time."""
        self.total_s += by_s

    def give_back(self, waited_s: float) -> None:
        """Give back time that the session spent waiting for its user."""
        self._given_back_s += waited_s
