"""The connections that a user names by interfaces or addresses at both ends."""

import ipaddress
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from advisor.agent.connect import Reached
from advisor.agent.peer_errors import PeerError
from advisor.domain.connection import HostInterface
from advisor.domain.problem import ProblemError
from advisor.hosts.interfaces import holder_of
from advisor.hosts.source_address import NoSourceAddress, chosen_source, device_to
from advisor.runtime.connections import OLDER
from advisor.runtime.request import ConnectionOptions

_Request = TypeVar("_Request", bound=ConnectionOptions)


class NoInterface(ProblemError, ValueError):
    """The far end has no such interface; the message says which it has."""


async def requests_over(
    reached: Reached, request: _Request, pairs: Sequence[tuple[str, str]]
) -> list[_Request]:
    """The request once for each pair, with the two addresses that data go between.

    Of an interface the first address counts over which the kernel sends by the own one, IPv4
    before IPv6. Raises PeerError, NoSourceAddress, NoInterface.
    """
    far = (await reached.link.facts(reached.address)).interfaces
    if far is None:
        raise PeerError(f"--interfaces: {OLDER}")
    made = []
    for here, there in pairs:
        source, destination = await _addresses(here, _far_addresses(there, far))
        made.append(
            msgspec.structs.replace(
                request, source_address=source, interface=None, address=destination
            )
        )
    return made


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _far_addresses(there: str, far: Sequence[HostInterface]) -> list[str]:
    if _is_address(there):
        return [there]
    found = [address for one in far if one.name == there for address in one.addresses]
    if not found:
        names = ", ".join(one.name for one in far if one.addresses) or "none"
        raise NoInterface(
            f"--interfaces: the destination has no interface '{there}' with an address",
            remedy=f"those it has: {names}",
        )
    return sorted(found, key=lambda address: ":" in address)


async def _addresses(here: str, destinations: Sequence[str]) -> tuple[str, str]:
    """The own address and that of the far end. Raises NoSourceAddress as of the first one."""
    problems = []
    for destination in destinations:
        try:
            return await _source(here, destination), destination
        except NoSourceAddress as problem:
            problems.append(problem)
    raise problems[0]


async def _source(here: str, destination: str) -> str:
    by_address = _is_address(here)
    source = await chosen_source(
        destination, here if by_address else None, None if by_address else here
    )
    assert source is not None
    if (":" in source) != (":" in destination):
        raise NoSourceAddress(
            f"--interfaces: {source} and {destination} are of different families",
            remedy="give two IPv4 or two IPv6 addresses",
        )
    # An interface was checked for this already.
    device = await device_to(destination, source) if by_address else None
    if device not in (None, holder_of(source)):
        raise NoSourceAddress(
            f"packets from {source} to {destination} leave by {device}, not by the interface that "
            f"has {source}",
            remedy=f"give another pair, or add a routing rule for {source}",
        )
    return source
