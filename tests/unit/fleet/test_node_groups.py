"""Nodes of a transfer by groups of a fleet."""

import pytest

from advisor.domain.endpoints import Endpoint
from advisor.domain.nodes import FleetNodes, node_pair
from advisor.fleet.configuration.reading import BadFleet
from advisor.fleet.nodes.groups import nodes_of_fleet
from tests.fleet_at_work import described

CONTENT = (
    described("a", "b", "c", "x", "y").replace(
        "[hosts.b]", '[hosts.b]\nreach = "me@b.example.org"\ntags = ["fast"]'
    )
    + """
[groups.senders]
hosts = ["a", "b", "c"]
[groups.receivers]
hosts = ["x", "y"]
"""
)


def test_each_source_has_a_destination_in_turn() -> None:
    found = nodes_of_fleet(CONTENT, FleetNodes("@senders", "@receivers"))
    assert found == [node_pair("a", "x"), node_pair("me@b.example.org", "y"), node_pair("c", "x")]


def test_groups_go_with_what_is_typed() -> None:
    assert nodes_of_fleet(CONTENT, FleetNodes("@receivers", "")) == [
        node_pair("x", ""),
        node_pair("y", ""),
    ]
    [one] = nodes_of_fleet(CONTENT, FleetNodes("@tag:fast", "ftp://there:2811"))
    assert (one.source, one.server_url) == (Endpoint("b.example.org", "me"), "ftp://there:2811")


@pytest.mark.parametrize("name", ["@sender", "@tag:slow"])
def test_a_name_of_nothing_is_said_so(name: str) -> None:
    with pytest.raises(BadFleet, match="there is no"):
        nodes_of_fleet(CONTENT, FleetNodes(name, ""))


def test_a_configuration_that_cannot_be_used_is_said_so() -> None:
    with pytest.raises(BadFleet):
        nodes_of_fleet("x", FleetNodes("@senders", ""))
