"""Runs a fleet in virtual time with the planner of real workers."""

import heapq
from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np

from advisor.fleet.plan.fleet import DAY_S, PATH_BYTES, Fleet
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.turns import Result, Turn, Wait
from advisor.fleet.simulation.noticing import Noticing
from advisor.fleet.simulation.report import Progress, SimulationReport
from advisor.fleet.simulation.tally import Tally
from advisor.fleet.simulation.world import Draws, Happening, World, happenings

START_S: Final = 1_798_761_600.0
"""Virtual time begins on 1 January 2027, 00:00 UTC: quiet hours are the same in every run."""

_UNREACHABLE_S: Final = 30.0
_SETUP_S: Final = 15.0
_FAILING: Final = 0.005


class _Outcome(msgspec.Struct):
    """How a measurement that has begun will end. `result` None: it fails."""

    turn: Turn
    began_s: float
    result: Result | None
    unreachable: int | None = None


class Simulation:
    """One run. `workers`: how many measurements at a time; the same seed gives the same run."""

    def __init__(self, fleet: Fleet, duration_s: float, workers: int, seed: int) -> None:
        self._fleet = fleet
        self._end_s = START_S + duration_s
        self._workers = workers
        planning, made_up = (
            np.random.default_rng(s) for s in np.random.SeedSequence(seed).spawn(2)
        )
        self._draws = Draws(made_up)
        self._world = World(fleet, self._draws)
        self._noticing = Noticing(self._world)
        self._planner = Planner(fleet, START_S, planning)
        self._tally = Tally(fleet, START_S, duration_s, workers, seed)
        self._numbered = 0
        self._events: list[tuple[float, int, _Outcome | Happening]] = []
        for one in happenings(fleet, START_S, self._end_s, self._draws):
            self._push(one.at_s, one)
        self._busy = 0
        self.now_s = START_S

    def run(self) -> Iterator[Progress]:
        """Run to the end, with a progress after each day on which something happened.

        It may be left at any time: `report` is then of what has run, and another call continues.
        """
        today = (self.now_s - START_S) // DAY_S
        while self.now_s < self._end_s:
            wait = self._begin_all()
            next_s = min(wait.until_s, self._events[0][0] if self._events else self._end_s)
            self.now_s = min(next_s, self._end_s)
            while self._events and self._events[0][0] <= self.now_s:
                self._handle(heapq.heappop(self._events)[2])
            if (self.now_s - START_S) // DAY_S > today:
                today = (self.now_s - START_S) // DAY_S
                yield self._tally.progress(self.now_s)

    def report(self) -> SimulationReport:
        """The figures up to now."""
        return self._tally.report(
            self.now_s,
            complete=self.now_s >= self._end_s,
            changes=self._noticing.notices(),
            false_alarms=self._noticing.false_alarms,
        )

    def _push(self, at_s: float, event: "_Outcome | Happening") -> None:
        self._numbered += 1
        heapq.heappush(self._events, (at_s, self._numbered, event))

    def _begin_all(self) -> Wait:
        """Give every free worker something to do, as far as anything is due."""
        while self._busy < self._workers:
            found = self._planner.next(self.now_s)
            if isinstance(found, Wait):
                return found
            self._busy += 1
            self._begin(found)
        return Wait(float("inf"))

    def _begin(self, turn: Turn) -> None:
        outcome = _Outcome(turn, self.now_s, None)
        down = [h for h in (turn.source, turn.destination) if self._world.is_down[h]]
        task = self._fleet.tasks[turn.task]
        sending_s = task.budget_s * (0.3 + 0.7 * self._draws.uniform())
        lasts_s = _SETUP_S + sending_s
        if down:
            outcome.unreachable, lasts_s = down[0], _UNREACHABLE_S
        elif self._draws.uniform() >= _FAILING:
            rate_bps = self._world.rate_bps(turn.source, turn.destination)
            path_only = task.what == "path"
            outcome.result = Result(
                moved_bytes=PATH_BYTES
                if path_only
                else min(turn.most_bytes, rate_bps * sending_s / 8),
                rate_bps=None if path_only else rate_bps,
                rtt_s=self._world.rtt_s(turn.source, turn.destination),
            )
        self._push(self.now_s + lasts_s, outcome)

    def _handle(self, event: "_Outcome | Happening") -> None:
        if isinstance(event, _Outcome):
            self._busy -= 1
            self._finish(event)
            return
        self._world.apply(event)
        if event.kind != "down":
            self._noticing.happens(event)

    def _finish(self, outcome: _Outcome) -> None:
        turn, result = outcome.turn, outcome.result
        self._tally.ran(self.now_s - outcome.began_s)
        if result is None:
            self._tally.failed()
            self._planner.failed(turn, self.now_s, unreachable=outcome.unreachable)
            return
        if result.rate_bps is not None:
            news = self._noticing.news(
                turn.task, turn.source, turn.destination, result.rate_bps, self.now_s
            )
            if news != "none":
                result = msgspec.structs.replace(result, news=news)
        self._tally.measured(turn, result.moved_bytes, self.now_s)
        self._planner.finished(turn, result, self.now_s)
