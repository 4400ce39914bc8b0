"""The round-trip time to an agent's host, which needs no privilege and no open port.

ICMP echoes where they are allowed, else TCP handshakes, else the connection to the agent itself:
what the kernel counts for it where it is TCP, else timed messages, which include the time that ssh
and the two programs take.
"""

from typing import Final

from advisor.agent.client import AgentLink, PeerError
from advisor.agent.connect import Reached
from advisor.domain.path import PathFacts
from advisor.hosts.rtt import FLOOR_S, RttResult, Unreachable, measure_rtt
from advisor.hosts.tcp_info import minimum_rtt_s

CONNECTION: Final = "the agent's TCP connection"
MESSAGES: Final = "timed messages to the agent"

_COUNT: Final = 5
_TIMEOUT_S: Final = 2.0
_AGAIN_TIMEOUT_S: Final = 1.0


async def measured_rtt(reached: Reached, address: str) -> RttResult:
    """The RTT to the destination's data address, by the first method that works.

    Raises PeerError when the agent itself stops answering.
    """
    try:
        return await measure_rtt(address, reached.answering_ports, _COUNT, _TIMEOUT_S)
    except Unreachable:
        return await _agent_rtt(reached.link, _COUNT)


async def rtt_again_s(reached: Reached, path: PathFacts) -> float | None:
    """One more round trip, by the method that worked for this path; None when it was lost."""
    try:
        if path.rtt_method in (CONNECTION, MESSAGES):
            return (await _agent_rtt(reached.link, 1)).rtt_s
        ports, icmp = reached.answering_ports, path.rtt_method == "icmp"
        address = path.destination_address
        return (await measure_rtt(address, ports, 1, _AGAIN_TIMEOUT_S, icmp=icmp)).rtt_s
    except (Unreachable, PeerError):
        return None


async def _agent_rtt(link: AgentLink, count: int) -> RttResult:
    """From `count` messages that the agent answers at once. Raises PeerError."""
    samples = [await link.round_trip() for _ in range(count)]
    # Waiting in the programs can only lengthen them, so the least is nearest to the path's.
    rtt_s, method = min(samples), MESSAGES
    counted_s = None if link.connection_fd is None else minimum_rtt_s(link.connection_fd)
    if counted_s is not None:
        rtt_s, method = counted_s, CONNECTION
    rtt_s = max(FLOOR_S, rtt_s)
    return RttResult(rtt_s=rtt_s, minimum_s=rtt_s, samples=samples, method=method)
