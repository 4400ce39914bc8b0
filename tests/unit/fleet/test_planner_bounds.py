"""What the planner promises, whatever the fleet and whatever happens."""

import heapq
from collections import Counter
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.plan.fleet import DAY_S, Fleet, Host, Limits, Resource, Task
from advisor.fleet.plan.quiet_hours import QuietHours, Window
from advisor.fleet.plan.turns import Result, Turn, Wait
from tests.unit.fleet.planned import START_S, a_fleet, planner_of


class Watched:
    """Runs a planner and checks, with its own books, that nothing is beyond its bound."""

    def __init__(self, fleet: Fleet, data: st.DataObject) -> None:
        self.fleet, self.data = fleet, data
        self.planner = planner_of(fleet)
        self.now_s = START_S
        self.running: list[tuple[float, int, Turn]] = []
        self.done: list[tuple[float, float, float, Turn]] = []
        self.begun: dict[int, float] = {}

    def run(self, turns: int) -> None:
        for number in range(turns):
            found = self.planner.next(self.now_s)
            if isinstance(found, Turn):
                self.check(found)
                longest = self.fleet.tasks[found.task].longest_s
                ends_s = self.now_s + self.data.draw(st.floats(1.0, longest))
                self.begun[number] = self.now_s
                heapq.heappush(self.running, (ends_s, number, found))
            elif not self.advance(found):
                break

    def advance(self, wait: Wait) -> bool:
        if self.running and self.running[0][0] <= wait.until_s:
            self.now_s, number, turn = heapq.heappop(self.running)
            moved = turn.most_bytes * self.data.draw(st.floats(0.0, 1.0))
            self.done.append((self.begun[number], self.now_s, moved, turn))
            if self.data.draw(st.integers(0, 3)):
                self.planner.finished(turn, Result(moved, 1e9, 0.01), self.now_s)
            else:
                ends = (None, turn.source, turn.destination)
                down = self.data.draw(st.sampled_from(ends))
                self.planner.failed(turn, self.now_s, unreachable=down, moved_bytes=moved)
            return True
        if wait.until_s == float("inf"):
            return False
        assert wait.until_s > self.now_s
        self.now_s = wait.until_s
        return True

    def check(self, turn: Turn) -> None:
        fleet = self.fleet
        in_use = Counter(h for _, _, t in self.running for h in (t.source, t.destination))
        assert not in_use[turn.source]
        assert not in_use[turn.destination]
        at_once = fleet.limits.at_once
        assert at_once is None or len(self.running) < at_once
        for number, resource in enumerate(fleet.resources):
            if resource.is_used(turn.source, turn.destination):
                using = [t for *_, t in self.running if resource.is_used(t.source, t.destination)]
                assert len(using) < resource.at_once, number
        for host in (turn.source, turn.destination):
            quiet = fleet.hosts[host].quiet
            if quiet is not None:
                start_s, _ = quiet.following(self.now_s)
                assert start_s >= self.now_s + fleet.tasks[turn.task].longest_s

    def most_in_a_day(self, uses: Any) -> float:
        """The most bytes of all measurements that overlap any 24 hours."""
        own = [one for one in self.done if uses(one[3])]
        return max(
            (
                sum(moved for a, b, moved, _ in own if b > ends_s - DAY_S and a < ends_s)
                for _, ends_s, _, _ in own
            ),
            default=0.0,
        )


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    hosts = draw(st.integers(2, 6))
    numbers = st.integers(0, hosts - 1)
    night = QuietHours("UTC", (Window(tuple(range(7)), 20 * 60, 4 * 60),))
    rates = st.sampled_from([1e8, 1e9, 1e10])
    everyone = tuple(range(hosts))
    some = tuple(sorted(draw(st.sets(numbers, min_size=1))))
    share = 0.004  # 345 s at full rate
    return Fleet(
        hosts=tuple(
            Host(
                name=f"h{n}",
                reach=f"h{n}",
                bandwidth_bps=draw(rates),
                quiet=draw(st.sampled_from([None, night])),
            )
            for n in range(hosts)
        ),
        tasks=(
            Task(
                name="mesh",
                what="advice",
                blocks=((everyone, everyone),),
                every_s=draw(st.sampled_from([3600.0, DAY_S])),
                budget_s=draw(st.sampled_from([10.0, 100.0])),
            ),
            Task(
                name="path",
                what="path",
                blocks=((some, everyone), (everyone, some)),
                every_s=3600.0,
                budget_s=5.0,
            ),
        ),
        limits=Limits(share_per_day=share, at_once=draw(st.sampled_from([None, 1, 2]))),
        resources=tuple(
            Resource(
                name=f"r{n}",
                members=frozenset(draw(st.sets(numbers, min_size=1))),
                at_once=draw(st.integers(1, 2)),
                bandwidth_bps=draw(st.sampled_from([None, 1e10])),
                inside=draw(st.booleans()),
            )
            for n in range(draw(st.integers(0, 2)))
        ),
    )


@given(fleets(), st.data())
def test_no_bound_is_ever_passed(fleet: Fleet, data: st.DataObject) -> None:
    watched = Watched(fleet, data)
    watched.run(60)
    for number, host in enumerate(fleet.hosts):
        moved = watched.most_in_a_day(lambda t, n=number: n in (t.source, t.destination))
        assert moved <= fleet.bound_bytes(host.bandwidth_bps) * (1 + 1e-9)
    for resource in fleet.resources:
        if resource.bandwidth_bps:
            moved = watched.most_in_a_day(lambda t, r=resource: r.is_used(t.source, t.destination))
            assert moved <= fleet.bound_bytes(resource.bandwidth_bps) * (1 + 1e-9)


@given(st.integers(2, 6), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_nobody_starves_when_more_is_due_than_can_be_measured(
    hosts: int, at_once: int, seed: int
) -> None:
    """Every pair wants a turn each minute: in a round, each gets one before any gets three."""
    everyone = tuple(range(hosts))
    task = Task(name="m", what="path", blocks=((everyone, everyone),), every_s=60.0, budget_s=1.0)
    fleet = a_fleet(hosts, tasks=(task,), limits=Limits(share_per_day=1.0, at_once=at_once))
    rng = np.random.default_rng(seed)
    planner, now_s = planner_of(fleet), START_S
    running: list[tuple[float, Turn]] = []
    counts: Counter[tuple[int, int]] = Counter()
    for _ in range(12 * hosts * (hosts - 1)):
        found = planner.next(now_s)
        if isinstance(found, Turn):
            running.append((now_s + 60.0 + rng.random(), found))
            continue
        running.sort(reverse=True)
        now_s, turn = running.pop() if running else (found.until_s, None)
        if turn is not None:
            counts[turn.source, turn.destination] += 1
            news = "suspected" if rng.random() < 0.2 else "none"
            planner.finished(turn, Result(0.0, 1e9, 0.01, news), now_s)
    assert len(counts) == hosts * (hosts - 1)
