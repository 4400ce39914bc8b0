"""How much a client is given at a time, and how long it takes to give up."""

from collections import deque
from statistics import median
from typing import Final

_KEPT: Final = 0.8
"""What a batch still counts for when another one has ended: some five of them tell the pace."""

_PRIOR_WEIGHT: Final = 0.002
_LEAST: Final = 1e-3
_SET_UPS: Final = 15
_FILE_ROUND_TRIPS: Final = 2

_ROUNDS: Final = 3
_PAUSE_S: Final = 1.0


class BatchSizer:
    """The time that batches take of one client: so much for a byte, and so much for a file.

    Both are fitted to the last batches, each of which counts by its relative error; where they
    cannot tell the two apart, what was expected beforehand does. More clients than there were then
    are taken to share the same rate, until it is known better: a piece that is too short costs less
    than one that is too long to change anything.
    """

    def __init__(self, expected_bps: float, rtt_s: float) -> None:
        """`expected_bps`: of one client. Both are above 0."""
        self._byte_s = 8 / expected_bps
        self._file_s = _FILE_ROUND_TRIPS * rtt_s
        self._bytes_2 = self._both = self._files_2 = self._bytes_1 = self._files_1 = 0.0
        self._byte_factor = self._file_factor = 1.0
        self._clients = 1.0
        self._knows = False

    def learn(self, moved_bytes: int, files: int, took_s: float, clients: int) -> None:
        """A batch of so many bytes in so many files took so long from its first byte.

        `clients`: how many there were to be when it was begun, at least 1.
        """
        if took_s <= 0:
            return
        journal_options = _KEPT if self._knows else 0.0
        self._clients = journal_options * self._clients + (1 - journal_options) * clients
        self._knows = True
        of_bytes = moved_bytes * self._byte_s / took_s
        of_files = files * self._file_s / took_s
        self._bytes_2 = _KEPT * self._bytes_2 + of_bytes * of_bytes
        self._files_2 = _KEPT * self._files_2 + of_files * of_files
        self._both = _KEPT * self._both + of_bytes * of_files
        self._bytes_1 = _KEPT * self._bytes_1 + of_bytes
        self._files_1 = _KEPT * self._files_1 + of_files
        self._fit()

    def _fit(self) -> None:
        """Least squares, drawn a little towards what was expected (ridge regression)."""
        a, b = self._bytes_2 + _PRIOR_WEIGHT, self._files_2 + _PRIOR_WEIGHT
        x, y = self._bytes_1 + _PRIOR_WEIGHT, self._files_1 + _PRIOR_WEIGHT
        determinant = a * b - self._both**2
        self._byte_factor = max(_LEAST, (x * b - y * self._both) / determinant)
        self._file_factor = max(_LEAST, (y * a - x * self._both) / determinant)

    def bytes_in(self, lasts_s: float, clients: int) -> int:
        """How many bytes one of so many clients moves in so long, of a file that is long enough."""
        sharing = min(1.0, self._clients / max(1, clients))
        return max(1, round(lasts_s * sharing / (self._byte_s * self._byte_factor)))

    def file_bytes(self, clients: int) -> int:
        """How many bytes one could move in the time that a file takes beside its own."""
        return self.bytes_in(self._file_s * self._file_factor, clients)


class SetupTimes:
    """How long clients take from their start to their first byte."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=_SET_UPS)

    def learn(self, set_up_s: float) -> None:
        """One more of them."""
        self._last.append(set_up_s)

    @property
    def usual_s(self) -> float:
        """As a rule, of late; 0 while none is known."""
        return median(self._last) if self._last else 0.0


class Backoff:
    """Batches that failed since one arrived: after each a pause, and three are too many.

    Those that were under way at once failed of one reason, and count once.
    """

    def __init__(self) -> None:
        self._rounds = 0
        self._last_s = float("-inf")
        self._resume_s = float("-inf")

    def add(self, began_s: float, now_s: float) -> None:
        """One that was begun at that time failed now."""
        if began_s < self._last_s:
            return
        self._rounds += 1
        self._last_s = now_s
        self._resume_s = now_s + self._rounds * _PAUSE_S

    def clear(self) -> None:
        """A batch arrived."""
        self._rounds = 0
        self._resume_s = float("-inf")

    @property
    def are_too_many(self) -> bool:
        """Whether there is no sense in going on."""
        return self._rounds >= _ROUNDS

    def may_start(self, now_s: float) -> bool:
        """Whether the pause is over."""
        return now_s >= self._resume_s
