"""What the planner promises, whatever the fleet and whatever happens."""

import heapq
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.plan.fleet import (
    DAY_S,
    Fleet,
    Host,
    Limits,
    PlannedTraffic,
    Resource,
    Task,
    signatures,
)
from advisor.fleet.plan.lattice import BLOCKED, Lattice, Zones
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.quiet_hours import QuietHours, Window
from advisor.fleet.plan.turns import Known, KnownPair, KnownTraffic, Reason, Result, Turn, Wait
from advisor.fleet.plan.worth import RECHECKS, retry_after_s

START_S = 1_800_000_000.0


def a_fleet(number: int = 4, **changes: Any) -> Fleet:
    names = tuple(Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=1e9) for n in range(number))
    everyone = tuple(range(number))
    task = Task(
        name="mesh", what="advice", blocks=((everyone, everyone),), every_s=DAY_S, budget_s=30.0
    )
    fields = {"hosts": names, "tasks": (task,), "limits": Limits(share_per_day=0.05)}
    return Fleet(**fields | changes)


def planner_of(fleet: Fleet, known: Known | None = None) -> Planner:
    return Planner(fleet, START_S, np.random.default_rng(1), known)


def turn_of(planner: Planner, now_s: float) -> Turn:
    found = planner.next(now_s)
    assert isinstance(found, Turn)
    return found


# -- the search -------------------------------------------------------------------------------


@given(st.data())
def test_the_search_finds_what_a_look_at_every_pair_finds(data: st.DataObject) -> None:
    hosts = data.draw(st.integers(2, 9))
    behind = data.draw(st.lists(st.tuples(st.booleans()), min_size=hosts, max_size=hosts))
    zones = Zones(behind, [int(b) for (b,) in behind])
    times = st.integers(0, 20).map(float) | st.just(float("inf"))
    due = np.array(data.draw(st.lists(times, min_size=hosts**2, max_size=hosts**2)))
    due = due.reshape(hosts, hosts)
    np.fill_diagonal(due, np.inf)
    lattice = Lattice(due, zones)
    available: set[int] = set()
    for _ in range(data.draw(st.integers(1, 25))):
        host, other = (data.draw(st.integers(0, hosts - 1)) for _ in range(2))
        match data.draw(st.sampled_from(["add", "remove", "due"])):
            case "add":
                lattice.add(host)
                available.add(host)
            case "remove":
                lattice.remove(host)
                available.discard(host)
            case "due" if host != other:
                due[host, other] = data.draw(times)
                lattice.set_due(host, other, due[host, other])
        full = data.draw(st.booleans())
        crossing = [[a != b for (b,) in zones.signature] for (a,) in zones.signature]
        blocked = np.where(np.array(crossing) & full, BLOCKED, 0.0)
        best = min(
            (
                due[a, b]
                for a in available
                for b in available
                if not (full and behind[a] != behind[b])
            ),
            default=np.inf,
        )
        found = lattice.first(blocked)
        if found is None:
            assert best == np.inf
        else:
            assert found.due_s == best == due[found.source, found.destination]
            assert {found.source, found.destination} <= available
            assert not (full and behind[found.source] != behind[found.destination])


# -- a fleet at work, watched from outside ----------------------------------------------------


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
            elif not self.go_on(found):
                break

    def go_on(self, wait: Wait) -> bool:
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


# -- what is due ------------------------------------------------------------------------------


def finish(planner: Planner, turn: Turn, now_s: float, **changes: Any) -> None:
    planner.finished(
        turn, Result(**{"moved_bytes": 1e6, "rate_bps": 1e9, "rtt_s": 0.01} | changes), now_s
    )


def test_every_pair_is_measured_once_before_any_is_due_again() -> None:
    planner, now_s = planner_of(a_fleet(4)), START_S
    seen = []
    for _ in range(12):
        turn = turn_of(planner, now_s)
        assert turn.reason is Reason.NEVER
        assert turn.last_s is None
        seen.append((turn.source, turn.destination))
        now_s += 40
        finish(planner, turn, now_s)
    assert len(set(seen)) == 12
    wait = planner.next(now_s)
    assert isinstance(wait, Wait)
    assert wait.until_s > START_S + 0.9 * DAY_S
    assert turn_of(planner, wait.until_s).reason is Reason.AGE


def test_a_pair_unlike_all_measured_ones_comes_before_one_like_them() -> None:
    hosts = tuple(
        Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=1e9, tags=("a" if n < 3 else "b",))
        for n in range(4)
    )
    planner, now_s = planner_of(a_fleet(4, hosts=hosts)), START_S
    kinds = []
    for _ in range(12):
        turn = turn_of(planner, now_s)
        kinds.append(("ab"[turn.source == 3], "ab"[turn.destination == 3]))
        now_s += 40
        finish(planner, turn, now_s)
    assert set(kinds[:3]) == {("a", "a"), ("a", "b"), ("b", "a")}


