"""A transfer tool in virtual time: what a client of GridFTP does with a list of files on a path.

Support for tests and benchmarks of the search, the slices and the cost model. It is not a model of
one program: the figures that differ between hosts (round trips of a login and of a file, the
seconds that a file or a session costs a host) are drawn per path.

- `concurrency` workers take files from one list, in its order. Workers start one after another and
  log in for some round trips.
- A file costs round trips, more without pipelining, and more with many streams; then some time of
  the hosts.
- A worker's streams start slowly: their window doubles each round trip up to that of the path or of
  a loss. They stay open from file to file, except where the options are as typed.
- All share the link. Above its rate everybody gets the same share of what they ask for.
- Random losses hold a stream below a rate of its own (Mathis et al. 1997, equation 3, times a
  factor drawn per path: cubic and bbr lose less).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from advisor.domain.measurement import Interval
from advisor.domain.space import Setting

_PACKET_BYTES = 1448
_FIRST_WINDOW = 10 * _PACKET_BYTES


@dataclass(frozen=True, slots=True)
class SimulatedPath:
    """A path, and what files cost on it.

    `loss`: share of packets. `window_bytes`: the most that one stream has in flight. `login`,
    `per_file`, `unpipelined`: round trips of a login, of a file, of a file in addition without
    pipelining. `stream_cost`: share that each doubling of a file's streams adds to its round trips.
    `file_s`, `session_s`: time of the hosts for a file and for one more session. `turn_s`: time of
    each file in which no other one begins. `spread`: of a file's cost. `wobble`: relative standard
    deviation of the link from run to run.
    """

    rtt_s: float
    rate_bps: float
    loss: float = 0.0
    window_bytes: float = 8e6
    login: float = 14.0
    per_file: float = 2.0
    unpipelined: float = 1.5
    stream_cost: float = 0.15
    file_s: float = 0.003
    session_s: float = 0.02
    turn_s: float = 0.0
    loss_factor: float = 3.0
    spread: float = 0.2
    wobble: float = 0.03

    @classmethod
    def drawn(
        cls, rng: np.random.Generator, rtt_s: float, rate_bps: float, loss: float
    ) -> SimulatedPath:
        """Hosts of any kind on this path."""
        return cls(
            rtt_s=rtt_s,
            rate_bps=rate_bps,
            loss=loss,
            window_bytes=float(2 ** rng.uniform(21, 25)),
            login=float(rng.uniform(10, 20)),
            per_file=float(rng.uniform(1.0, 3.0)),
            unpipelined=float(rng.uniform(0.0, 3.0)),
            stream_cost=float(rng.uniform(0.0, 0.4)),
            file_s=float(10 ** rng.uniform(-3.3, -1.8)),
            session_s=float(10 ** rng.uniform(-2.7, -1.3)),
            loss_factor=float(rng.uniform(1.0, 6.0)),
            spread=float(rng.uniform(0.05, 0.5)),
            wobble=float(rng.uniform(0.01, 0.06)),
        )

    @property
    def stream_bps(self) -> float:
        """The steady rate of one stream that has the link for itself."""
        window_bps = self.window_bytes * 8 / self.rtt_s
        loss_bps = math.inf
        if self.loss:
            loss_bps = (
                self.loss_factor * 1.22 * _PACKET_BYTES * 8 / (self.rtt_s * math.sqrt(self.loss))
            )
        return min(window_bps, loss_bps)


@dataclass(frozen=True, slots=True)
class SimulatedRun:
    """`arrived`: for each file whether it is complete. `is_whole`: it ran to its end."""

    elapsed_s: float
    begun_s: float
    intervals: list[Interval]
    moved_bytes: int
    arrived: list[bool]
    is_whole: bool


def simulate(
    path: SimulatedPath,
    sizes: Sequence[int],
    setting: Setting,
    rng: np.random.Generator,
    ceiling_s: float = math.inf,
) -> SimulatedRun:
    """One transfer of files of these sizes, in this order."""
    return _Transfer(path, sizes, setting, rng).run(ceiling_s)


class _Transfer:
    def __init__(
        self,
        path: SimulatedPath,
        sizes: Sequence[int],
        setting: Setting,
        rng: np.random.Generator,
    ) -> None:
        self._path = path
        self._sizes = [float(max(1, size)) for size in sizes]
        self._rng = rng
        self._is_typed = "options" in setting
        self._streams = int(setting.get("parallelism", 1))
        workers = min(int(setting.get("concurrency", 1)), len(sizes))
        trips = path.per_file * (1 + path.stream_cost * math.log2(self._streams))
        if setting.get("pipelining", 1) == 1:
            trips += path.unpipelined
        if self._is_typed:
            trips += 1.5
        self._file_s = trips * path.rtt_s + path.file_s
        self._rate = path.rate_bps * math.exp(rng.normal(0, path.wobble)) / 8
        login_s = path.login * path.rtt_s + 0.05
        start = path.session_s * np.arange(workers) * (1 + 0.1 * (self._streams - 1))
        self._ready_s = login_s + start
        self._left = np.zeros(workers)
        self._window = np.full(workers, float(_FIRST_WINDOW))
        self._most = path.stream_bps * path.rtt_s / 8 * np.exp(rng.normal(0, 0.1, workers))
        self._busy = np.zeros(workers, dtype=bool)
        self._next = 0
        self._file = np.zeros(workers, dtype=int)
        self._arrived = [False] * len(sizes)
        self._turn_over_s = 0.0

    def _begin(self, worker: int) -> bool:
        """Give a worker the next file; False when there is none."""
        if self._next >= len(self._sizes):
            return False
        self._left[worker] = self._sizes[self._next]
        self._file[worker] = self._next
        self._next += 1
        self._turn_over_s = max(self._turn_over_s, self._ready_s[worker]) + self._path.turn_s
        if self._path.turn_s:
            self._ready_s[worker] = self._turn_over_s
        self._ready_s[worker] += self._file_s * math.exp(self._rng.normal(0, self._path.spread))
        self._busy[worker] = True
        if self._is_typed:
            self._window[worker] = _FIRST_WINDOW
        return True

    def run(self, ceiling_s: float) -> SimulatedRun:
        step_s = min(0.02, max(0.01, self._path.rtt_s / 3))
        now, moved, first, last_s, reported = 0.0, 0.0, None, 0.0, 0.0
        intervals: list[Interval] = []
        for worker in range(len(self._left)):
            self._begin(worker)
        while self._busy.any() and now < ceiling_s:
            active_s = np.minimum(np.maximum(now + step_s - self._ready_s, 0.0), step_s)
            ask = self._window * (self._streams / self._path.rtt_s)
            wanted = np.minimum(ask * active_s, self._left)
            total = float(wanted.sum())
            most = self._rate * step_s
            given = wanted if total <= most else wanted * (most / total)
            self._left -= given
            growth = 2 ** (active_s / self._path.rtt_s) if total <= most else 1.0
            self._window = np.minimum(self._window * growth, self._most)
            moved += float(given.sum())
            for worker in ((self._left <= 0.5) & self._busy & (active_s > 0)).nonzero()[0]:
                self._arrived[self._file[worker]] = True
                self._busy[worker] = False
                used_s = given[worker] / max(ask[worker], 1.0)
                self._ready_s[worker] = max(self._ready_s[worker], now) + min(used_s, step_s)
                # Small files: several may fit in one step.
                while self._begin(worker) and self._ready_s[worker] < now:
                    moved += self._left[worker]
                    self._arrived[self._file[worker]] = True
                    self._left[worker] = 0.0
                    self._busy[worker] = False
            now += step_s
            if first is None and moved > 0:
                first = last_s = now
            if first is not None and now - last_s >= 0.1:
                intervals.append(Interval(last_s - first, now - first, round(moved - reported)))
                last_s, reported = now, moved
        closing_s = 2 * self._path.rtt_s
        first = now if first is None else first
        if moved > reported and now > last_s:
            intervals.append(Interval(last_s - first, now - first, round(moved - reported)))
        whole = not self._busy.any()
        return SimulatedRun(
            elapsed_s=now + (closing_s if whole else 0.0),
            begun_s=first,
            intervals=intervals,
            moved_bytes=round(moved),
            arrived=self._arrived,
            is_whole=whole,
        )
