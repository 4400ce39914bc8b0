"""Probes of a simulated path that are played round by round, so that they have a course.

Slow start, the overshoot that ends it, windows that losses shrink over tens of round trips: a
probe that ends early sees a part of that, as a real one does. What is played goes through the
prober's own rule (`advisor.advising.prober.Course`). The true rate of a setting is what the same
rounds give in the long run (`tests/unit/models/tcp_rounds.py`).
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterator
from typing import Final

import numpy as np

from advisor.advising.prober import Course, Probed, Watcher
from advisor.api.transport import Sample
from advisor.domain.measurement import Interval
from advisor.domain.sending import SenderReport, SendingState
from advisor.domain.space import Setting
from advisor.models.steadiness import ProbeLength, probe_length
from tests.unit.advising.simulated import Runner, SimulatedPath
from tests.unit.models.tcp_rounds import Rounds

_HEADERS_BYTES: Final = 52
_ROUNDS: Final = 2500
_LEFT_OUT: Final = 500
_EVEN_STREAMS: Final = 8
"""This many streams are even in `_ROUNDS`; fewer are played for longer."""

_COUNTS: Final = (1, 2, 3, 4, 6, 8, 12, 16, 20, 25)
_UDT_START_S: Final = 0.5
_BBR_CYCLE: Final = (1.25, 0.75, *[1.0] * 6)
_BBR_ROUND_SPREAD: Final = 0.02
"""By how much a round is short of what the path carries; none exceeds it."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlayedPath(SimulatedPath):
    """A simulated path whose true rates are those of its rounds."""

    def true_bps(self, subject: str, setting: Setting) -> float:
        if subject == "udt":
            return super().true_bps(subject, setting)
        return _long_run_bps(self, int(setting["streams"]), int(setting["buffer_bytes"]))

    def sweep(self, most_streams: int = 25) -> list[Setting]:
        """Of TCP, with the buffers that hold most: smaller ones are never faster."""
        asked = 0 if self.auto_bytes / 2 >= self.asked_bytes * 1.35 else self.asked_bytes
        return [
            {"streams": n, "buffer_bytes": asked, "congestion": self.control}
            for n in _COUNTS
            if n <= most_streams
        ]

    def capacity_bps(self, streams: int) -> float:
        """What this many streams can have of the path and the hosts."""
        return min(self.data_bps * streams / (streams + self.load), self.host_bps)

    def rounds(self, streams: int, asked_bytes: int, seed: int, factor: float) -> _Course:
        """A transfer, round by round. `factor`: of the capacity at that time."""
        window_bytes = asked_bytes * 1.35 if asked_bytes else self.auto_bytes / 2
        capacity_bps = min(self.capacity_bps(streams) * factor, self.data_bps)
        if self.control == "bbr":
            return _bbr(self, streams, window_bytes, capacity_bps, seed)
        segment_bytes = self.mtu_bytes - _HEADERS_BYTES
        played = Rounds(
            self.control,
            streams=streams,
            rtt_s=self.rtt_s,
            rate_bps=capacity_bps,
            loss=self.loss,
            queue=self.queue,
            seed=seed,
            segment_bytes=segment_bytes,
            most_segments=max(1.0, window_bytes / segment_bytes),
        )
        return played.run(10**9)


_Course = Iterator[tuple[Interval, SenderReport]]


def _bbr(
    path: SimulatedPath, streams: int, window_bytes: float, capacity_bps: float, seed: int
) -> _Course:
    """Start-up, then cycles of eight rounds around what the path or the windows allow."""
    rng = np.random.default_rng(seed)
    segment_bytes = path.mtu_bytes - _HEADERS_BYTES
    most_bps = min(capacity_bps, streams * window_bytes * 8 / path.rtt_s)
    full = most_bps * path.rtt_s / 8 / segment_bytes
    grown = max(0, math.ceil(math.log2(max(1.0, full / (10 * streams)))))
    sent = lost = number = 0
    while True:
        at = number - grown
        segments = full * (2.0**at if at < 0 else _BBR_CYCLE[at % 8])
        sent += round(segments)
        lost += int(rng.poisson(segments * path.loss))
        # The queue fills the round that sends less.
        short = abs(float(rng.normal(0, _BBR_ROUND_SPREAD)))
        arrived = (full if at >= 0 else segments) * (1 - short)
        end_s = (number + 1) * path.rtt_s
        state = SendingState(
            congestion="bbr",
            streams=streams,
            window_bytes=round(2 * full) * segment_bytes,
            starting=streams,
            cuts=0,
            sent_segments=sent,
            segment_bytes=segment_bytes,
        )
        yield (
            Interval(number * path.rtt_s, end_s, max(0, round(arrived * segment_bytes))),
            SenderReport(t_s=end_s, retransmits=lost, rtt_s=path.rtt_s, state=state),
        )
        number += 1