def test_a_pair_that_resembles_others_is_due_later_than_one_that_does_not() -> None:
    planner, now_s = planner_of(a_fleet(4)), START_S
    odd = None
    for number in range(12):
        turn = turn_of(planner, now_s)
        now_s += 40
        if number == 6:
            odd = (turn.source, turn.destination)
        finish(planner, turn, now_s, rate_bps=1e7 if number == 6 else 1e9)
    order = []
    while len(order) < 12:
        found = planner.next(now_s)
        if isinstance(found, Wait):
            now_s = found.until_s
            continue
        order.append((found.source, found.destination))
        now_s += 40
        finish(planner, found, now_s)
    assert order.index(odd) < 3  # with the first two, which resembled nothing when measured


def test_a_suspected_change_is_looked_at_after_an_hour_ahead_of_all_others() -> None:
    planner, now_s = planner_of(a_fleet(4)), START_S
    turn = turn_of(planner, now_s)
    planner.finished(turn, Result(1e6, 5e8, 0.01, "suspected"), now_s + 40)
    again = turn_of(planner, now_s + 40 + 3600)
    assert (again.source, again.destination) == (turn.source, turn.destination)
    assert again.reason is Reason.SUSPECTED


def test_a_pair_that_changes_all_the_time_is_checked_four_times_in_succession() -> None:
    planner, now_s = planner_of(a_fleet(2)), START_S
    reasons = []
    while now_s < START_S + 0.8 * DAY_S:
        found = planner.next(now_s)
        if isinstance(found, Wait):
            now_s = found.until_s
        elif found.source == 0:
            reasons.append(found.reason)
            planner.finished(found, Result(1e6, 5e8, 0.01, "changed"), now_s)
        else:
            finish(planner, found, now_s)
    assert reasons == [Reason.NEVER, *[Reason.CHANGED] * 4]


def test_planned_traffic_is_preceded_by_a_measurement_within_a_day() -> None:
    at_s = START_S + 10 * DAY_S
    everyone = tuple(range(3))
    task = Task(
        name="m", what="advice", blocks=((everyone, everyone),), every_s=90 * DAY_S, budget_s=30.0
    )
    planned = (PlannedTraffic(source=2, destination=1, at_s=at_s),)
    planner, now_s = planner_of(a_fleet(3, tasks=(task,), planned=planned)), START_S
    turns = []
    while now_s < at_s:
        found = planner.next(now_s)
        if isinstance(found, Turn):
            turns.append((now_s, found))
            now_s += 40
            finish(planner, found, now_s)
        else:
            now_s = found.until_s
    [last] = [(t, turn) for t, turn in turns if turn.reason is Reason.PLANNED]
    assert last[1][1:3] == (2, 1)
    assert at_s - DAY_S <= last[0] < at_s


# -- failures ---------------------------------------------------------------------------------


def test_a_host_that_is_down_does_not_hold_up_others() -> None:
    planner, now_s = planner_of(a_fleet(4)), START_S
    measured = set()
    attempts = 0
    while now_s < START_S + 3 * 3600:
        found = planner.next(now_s)
        if isinstance(found, Wait):
            now_s = found.until_s
            continue
        now_s += 30
        if 0 in (found.source, found.destination):
            attempts += 1
            planner.failed(found, now_s, unreachable=0)
        else:
            measured.add((found.source, found.destination))
            finish(planner, found, now_s)
    assert len(measured) == 6
    assert attempts == 4  # after 15, 30 and 60 minutes


def test_a_pair_that_always_fails_leaves_the_other_pairs_of_its_hosts_alone() -> None:
    """A firewall between two hosts makes each of them look as if it were down to the other."""
    planner, now_s = planner_of(a_fleet(3)), START_S
    measured = set()
    while now_s < START_S + DAY_S / 2:
        found = planner.next(now_s)
        if isinstance(found, Wait):
            now_s = found.until_s
            continue
        now_s += 30
        if (found.source, found.destination) == (0, 1):
            planner.failed(found, now_s, unreachable=1)
        else:
            measured.add((found.source, found.destination))
            finish(planner, found, now_s)
    assert len(measured) == 5


# -- what is known when planning begins -------------------------------------------------------


class OneByOne(Planner):
    """Learns what is known as if it came in now, one result after the other."""

    def _learn_pairs(self, pairs: Sequence[KnownPair]) -> None:
        for pair in pairs:
            where = pair.task, pair.source, pair.destination
            if self.due_s(*where) == float("inf"):
                continue
            self._checks[pair.task][where[1:]] = min(pair.checks, RECHECKS)
            if pair.last_s is not None:
                self._measured(*where, pair.last_s, pair.rate_bps, pair.rtt_s, pair.news)
            if pair.failures:
                self._failures[pair.task][where[1:]] = min(pair.failures, 255) - 1
                self._fail_pair(*where, pair.failed_s)


