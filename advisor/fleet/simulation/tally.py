"""Counts what happens in a simulation."""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from advisor.fleet.plan.fleet import DAY_S, Fleet
from advisor.fleet.plan.lattice import pair_matrix
from advisor.fleet.plan.turns import Turn
from advisor.fleet.simulation.report import Notices, Progress, SimulationReport, jain, traffic_of

_PARTS: Final = (0.5, 0.9, 0.99, 1.0)


class Tally:
    """Of one run. `progress` and `report` may be asked at any time."""

    def __init__(
        self, fleet: Fleet, start_s: float, duration_s: float, workers: int, seed: int
    ) -> None:
        number = len(fleet.hosts)
        self._fleet, self._start_s, self._duration_s = fleet, start_s, duration_s
        self._workers, self._seed = workers, seed
        self._pairs = [pair_matrix(task, number) for task in fleet.tasks]
        self.pairs = sum(int(one.sum()) for one in self._pairs)
        self._counts = [np.zeros((number, number), dtype=np.int32) for _ in fleet.tasks]
        self._last = [np.zeros((number, number)) for _ in fleet.tasks]
        days = math.ceil(duration_s / DAY_S) + 1
        self._bytes = np.zeros((days, number))
        self._thresholds = [math.ceil(part * self.pairs) for part in _PARTS]
        self._covered_s: list[float] = []
        self._covered = self._measurements = self._failures = 0
        self._busy_s = 0.0
        self._busy_at_cover_s = 0.0

    def ran(self, lasted_s: float) -> None:
        """A worker was busy for this long."""
        self._busy_s += lasted_s

    def failed(self) -> None:
        """A measurement failed."""
        self._failures += 1

    def measured(self, turn: Turn, moved_bytes: float, now_s: float) -> None:
        """A measurement succeeded."""
        pair = turn.source, turn.destination
        counts = self._counts[turn.task]
        if not counts[pair]:
            self._cover(now_s)
        counts[pair] += 1
        self._last[turn.task][pair] = now_s
        self._measurements += 1
        day = int((now_s - self._start_s) // DAY_S)
        for host in pair:
            self._bytes[day, host] += moved_bytes

    def _cover(self, now_s: float) -> None:
        self._covered += 1
        while self._covered in self._thresholds[len(self._covered_s) :]:
            self._covered_s.append(now_s - self._start_s)
            self._busy_at_cover_s = self._busy_s

    def progress(self, now_s: float) -> Progress:
        """How far it is."""
        return Progress(
            days=int((now_s - self._start_s) // DAY_S),
            of_days=math.ceil(self._duration_s / DAY_S),
            measurements=self._measurements,
            covered=self._covered,
            pairs=self.pairs,
        )

    def report(
        self, now_s: float, *, complete: bool, changes: dict[str, Notices], false_alarms: int
    ) -> SimulationReport:
        """The figures."""
        simulated_s = now_s - self._start_s
        counts = np.concatenate([c[p] for c, p in zip(self._counts, self._pairs, strict=True)])
        last = np.concatenate([c[p] for c, p in zip(self._last, self._pairs, strict=True)])
        ages = now_s - last[last > 0]
        bounds = np.array([self._fleet.bound_bytes(h.bandwidth_bps) for h in self._fleet.hosts])
        reached = dict(zip(_PARTS, self._covered_s, strict=False))
        cover_s = reached.get(1.0)
        with_rate = [t.what != "path" for t in self._fleet.tasks]
        watched = sum(int(p.sum()) for p, w in zip(self._pairs, with_rate, strict=True) if w)
        pair_years = watched * simulated_s / (365 * DAY_S)
        return SimulationReport(
            hosts=len(self._fleet.hosts),
            pairs=self.pairs,
            workers=self._workers,
            seed=self._seed,
            simulated_s=simulated_s,
            complete=complete,
            measurements=self._measurements,
            failures=self._failures,
            cover_s={f"{part:.0%}": reached.get(part) for part in _PARTS},
            idle_share=self._idle(self._busy_s, simulated_s),
            idle_share_after_cover=(
                self._idle(self._busy_s - self._busy_at_cover_s, simulated_s - cover_s)
                if cover_s is not None
                else None
            ),
            jain_pairs=jain(counts.astype(float)),
            jain_hosts=jain(self._per_host()),
            median_age_s=float(np.median(ages)) if ages.size else None,
            oldest_age_s=float(ages.max()) if ages.size else None,
            traffic=traffic_of(self._bytes[: int(simulated_s // DAY_S)], bounds),
            changes=changes,
            false_alarms=false_alarms,
            false_alarms_per_pair_year=false_alarms / pair_years if pair_years else 0.0,
        )

    def _idle(self, busy_s: float, of_s: float) -> float:
        return max(0.0, 1.0 - busy_s / (self._workers * of_s)) if of_s > 0 else 0.0

    def _per_host(self) -> NDArray[np.float64]:
        """Measurements of each host that takes part, for each of its pairs."""
        done = sum(c.sum(0) + c.sum(1) for c in self._counts)
        pairs = sum(p.sum(0) + p.sum(1) for p in self._pairs)
        taking_part = np.asarray(pairs) > 0
        found = np.asarray(done)[taking_part] / np.asarray(pairs)[taking_part]
        return np.asarray(found, dtype=float)
