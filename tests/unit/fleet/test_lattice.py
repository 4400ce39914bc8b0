"""The search for the next turn, and what puts hosts together."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.fleet.plan.fleet import Resource, signatures
from advisor.fleet.plan.lattice import BLOCKED, Lattice, Zones
from tests.unit.fleet.planned import a_fleet


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
