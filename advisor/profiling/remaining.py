"""How long the rest of a profile takes."""

from collections.abc import Callable

from advisor.advising.budget import Budget


class RemainingWork(Budget):
    """A budget that is what is left to do: `left_s` falls with every probe, not with the clock.

    `longest_s`: the most that all probes take. Once some are measured, the rest is assumed to take
    as long each as they did on average.
    """

    def __init__(self, probes: int, longest_s: float, clock: Callable[[], float]) -> None:
        super().__init__(longest_s, clock)
        self._clock_s = clock
        self._began_s = clock()
        self._probes = probes
        self._longest_s = longest_s
        self._waited_s = 0.0
        self._done = 0

    @property
    def left_s(self) -> float:
        """Seconds left, at least 0."""
        if not self._done:
            return self._longest_s
        spent_s = self._clock_s() - self._began_s - self._waited_s
        return max(0.0, (self._probes - self._done) * spent_s / self._done)

    def longest_wait_s(self, probe_s: float) -> float | None:
        """Any time: a profile is complete or it is of no use, however long others measure."""
        return None

    def give_back(self, waited_s: float) -> None:
        """Do not count the time that the session waited for its user."""
        self._waited_s += waited_s

    def probe_is_over(self) -> None:
        """One more probe was measured, or failed for good."""
        self._done += 1
