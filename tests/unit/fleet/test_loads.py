"""What measurements take of shared resources: as little as it is, and the same for all who ask."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.configuration.reading import BadFleet, decoded
from advisor.fleet.configuration.resolving import resolved
from advisor.fleet.plan.fleet import DAY_S, Fleet, Host, Limits, Resource, Task
from advisor.fleet.plan.loads import resource_loads
from advisor.fleet.plan.turns import Turn

from .planned import START_S, planner_of

HOSTS = 5
SOME = st.lists(st.integers(0, HOSTS - 1), min_size=1, unique=True)


@st.composite
def fleets(draw: st.DrawFn) -> Fleet:
    rates = st.sampled_from([1e8, 1e9, 2e9, 1e10])
    blocks = draw(st.lists(st.tuples(SOME.map(tuple), SOME.map(tuple)), min_size=1, max_size=2))
    what = draw(st.sampled_from(["advice", "path"]))
    task = Task(name="m", what=what, blocks=tuple(blocks), every_s=DAY_S, budget_s=100.0)
    resource = Resource(
        name="up",
        members=frozenset(draw(SOME)),
        at_once=1,
        bandwidth_bps=1e9,
        inside=draw(st.booleans()),
    )
    hosts = tuple(
        Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=draw(rates)) for n in range(HOSTS)
    )
    limits = Limits(share_per_day=1.0)
    return Fleet(hosts=hosts, tasks=(task,), limits=limits, resources=(resource,))


@given(fleets())
def test_it_is_that_of_the_fastest_pair_that_uses_the_resource(fleet: Fleet) -> None:
    [task], [resource] = fleet.tasks, fleet.resources
    used = [fleet.rate_bps(*pair) for pair in task.pairs() if resource.is_used(*pair)]
    assert resource_loads(fleet, task) == [task.most_bytes(max(used)) if used else None]


def described(measured: str, inside: str = "false") -> str:
    """Two slow hosts and a fast one behind a thin uplink, and one elsewhere."""
    return f"""
        [hosts.slow]
        bandwidth = "100Mbit"
        [hosts.slow2]
        bandwidth = "100Mbit"
        [hosts.fast]
        bandwidth = "100Gbit"
        [hosts.far]
        bandwidth = "100Gbit"
        [hosts.farther]
        bandwidth = "100Gbit"
        [resources.up]
        hosts = ["slow", "slow2", "fast"]
        at-once = 2
        bandwidth = "100Mbit"
        inside = {inside}
        [measure.m]
        what = "advice"
        every = "1d"
        budget = "10s"
        {measured}
        """


def pairs(source: str, destination: str) -> str:
    return f'between = "pairs"\nsources = ["{source}"]\ndestinations = ["{destination}"]'


@pytest.mark.parametrize(
    ("measured", "inside"),
    [
        # The fast host behind it is not measured.
        (pairs("slow", "far"), "false"),
        (pairs("far", "slow"), "true"),
        # The fast host is measured, over its slow peer's link.
        (pairs("fast", "slow"), "true"),
        # What is measured does not use it.
        (pairs("far", "farther"), "true"),
        ('between = "mesh"\nhosts = ["slow", "fast"]', "false"),
    ],
)
def test_what_is_accepted_is_begun(measured: str, inside: str) -> None:
    fleet = resolved(decoded(described(measured, inside).encode()))
    planner = planner_of(fleet)
    assert isinstance(planner.next(START_S), Turn)


@pytest.mark.parametrize(
    ("measured", "inside"),
    [
        (pairs("fast", "far"), "false"),
        (pairs("far", "fast"), "true"),
        ('between = "mesh"', "false"),
    ],
)
def test_what_could_never_begin_is_refused(measured: str, inside: str) -> None:
    with pytest.raises(BadFleet, match=r"resources\.up"):
        resolved(decoded(described(measured, inside).encode()))
