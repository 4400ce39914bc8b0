"""Sizes the batches of clients from how long earlier ones took, and backs off after failures."""

from collections import deque
from statistics import median
from typing import Final

_KEPT: Final = 0.8
"""The weight that a batch keeps when a newer one ends; some five of them determine the estimate."""

_PRIOR_WEIGHT: Final = 0.002
_LEAST: Final = 1e-3
_SET_UPS: Final = 15
_FILE_ROUND_TRIPS: Final = 2

_ROUNDS: Final = 3
_PAUSE_S: Final = 1.0


class BatchSizer:
    """Estimates how long a batch takes one client: a time per byte, and a time per file.

    Both are fitted to the last batches, each weighted by its relative error; where these cannot
    separate the two, the prior estimate does. Additional clients are assumed to share the same rate
    until measured: a batch that is too short costs less than one too long to react to a change.
    """

    def __init__(self, expected_bps: float, rtt_s: float) -> None:
        """`expected_bps`: prior estimate of the throughput of one client. Both are above 0."""
        self._file_s = _FILE_ROUND_TRIPS * rtt_s
        self._expected = (0.0, 0)
        self.expect(expected_bps, 1)

    def expect(self, bps: float, clients: int) -> None:
        """From now on `clients` clients together are expected to move `bps`, above 0.

        What earlier batches took says nothing then; the same expectation again changes nothing.
        """
        if self._expected == (bps, clients):
            return
        self._expected = bps, clients
        self._byte_s = 8 * clients / bps
        self._bytes_2 = self._both = self._files_2 = self._bytes_1 = self._files_1 = 0.0
        self._byte_factor = self._file_factor = 1.0
        self._clients = float(clients)
        self._knows = False

    def learn(self, moved_bytes: int, files: int, took_s: float, clients: int) -> None:
        """A batch of this many bytes and files took `took_s` seconds from its first byte.

        `clients`: how many were wanted when it began, at least 1.
        """
        if took_s <= 0:
            return
        weight = _KEPT if self._knows else 0.0
        self._clients = weight * self._clients + (1 - weight) * clients
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
        """Least squares with a weak prior at the expected values (ridge regression)."""
        a, b = self._bytes_2 + _PRIOR_WEIGHT, self._files_2 + _PRIOR_WEIGHT
        x, y = self._bytes_1 + _PRIOR_WEIGHT, self._files_1 + _PRIOR_WEIGHT
        determinant = a * b - self._both**2
        self._byte_factor = max(_LEAST, (x * b - y * self._both) / determinant)
        self._file_factor = max(_LEAST, (y * a - x * self._both) / determinant)

    def bytes_in(self, lasts_s: float, clients: int) -> int:
        """How many bytes each of `clients` clients moves in `lasts_s` seconds, within one long
        file."""
        sharing = min(1.0, self._clients / max(1, clients))
        return max(1, round(lasts_s * sharing / (self._byte_s * self._byte_factor)))

    def file_bytes(self, clients: int) -> int:
        """How many bytes one client could move in the overhead time of one file."""
        return self.bytes_in(self._file_s * self._file_factor, clients)


class SetupTimes:
    """Measures the set-up time of clients, from their start to their first byte."""

    def __init__(self) -> None:
        self._last: deque[float] = deque(maxlen=_SET_UPS)

    def learn(self, set_up_s: float) -> None:
        """Add one measurement, in seconds."""
        self._last.append(set_up_s)

    @property
    def usual_s(self) -> float:
        """The median of the last measurements, in seconds; 0 while there is none."""
        return median(self._last) if self._last else 0.0


class Backoff:
    """Pauses after failed batches, and gives up after three rounds of failures without a success.

    Batches that ran at the same time and fail count as one round: they failed for one reason.
    """

    def __init__(self) -> None:
        self._rounds = 0
        self._last_s = float("-inf")
        self._resume_s = float("-inf")

    def add(self, began_s: float, now_s: float) -> None:
        """A batch that began at `began_s` failed now."""
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
        """Whether to give up."""
        return self._rounds >= _ROUNDS

    def may_start(self, now_s: float) -> bool:
        """Whether the pause is over."""
        return now_s >= self._resume_s
