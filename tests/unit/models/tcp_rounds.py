"""TCP in rounds of one round-trip time, for tests: windows, a queue, losses at random.

Several streams share a path of a given capacity. Every round each sends its window; what exceeds
the capacity waits in the queue, and what exceeds the queue is lost.
"""

import math
from collections.abc import Iterator

import numpy as np

from advisor.domain.measurement import Interval
from advisor.domain.sending import SenderReport, SendingState

SEGMENT_BYTES = 1448
_BETA = {"reno": 0.5, "cubic": 0.7}


class Rounds:
    """A transfer. `queue`: in bandwidth-delay products. `loss`: per segment, at random.

    `most_segments`: the largest window of a stream.
    """

    def __init__(
        self,
        control: str,
        *,
        streams: int,
        rtt_s: float,
        rate_bps: float,
        loss: float = 0.0,
        queue: float = 1.0,
        seed: int = 1,
        segment_bytes: int = SEGMENT_BYTES,
        most_segments: float = math.inf,
    ) -> None:
        self._control = control
        self._rtt_s = rtt_s
        self._loss = loss
        self._segment_bytes, self._most = segment_bytes, most_segments
        self._capacity = rate_bps * rtt_s / 8 / segment_bytes
        self._queue = queue * self._capacity
        self._rng = np.random.default_rng(seed)
        self._windows = np.minimum(np.full(streams, 10.0), most_segments)
        self._peaks = np.zeros(streams)
        self._since_cut_s = np.zeros(streams)
        self._starting = np.ones(streams, dtype=bool)
        self._t_s = 0.0
        self._limited_s = 0.0
        self._cuts = self._retransmits = self._sent = 0

    def run(self, rounds: int) -> Iterator[tuple[Interval, SenderReport]]:
        """What both ends report, round by round."""
        for _ in range(rounds):
            sent = float(self._windows.sum())
            waiting = min(max(0.0, sent - self._capacity), self._queue)
            lasts_s = self._rtt_s * (1 + waiting / self._capacity)
            lost = self._lost(sent)
            self._sent += round(sent)
            self._retransmits += int(lost.sum()) + round(
                max(0.0, sent - self._capacity - self._queue)
            )
            self._limited_s += lasts_s * int((self._windows >= self._most).sum())
            self._answer(lost, lasts_s)
            arrived_bytes = round(min(sent, self._capacity + waiting) * self._segment_bytes)
            interval = Interval(self._t_s, self._t_s + lasts_s, arrived_bytes)
            self._t_s += lasts_s
            yield interval, self._report(lasts_s)

    def _lost(self, sent: float) -> np.ndarray:
        at_random = self._rng.random(len(self._windows)) > (1 - self._loss) ** self._windows
        if sent <= self._capacity + self._queue:
            return at_random
        # An overshoot of slow start meets all streams, one of congestion avoidance about half.
        return at_random | self._starting | (self._rng.random(len(self._windows)) < 0.5)

    def _answer(self, lost: np.ndarray, lasts_s: float) -> None:
        kept = _BETA[self._control]
        self._cuts += int(lost.sum())
        self._peaks[lost] = self._windows[lost]
        self._since_cut_s += lasts_s
        self._since_cut_s[lost] = 0.0
        self._windows[lost] = np.maximum(2.0, kept * self._windows[lost])
        grows = ~lost & ~self._starting
        self._windows[~lost & self._starting] *= 2
        reno = self._windows + 3 * (1 - kept) / (1 + kept)
        if self._control == "cubic":
            back_s = np.cbrt(self._peaks * (1 - kept) / 0.4)
            cubic = 0.4 * (self._since_cut_s - back_s) ** 3 + self._peaks
            reno = np.maximum(reno, np.minimum(cubic, 1.5 * self._windows))
        self._windows[grows] = reno[grows]
        np.minimum(self._windows, self._most, out=self._windows)
        self._starting &= ~lost

    def _report(self, lasts_s: float) -> SenderReport:
        state = SendingState(
            congestion=self._control,
            streams=len(self._windows),
            window_bytes=int(self._windows.sum()) * self._segment_bytes,
            starting=int(self._starting.sum()),
            cuts=self._cuts,
            sent_segments=self._sent,
            segment_bytes=self._segment_bytes,
            busy_s=self._t_s * len(self._windows),
            buffer_limited_s=self._limited_s,
        )
        return SenderReport(
            t_s=self._t_s, retransmits=self._retransmits, rtt_s=lasts_s, state=state
        )


def bbr_rounds(
    rate_bps: float, rtt_s: float, rounds: int, seed: int
) -> Iterator[tuple[Interval, SenderReport]]:
    """BBR on a path that loses packets: start-up, then cycles of eight rounds around the capacity.

    A cycle sends a quarter more for a round, and a quarter less for the next.
    """
    rng = np.random.default_rng(seed)
    cycle = (1.25, 0.75, *[1.0] * 6)
    capacity = rate_bps * rtt_s / 8 / SEGMENT_BYTES
    sent = retransmits = 0
    for number in range(rounds):
        segments = capacity * (2.0 ** (number - 9) if number < 10 else cycle[number % 8])
        sent += round(segments)
        retransmits += int(rng.poisson(segments * 1e-3))
        arrived_bytes = round(min(capacity, segments) * SEGMENT_BYTES * rng.normal(1, 0.02))
        begin_s, end_s = number * rtt_s, (number + 1) * rtt_s
        state = SendingState(
            congestion="bbr",
            streams=1,
            window_bytes=round(2 * capacity) * SEGMENT_BYTES,
            starting=1,
            cuts=0,
            sent_segments=sent,
            segment_bytes=SEGMENT_BYTES,
        )
        report = SenderReport(t_s=end_s, retransmits=retransmits, rtt_s=rtt_s, state=state)
        yield Interval(begin_s, end_s, arrived_bytes), report
