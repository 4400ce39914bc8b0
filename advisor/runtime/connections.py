"""Which connections join this host and the far one: own interface and address to those there."""

import asyncio
import secrets
from collections.abc import Sequence
from typing import Final, NamedTuple

from advisor.agent.client import AgentLink
from advisor.agent.connect import Reached
from advisor.agent.peer_errors import Refusal
from advisor.domain.connection import Connection, HostInterface, UsableConnection
from advisor.hosts.interfaces import data_interfaces
from advisor.hosts.kernel_path_mtu import kernel_path_mtu
from advisor.hosts.path_mtu import UdpBlocked, probe_path_mtu
from advisor.hosts.rtt import Unreachable, measure_rtt
from advisor.hosts.source_address import device_to

_ROUND_TRIPS: Final = 3
_ANSWER_S: Final = 1.0
_MOST: Final = 64
_AT_ONCE: Final = 8

OLDER: Final = (
    "the agent there is of an older version, which does not report its interfaces: install the "
    "same version on both hosts"
)


class Connections(NamedTuple):
    """Those that can be used, and sentences on what is not among them."""

    found: list[UsableConnection]
    notes: list[str]


class _End(NamedTuple):
    interface: HostInterface | None
    address: str

    @property
    def is_ipv6(self) -> bool:
        return ":" in self.address


async def usable_connections(reached: Reached) -> Connections:
    """The connections by whose interface the kernel would send, and over which the host answers.

    Sends a few packets over each. Raises PeerError.
    """
    far = (await reached.link.facts(reached.address)).interfaces
    if far is None:
        return Connections([], [f"Not looked for: {OLDER}."])
    ours, theirs = _ends(data_interfaces()), _ends(far)
    if reached.address not in {end.address for end in theirs}:
        theirs.insert(0, _End(None, reached.address))  # As with NAT.
    own = {end.address for end in ours}
    pairs = [
        (one, other)
        for one in ours
        for other in theirs
        if one.is_ipv6 == other.is_ipv6 and other.address not in own
    ]
    notes = []
    if len(pairs) > _MOST:
        notes.append(f"Only the first {_MOST} of {len(pairs)} pairs of addresses were looked at.")
    limit = asyncio.Semaphore(_AT_ONCE)
    looking = (_round_trip(reached, one, other, limit) for one, other in pairs[:_MOST])
    answers = list(zip(pairs, await asyncio.gather(*looking), strict=False))
    found = [
        await _examined(reached.link, one, other, answer)
        for (one, other), answer in answers
        if isinstance(answer, float)
    ]
    if silent := sum(isinstance(answer, Unreachable) for _, answer in answers):
        notes.append(f"Not listed: {silent} to addresses that do not answer.")
    return Connections(found, notes)


def _ends(interfaces: Sequence[HostInterface]) -> list[_End]:
    return [_End(one, address) for one in interfaces for address in one.addresses]


async def _round_trip(
    reached: Reached, own: _End, far: _End, limit: asyncio.Semaphore
) -> float | Unreachable | None:
    """The RTT in seconds, or no answer; None where the kernel would send by another interface."""
    async with limit:
        device = await device_to(far.address, own.address)
        if own.interface is None or device != own.interface.name:
            return None
        ports = reached.answering_ports
        try:
            found = await measure_rtt(
                far.address, ports, _ROUND_TRIPS, _ANSWER_S, bound=own.address
            )
        except Unreachable as unreachable:
            return unreachable
        return found.rtt_s


async def _examined(link: AgentLink, own: _End, far: _End, rtt_s: float) -> UsableConnection:
    """It with its path MTU; an echo proves that the agent's own host has that address."""
    caution, token = "", secrets.token_hex(16)
    mtu_bytes = own.interface.mtu_bytes if own.interface else 0
    try:
        mtu_bytes = kernel_path_mtu(far.address, own.address)
        port = await link.open_echo(own.address, token, own.address)
        try:
            mtu_bytes = await probe_path_mtu(far.address, port, token, mtu_bytes, own.address)
        finally:
            await link.close_echo()
    except (Refusal, UdpBlocked, OSError):
        caution = "no echo by UDP: it may be another host, and the MTU is the kernel's"
    return UsableConnection(
        connection=Connection(
            source_address=own.address,
            destination_address=far.address,
            source_interface=own.interface.name if own.interface else None,
            destination_interface=far.interface.name if far.interface else None,
            link_bps=_slower(own.interface, far.interface),
        ),
        mtu_bytes=mtu_bytes,
        rtt_s=rtt_s,
        caution=caution,
    )


def _slower(*interfaces: HostInterface | None) -> float | None:
    return min((one.link_bps for one in interfaces if one and one.link_bps), default=None)
