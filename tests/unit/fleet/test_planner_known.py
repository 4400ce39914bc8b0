"""What a planner makes of what is known when it begins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.plan.fleet import DAY_S, Host, Limits, Resource, Task
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.turns import Known, KnownPair, KnownTraffic, Reason, Result, Turn, Wait
from advisor.fleet.plan.worth import RECHECKS
from tests.unit.fleet.planned import START_S, a_fleet, planner_of, turn_of


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
            if pair.gave_way:
                self._gave_way(pair)


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
                gave_way=draw(st.sampled_from([0, 0, 0, 1, 5, 300])),
                gave_way_s=START_S + draw(st.floats(0.0, 3 * DAY_S)),
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


def test_a_new_planner_resumes_where_another_ended() -> None:
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


def test_a_pair_that_gave_way_comes_after_others_of_its_hosts() -> None:
    """Each time in succession it waits twice as long, up to the longest retry."""
    fleet = a_fleet(2)
    for gave_way, wait_s in ((1, 60.0), (2, 120.0), (5, 960.0), (1000, 12 * 3600.0)):
        pair = KnownPair(
            task=0, source=0, destination=1, gave_way=gave_way, gave_way_s=START_S + 10.0
        )
        planner = planner_of(fleet, Known(pairs=[pair]))
        assert planner.due_s(0, 0, 1) == START_S + 10.0 + wait_s
        first = turn_of(planner, START_S + 10.0 + wait_s + 1.0)
        assert first[1:3] == (1, 0)
        assert first.reason is Reason.NEVER
        planner.finished(first, Result(0.0, 1e9, 0.01), START_S + 10.0 + wait_s + 2.0)
        again = turn_of(planner, START_S + 10.0 + wait_s + 3.0)
        assert again[1:3] == (0, 1)
        assert again.reason is Reason.NEVER


@pytest.mark.parametrize(
    ("ended", "wait_s"),
    [
        ({"gave_way": 2, "gave_way_s": START_S + 5000.0}, 120.0),
        ({"failures": 2, "failed_s": START_S + 5000.0}, 1800.0),
    ],
)
def test_what_is_urgent_waits_after_an_attempt_without_a_result(
    ended: dict[str, Any], wait_s: float
) -> None:
    pair = KnownPair(
        task=0, source=0, destination=1, last_s=START_S, rate_bps=1e9, news="suspected", **ended
    )
    other = KnownPair(task=0, source=1, destination=0, last_s=START_S + 4000.0, rate_bps=1e9)
    planner = planner_of(a_fleet(2), Known(pairs=[pair, other]))
    assert isinstance(planner.next(START_S + 5001.0), Wait)
    found = planner.next(START_S + 5000.0 + wait_s - 1.0)
    assert found == Wait(START_S + 5000.0 + wait_s)
    turn = turn_of(planner, START_S + 5000.0 + wait_s)
    assert (turn[1:3], turn.reason) == ((0, 1), Reason.SUSPECTED)
