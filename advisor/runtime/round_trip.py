"""Measures the round-trip time to an agent's host, without privileges and open ports.

ICMP echoes where allowed, else TCP handshakes, else the connection to the agent: the kernel's own
estimate if it is TCP, or timed messages, which include the time of ssh and of both programs.
"""

from typing import Final

from advisor.agent.client import AgentLink
from advisor.agent.connect import Reached
from advisor.agent.peer_errors import PeerError
from advisor.domain.path import PathFacts
from advisor.hosts.rtt import FLOOR_S, RttResult, Unreachable, measure_rtt
from advisor.hosts.tcp_info import minimum_rtt_s

CONNECTION: Final = "the agent's TCP connection"
MESSAGES: Final = "timed messages to the agent"
GIVEN: Final = "given"
"""The method of a round-trip time that the user gave: the initial value of the smoothed one."""

_COUNT: Final = 5
_TIMEOUT_S: Final = 2.0
_AGAIN_TIMEOUT_S: Final = 1.0


async def measured_rtt(reached: Reached, address: str, bound: str = "") -> RttResult:
    """The RTT to the destination's data address, by the first method that works.

    `bound`: the address of this host to send from; "" where the kernel chooses.

    Raises PeerError if the agent itself stops answering, or there is none.
    """
    try:
        return await measure_rtt(address, reached.answering_ports, _COUNT, _TIMEOUT_S, bound=bound)
    except Unreachable as error:
        if reached.stand_in:
            raise PeerError(str(error), remedy="give the round-trip time with --rtt") from None
        return await _agent_rtt(reached.link, _COUNT)


async def rtt_again_s(reached: Reached, path: PathFacts) -> float | None:
    """One more RTT, by the method that worked before; None if the packet was lost.

    A given one is measured by ICMP echo or TCP handshake, but not through the agent: the user knows
    better than a connection that may take another way.
    """
    try:
        if path.rtt_method in (CONNECTION, MESSAGES):
            return (await _agent_rtt(reached.link, 1)).rtt_s
        ports, icmp = reached.answering_ports, path.rtt_method in ("icmp", GIVEN)
        address = path.destination_address
        found = await measure_rtt(
            address, ports, 1, _AGAIN_TIMEOUT_S, icmp=icmp, bound=path.bound_address
        )
    except (Unreachable, PeerError):
        return None
    return found.rtt_s


async def _agent_rtt(link: AgentLink, count: int) -> RttResult:
    """From `count` messages that the agent answers at once. Raises PeerError."""
    samples = [await link.round_trip() for _ in range(count)]
    # Delays in the programs only lengthen it, so the minimum is closest to the path's.
    rtt_s, method = min(samples), MESSAGES
    counted_s = None if link.connection_fd is None else minimum_rtt_s(link.connection_fd)
    if counted_s is not None:
        rtt_s, method = counted_s, CONNECTION
    rtt_s = max(FLOOR_S, rtt_s)
    return RttResult(rtt_s=rtt_s, minimum_s=rtt_s, samples=samples, method=method)
