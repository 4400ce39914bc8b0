"""What is due when, and what failures change."""

from typing import Any

import pytest

from advisor.fleet.plan.fleet import DAY_S, Host, PlannedTraffic, Task
from advisor.fleet.plan.planner import Planner
from advisor.fleet.plan.quiet_hours import QuietHours, Window
from advisor.fleet.plan.turns import Reason, Result, Turn, Wait
from advisor.fleet.plan.worth import retry_after_s
from tests.unit.fleet.planned import START_S, a_fleet, planner_of, turn_of

ONE_PAIR = Task(name="one", what="advice", blocks=(((0,), (1,)),), every_s=DAY_S, budget_s=30.0)


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


def test_a_pair_that_failed_waits_longer_each_time_until_it_succeeds() -> None:
    planner, now_s = planner_of(a_fleet(2, tasks=(ONE_PAIR,))), START_S
    waits_s = []
    for fails in (True, True, True, False, True):
        turn = turn_of(planner, now_s)
        if fails:
            planner.failed(turn, now_s)
        else:
            finish(planner, turn, now_s)
        found = planner.next(now_s)
        assert isinstance(found, Wait)
        waits_s.append(found.until_s - now_s)
        now_s = found.until_s
    assert waits_s[:3] == [900, 1800, 3600]
    assert waits_s[3] > DAY_S / 2
    assert waits_s[4] == 900


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


@pytest.mark.parametrize(("failures", "wait_s"), [(1, 900), (2, 1800), (7, 43_200), (200, 43_200)])
def test_retries_wait_twice_as_long_each_time_up_to_a_limit(failures: int, wait_s: float) -> None:
    assert retry_after_s(failures, 900, 43_200) == wait_s
