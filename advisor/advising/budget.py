"""The time a session may take, and how much of it is left."""

from collections.abc import Callable
from typing import Final

DEFAULT_S: Final = 60.0
REFERENCE_RTT_S: Final = 0.1
"""Up to here the default holds; beyond it the budget follows the RTT, as a probe's length does."""

SHORTEST_S: Final = 5.0
"""Less is not enough for one probe of each contender, on any path."""


FILES_TAKE: Final = 2.0
"""How many times as long a session takes that moves files: their probes are that much longer."""


def default_budget_s(rtt_s: float, *, files: bool = False) -> float:
    """60 s up to 100 ms RTT, as many times that as the RTT is longer; with `files` twice that."""
    return DEFAULT_S * max(1.0, rtt_s / REFERENCE_RTT_S) * (FILES_TAKE if files else 1.0)


class Budget:
    """Counts down on `clock`, a monotonic one in seconds; time that was not ours is given back.

    `spent_s`: what a session that is resumed had used before.
    """

    def __init__(self, total_s: float, clock: Callable[[], float], spent_s: float = 0.0) -> None:
        self.total_s = total_s
        self._clock = clock
        self._began_s = clock() - spent_s
        self._given_back_s = 0.0

    @property
    def left_s(self) -> float:
        """Seconds left, never below 0."""
        return max(0.0, self.total_s - (self._clock() - self._began_s) + self._given_back_s)

    def extend(self, by_s: float) -> None:
        """More time than was agreed on."""
        self.total_s += by_s

    def give_back(self, waited_s: float) -> None:
        """Time that was not ours."""
        self._given_back_s += waited_s
