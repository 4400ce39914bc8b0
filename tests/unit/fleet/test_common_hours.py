"""Pairs whose quiet hours leave no time in common are refused; no others are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.configuration.checking import checked
from advisor.fleet.configuration.reading import BadFleet, decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.common_hours import CommonHours
from advisor.fleet.plan.fleet import DAY_S, Fleet, Host, Task
from advisor.fleet.plan.quiet_hours import QuietHours, Window
from advisor.fleet.plan.turns import Turn

from .planned import START_S, a_fleet, planner_of

ENDS = ((0,), (1,))


def pair_of(one: QuietHours | None, other: QuietHours | None, budget_s: float = 30.0) -> Fleet:
    hosts = tuple(
        Host(name=name, reach=name, bandwidth_bps=1e9, quiet=quiet)
        for name, quiet in (("a", one), ("b", other))
    )
    task = Task(name="m", what="path", blocks=(ENDS,), every_s=DAY_S, budget_s=budget_s)
    return a_fleet(hosts=hosts, tasks=(task,))


def quiet(*texts: str, zone: str = "UTC") -> QuietHours:
    return QuietHours(zone, tuple(map(Window.parse, texts)))


def is_ever_begun(fleet: Fleet, days: float) -> bool:
    """Whether the planner begins the pair within these days."""
    planner, now_s = planner_of(fleet), START_S
    while now_s < START_S + days * DAY_S:
        found = planner.next(now_s)
        if isinstance(found, Turn):
            return True
        now_s = found.until_s
    return False


WINDOWS = st.builds(
    Window,
    st.sets(st.integers(0, 6), min_size=1).map(lambda days: tuple(sorted(days))),
    st.integers(0, 23).map(lambda hour: hour * 60),
    st.integers(1, 24).map(lambda hour: hour * 60),
)
HOURS = st.builds(
    QuietHours,
    st.sampled_from(["UTC", "Asia/Kolkata", "Pacific/Kiritimati", "Pacific/Pago_Pago"]),
    st.lists(WINDOWS, min_size=1, max_size=12).map(tuple),
)


@given(HOURS, st.none() | HOURS, st.sampled_from([60.0, 3539.0, 3540.0, 3541.0, 40_000.0]))
def test_a_pair_is_refused_if_the_planner_would_never_begin_it(
    one: QuietHours, other: QuietHours | None, budget_s: float
) -> None:
    fleet = pair_of(one, other, budget_s)
    found = CommonHours(fleet).without(fleet.tasks[0])
    assert (found is None) == is_ever_begun(fleet, 15)
    assert found in (None, (0, 1))


@pytest.mark.parametrize(
    ("zone", "other", "hours", "fits"),
    [
        ("Europe/Berlin", "Europe/Paris", "20:00-08:00", False),
        # As long as it is summer there.
        ("Europe/Berlin", "UTC", "19:00-07:00", True),
        # In the weeks in which one of both alone has changed its clocks.
        ("Europe/Berlin", "America/New_York", "14:00-02:00", True),
        ("Asia/Kolkata", "Asia/Kathmandu", "20:15-08:15", False),
    ],
)
def test_all_seasons_count(zone: str, other: str, hours: str, fits: bool) -> None:
    fleet = pair_of(quiet("08:00-20:00", zone=zone), quiet(hours, zone=other))
    assert (CommonHours(fleet).without(fleet.tasks[0]) is None) == fits
    assert is_ever_begun(fleet, 366) == fits


FILE = """
[hosts.a]
bandwidth = "1Gbit"
quiet-hours = ["08:00-20:00"]
time-zone = "Europe/Berlin"
[hosts.b]
bandwidth = "1Gbit"
quiet-hours = ["Mon-Fri 20:00-08:00", "Sat,Sun 20:00-08:00"]
time-zone = "Europe/Berlin"
[hosts.c]
bandwidth = "1Gbit"
[measure.m]
what = "path"
between = "mesh"
every = "1d"
budget = "30s"
"""
SENTENCE = (
    "measure.m: hosts.a (quiet 08:00-20:00 Europe/Berlin) and hosts.b (quiet Mon-Fri 20:00-08:00, "
    "Sat-Sun 20:00-08:00 Europe/Berlin) are never both free for the 1 min 30 s that a measurement "
    "may take: shorten the quiet hours of one, or leave the pair out"
)


def test_the_sentence_names_both_hosts_with_their_hours() -> None:
    with pytest.raises(BadFleet) as wrong:
        checked(decoded(FILE.encode()))
    assert str(wrong.value) == SENTENCE


@pytest.mark.parametrize(
    "between",
    [
        'between = "hub-and-spokes"\nhubs = ["c"]\nspokes = ["all"]',
        'between = "pairs"\nsources = ["a"]\ndestinations = ["a", "c"]',
    ],
)
def test_hosts_that_are_not_measured_with_each_other_need_no_time_in_common(between: str) -> None:
    checked(decoded(FILE.replace('between = "mesh"', between).encode()))


def test_a_fleet_that_is_in_force_is_not_stopped_for_it() -> None:
    assert len(resolved(decoded(FILE.encode())).hosts) == 3