@st.composite
def known_pairs(draw: st.DrawFn, hosts: int, tasks: int) -> list[KnownPair]:
    """Some pairs in any order, also of those that belong to the fleet no more."""
    every = [(t, a, b) for t in range(tasks) for a in range(hosts) for b in range(hosts)]
    chosen = draw(st.lists(st.sampled_from(every), unique=True, max_size=12))
    ages_s = st.none() | st.floats(0.0, 3 * DAY_S)
    found = []
    for task, source, destination in chosen:
        age_s = draw(ages_s)
        found.append(
            KnownPair(
                task=task,
                source=source,
                destination=destination,
                last_s=None if age_s is None else START_S + 3 * DAY_S - age_s,
                failures=draw(st.sampled_from([0, 0, 0, 1, 5, 300])),
                failed_s=START_S + draw(st.floats(0.0, 3 * DAY_S)),
                rate_bps=draw(st.none() | st.floats(1e6, 1e11)),
                rtt_s=draw(st.none() | st.floats(1e-4, 0.5)),
                news=draw(st.sampled_from(["none", "none", "suspected", "changed"])),
                checks=draw(st.sampled_from([0, 0, 1, 4, 9])),
            )
        )
    return found


def decisions(planner: Planner, steps: int, rng: np.random.Generator) -> list[Turn | Wait]:
    """What it decides, with results that are the same for the same generator."""
    now_s, running, found = START_S + 3 * DAY_S, [], []
    for _ in range(steps):
        one = planner.next(now_s)
        found.append(one)
        if isinstance(one, Turn):
            running.append(one)
        elif running:
            now_s += 60.0
            rates = rng.uniform(1e8, 1e9), rng.uniform(0.01, 0.02)
            planner.finished(running.pop(0), Result(1e6, *rates), now_s)
        elif one.until_s < float("inf"):
            now_s = one.until_s
    return found


@given(st.data())
def test_learning_all_pairs_at_once_decides_as_learning_one_after_the_other(
    data: st.DataObject,
) -> None:
    number = data.draw(st.integers(2, 5))
    tags = data.draw(st.lists(st.sampled_from([(), ("x",)]), min_size=number, max_size=number))
    hosts = tuple(
        Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=1e9, tags=tag) for n, tag in enumerate(tags)
    )
    everyone, half = tuple(range(number)), tuple(range(0, number, 2))
    tasks = tuple(
        Task(name=name, what="advice", blocks=(ends,), every_s=every_s, budget_s=30.0)
        for name, ends, every_s in (
            ("mesh", (everyone, everyone), DAY_S),
            ("half", (half, everyone), DAY_S / 2),
        )
    )
    fleet = a_fleet(number, hosts=hosts, tasks=tasks, limits=Limits(share_per_day=1.0))
    known = Known(pairs=data.draw(known_pairs(number, len(tasks))))
    planners = [
        kind(fleet, START_S, np.random.default_rng(1), known) for kind in (Planner, OneByOne)
    ]
    for task in range(len(tasks)):
        for a in everyone:
            for b in everyone:
                at_once, in_turn = (planner.due_s(task, a, b) for planner in planners)
                # To the last digits of a double: logarithms are rounded in different ways.
                assert at_once == in_turn or abs(at_once - in_turn) < 1e-5
    first, second = (decisions(one, 30, np.random.default_rng(2)) for one in planners)
    assert [one[:4] for one in first if isinstance(one, Turn)] == [
        one[:4] for one in second if isinstance(one, Turn)
    ]


def test_a_large_mesh_that_is_measured_decides_the_same_after_learning_at_once() -> None:
    """Of one kind of pairs, so that averages forget; a third was never measured."""
    rng = np.random.default_rng(3)
    pairs = [
        KnownPair(
            task=0,
            source=a,
            destination=b,
            last_s=START_S + rng.uniform(0.0, 3 * DAY_S),
            rate_bps=rng.uniform(1e8, 1e9),
            rtt_s=rng.uniform(0.01, 0.1),
        )
        for a in range(40)
        for b in range(40)
        if a != b and rng.random() < 2 / 3
    ]
    planners = [
        kind(a_fleet(40), START_S, np.random.default_rng(1), Known(pairs=pairs))
        for kind in (Planner, OneByOne)
    ]
    for a in range(40):
        for b in range(40):
            at_once, in_turn = (planner.due_s(0, a, b) for planner in planners)
            assert at_once == in_turn or abs(at_once - in_turn) < 1e-5
    found = [decisions(one, 400, np.random.default_rng(2)) for one in planners]
    assert sum(isinstance(one, Turn) for one in found[0]) > 100
    assert [one[:3] for one in found[0]] == [one[:3] for one in found[1]]


