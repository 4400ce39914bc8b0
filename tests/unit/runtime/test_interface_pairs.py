"""Pairs of interfaces become pairs of addresses, or one clear sentence."""

import asyncio
from typing import Any, cast

import pytest

from advisor.agent import messages as m
from advisor.agent.client import AgentLink
from advisor.agent.connect import Reached
from advisor.agent.peer_errors import PeerError
from advisor.domain.connection import HostInterface
from advisor.domain.endpoints import Endpoint
from advisor.runtime.connections import usable_connections
from advisor.runtime.interface_pairs import NoInterface, requests_over
from advisor.runtime.request import AdviceRequest
from advisor.testing.samples import a_host

REQUEST = AdviceRequest(destination=Endpoint("dtn2"))


class LinkWith:
    """An agent that tells these interfaces."""

    def __init__(self, interfaces: list[HostInterface] | None) -> None:
        self.said = m.Facts(facts=a_host(), transports=["tcp"], interfaces=interfaces)

    async def facts(self, facing: str) -> m.Facts:
        return self.said


def reached(interfaces: list[HostInterface] | None) -> Reached:
    return Reached(cast(AgentLink, LinkWith(interfaces)), "127.0.0.1", ())


def interface(name: str, *addresses: str, **changes: Any) -> HostInterface:
    known: dict[str, Any] = {"mtu_bytes": 1500, "link_bps": None}
    return HostInterface(name=name, addresses=list(addresses), **(known | changes))


def test_an_older_agent_gets_one_clear_sentence() -> None:
    with pytest.raises(PeerError, match="--interfaces: the agent there is of an older version"):
        asyncio.run(requests_over(reached(None), REQUEST, [("lo", "eth1"), ("lo", "eth2")]))
    found = asyncio.run(usable_connections(reached(None)))
    assert found.found == []
    assert "older version" in found.notes[0]


def test_an_interface_there_is_one_of_those_it_told() -> None:
    far = [interface("eth1", "127.0.0.2"), interface("eth2", "127.0.0.3")]
    with pytest.raises(NoInterface, match=r"no interface 'eth3'.*eth1, eth2"):
        asyncio.run(requests_over(reached(far), REQUEST, [("lo", "eth3")]))


def test_addresses_replace_what_was_chosen() -> None:
    far = [interface("eth1", "::1", "127.0.0.2")]
    pairs = [("127.0.0.1", "eth1"), ("lo", "127.0.0.3"), ("::1", "eth1")]
    # Of an interface, the first address that the own one reaches.
    first, second = asyncio.run(requests_over(reached(far), REQUEST, pairs[:2]))
    assert (first.source_address, first.address) == ("127.0.0.1", "127.0.0.2")
    assert (second.source_address, second.address) == ("127.0.0.1", "127.0.0.3")
    assert second.interface is None
    [third] = asyncio.run(requests_over(reached(far), REQUEST, pairs[2:]))
    assert (third.source_address, third.address) == ("::1", "::1")