def _udt(path: SimulatedPath, bps: float, seed: int) -> _Course:
    rng = np.random.default_rng(seed)
    step_s = max(0.01, path.rtt_s)
    now_s = 0.0
    while True:
        share = min(1.0, (now_s + step_s) / _UDT_START_S)
        received = bps * share * step_s / 8 * max(0.1, float(rng.normal(1, 0.05)))
        yield (
            Interval(now_s, now_s + step_s, round(received)),
            SenderReport(t_s=now_s + step_s, rtt_s=path.rtt_s),
        )
        now_s += step_s


@functools.cache
def _long_run_bps(path: PlayedPath, streams: int, asked_bytes: int) -> float:
    window_bytes = asked_bytes * 1.35 if asked_bytes else path.auto_bytes / 2
    windows_bps = streams * window_bytes * 8 / path.rtt_s
    capacity_bps = path.capacity_bps(streams)
    if path.control == "bbr" or (not path.loss and windows_bps <= capacity_bps):
        mean = 1 - _BBR_ROUND_SPREAD * math.sqrt(2 / math.pi) if path.control == "bbr" else 1.0
        return mean * min(windows_bps, capacity_bps)
    return _played_bps(path, streams, asked_bytes)


def _played_bps(path: PlayedPath, streams: int, asked_bytes: int) -> float:
    rounds = _ROUNDS * max(1, math.ceil(_EVEN_STREAMS / streams)) + _LEFT_OUT
    course = path.rounds(streams, asked_bytes, 12345, 1.0)
    late = [next(course)[0] for _ in range(rounds)][_LEFT_OUT:]
    lasted_s = late[-1].end_s - late[0].start_s
    return sum(interval.received_bytes for interval in late) * 8 / lasted_s


class PlayedRunner(Runner):
    """Plays its probes; they end by the prober's own rule."""

    async def run(self, subject: str, setting: Setting, watcher: Watcher) -> Probed:
        path = self._path
        assert isinstance(path, PlayedPath)
        seed = int(self._rng.integers(2**31))
        factor = math.exp(path.spread * float(self._rng.standard_normal()))
        if subject == "udt":
            bps = min(path.true_bps(subject, setting) * factor, path.data_bps)
            played = _udt(path, bps, seed)
        else:
            streams = int(setting["streams"])
            played = path.rounds(streams, int(setting["buffer_bytes"]), seed, factor)
        length = probe_length(self.rtt_s)
        course = _course(length, watcher)
        received, lasted_s = _play(course, played, length.sample_every_s)
        elapsed_s = lasted_s + self._set_up_s(int(setting.get("streams", 1)))
        self.now_s += elapsed_s
        self.sent_bytes += received
        return Probed(course.measurement(elapsed_s), b"")


def _course(length: ProbeLength, watcher: Watcher) -> Course:
    return Course(length, watcher.interval, least_bps=watcher.least_bps)


def _play(course: Course, played: _Course, every_s: float) -> tuple[int, float]:
    """Until the course is over; the bytes received and the seconds."""
    total, reported_s = 0, 0.0
    course.add_received(Sample(t_s=0.0, total_bytes=0, cpu_s=0.0, busy_s=0.0, host_s=0.0))
    for interval, report in played:
        total += interval.received_bytes
        if interval.end_s - reported_s < every_s * 0.999:
            continue
        reported_s = interval.end_s
        course.add_sent(
            Sample(
                t_s=interval.end_s,
                total_bytes=total,
                cpu_s=0.0,
                busy_s=0.0,
                host_s=0.0,
                retransmits=report.retransmits,
                rtt_s=report.rtt_s,
                sending=report.state,
            )
        )
        course.add_received(
            Sample(t_s=interval.end_s, total_bytes=total, cpu_s=0.0, busy_s=0.0, host_s=0.0)
        )
        if course.meeting.over.is_set():
            break
    return total, reported_s