def test_a_new_planner_goes_on_where_another_ended() -> None:
    pairs = [
        KnownPair(task=0, source=a, destination=b, last_s=START_S - 60)
        for a in range(3)
        for b in range(3)
        if a != b and (a, b) != (2, 0)
    ]
    planner = planner_of(a_fleet(3), Known(pairs=pairs))
    assert turn_of(planner, START_S)[1:3] == (2, 0)
    assert isinstance(planner.next(START_S), Wait)


def test_what_is_held_by_others_is_not_handed_out() -> None:
    planner = planner_of(a_fleet(3), Known(held=[0]))
    assert set(turn_of(planner, START_S)[1:3]) == {1, 2}
    assert planner.next(START_S) == Wait(float("inf"))
    planner.free(0, START_S)
    assert isinstance(planner.next(START_S), Wait)  # the other two are in use


def test_measurements_of_others_count_for_the_bound_of_the_fleet() -> None:
    fleet = a_fleet(4, limits=Limits(share_per_day=0.05, at_once=2))
    planner = planner_of(fleet, Known(running=1))
    assert isinstance(planner.next(START_S), Turn)
    assert planner.next(START_S) == Wait(float("inf"))


def test_a_resource_that_others_fill_is_not_used() -> None:
    uplink = Resource(name="up", members=frozenset({0, 1}), at_once=1)
    planner = planner_of(a_fleet(3, resources=(uplink,)), Known(resources={0: 1}))
    assert set(turn_of(planner, START_S)[1:3]) == {0, 1}
    assert isinstance(planner.next(START_S), Wait)


def test_traffic_of_the_last_day_counts() -> None:
    fleet = a_fleet(2, limits=Limits(share_per_day=0.001))  # 86 s at full rate
    full = fleet.bound_bytes(1e9)
    traffic = [KnownTraffic(source=0, destination=1, ended_s=START_S - 3600, moved_bytes=full)]
    planner = planner_of(fleet, Known(traffic=traffic))
    assert planner.next(START_S) == Wait(START_S - 3600 + DAY_S)


def test_a_failure_before_is_waited_for() -> None:
    failed = KnownPair(task=0, source=0, destination=1, failures=2, failed_s=START_S - 60)
    everyone = ((0,), (1,))
    task = Task(name="m", what="path", blocks=(everyone,), every_s=DAY_S, budget_s=1.0)
    planner = planner_of(a_fleet(2, tasks=(task,)), Known(pairs=[failed]))
    assert planner.next(START_S) == Wait(START_S - 60 + 1800)
    assert turn_of(planner, START_S + 1740).reason is Reason.RETRY


def test_quiet_hours_are_kept_free_with_the_time_that_a_measurement_takes() -> None:
    quiet = QuietHours("UTC", (Window(tuple(range(7)), 8 * 60, 18 * 60),))
    hosts = tuple(
        Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=1e9, quiet=quiet if n else None)
        for n in range(2)
    )
    planner = planner_of(a_fleet(2, hosts=hosts))
    morning_s = START_S - START_S % DAY_S + 8 * 3600 + DAY_S
    assert planner.next(morning_s - 80) == Wait(morning_s + 10 * 3600)
    assert isinstance(planner.next(morning_s + 10 * 3600), Turn)


def test_everything_is_held_in_one_order() -> None:
    uplinks = (
        Resource(name="z", members=frozenset({0}), at_once=1),
        Resource(name="b", members=frozenset({1}), at_once=1),
    )
    fleet = a_fleet(3, resources=uplinks)
    expected = ["resource b", "resource z", "host h0", "host h1"]
    assert fleet.holds(0, 1) == fleet.holds(1, 0) == expected
    assert fleet.holds(1, 2) == ["resource b", "host h1", "host h2"]


def test_zones_put_hosts_with_the_same_resources_together() -> None:
    behind = [(n % 2 == 0,) for n in range(100)]
    zones = Zones(behind, [n % 4 for n in range(100)])
    assert sorted(zones.host) == list(range(100))
    for places, signature in zip(zones.places, zones.signature, strict=True):
        assert {behind[host] for host in zones.host[places]} == {signature}


def test_hosts_behind_the_same_resources_have_one_signature() -> None:
    uplink = Resource(name="up", members=frozenset({0, 2}), at_once=1)
    assert signatures(a_fleet(3, resources=(uplink,))) == [(True,), (False,), (True,)]


@pytest.mark.parametrize(("failures", "wait_s"), [(1, 900), (2, 1800), (7, 43_200), (200, 43_200)])
def test_retries_wait_twice_as_long_each_time_up_to_a_limit(failures: int, wait_s: float) -> None:
    assert retry_after_s(failures, 900, 43_200) == wait_s
