"""The round-trip time to another host, measured before any of our software runs there."""

import asyncio
import contextlib
import socket
import statistics
import time
from collections.abc import Sequence
from typing import Final

import icmplib
import msgspec

from advisor.domain.problem import ProblemError, ProblemKind

FLOOR_S: Final = 1e-6
"""Lower bound of every RTT, since it is used as a divisor."""

_HEAD_START_S: Final = 0.25
_SPACING_S: Final = 0.02


class Unreachable(ProblemError):
    """Nothing answered; the message is a sentence that says what was tried."""

    kind = ProblemKind.UNREACHABLE


class RttResult(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a measurement. `rtt_s` and `minimum_s` are at least 1 µs.

    `rtt_s`: the median of ICMP echoes, or the minimum of TCP handshakes, which delays in the two
    hosts can only lengthen. `samples`: all, in seconds, in order. `method`: icmp or tcp handshake.
    """

    rtt_s: float
    minimum_s: float
    samples: list[float]
    method: str


async def measure_rtt(
    address: str,
    ports: Sequence[int],
    count: int,
    timeout_s: float,
    *,
    icmp: bool = True,
    bound: str = "",
) -> RttResult:
    """The RTT to an IP address, from up to `count` round trips, within `timeout_s` in total.

    By ICMP echo; if that is blocked or not permitted, by TCP handshakes with `ports`, which start
    when no echo has arrived for a while. A port that refuses works as well: its RST takes one round
    trip too. Without `icmp` only handshakes are made, immediately. `bound`: the address of
    this host to send from; "" where the kernel chooses. Raises Unreachable when nothing
    answers, ValueError when `count` or `timeout_s` is not above 0.
    """
    if count < 1 or not timeout_s > 0:
        raise ValueError("measure at least one round trip, in more than zero time")
    ends_s = time.monotonic() + timeout_s
    echoes: list[float] = []
    handshakes: list[float] = []
    ping = asyncio.create_task(_ping(address, bound, count if icmp else 0, ends_s, echoes))
    tasks = [ping]
    try:
        # TCP waits a little: a connection that opens and closes adds a line to the other's log.
        await asyncio.wait(tasks, timeout=min(_HEAD_START_S, timeout_s / 2))
        if not echoes:
            shake = asyncio.create_task(_shake(address, bound, ports, count, ends_s, handshakes))
            tasks.append(shake)
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if not echoes:
                await shake
        if echoes or not handshakes:
            await ping
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    if echoes:
        return _result(echoes, statistics.median(echoes), "icmp")
    if handshakes:
        return _result(handshakes, min(handshakes), "tcp handshake")
    tried = f" and no handshake on TCP port {', '.join(map(str, ports))}" if ports else ""
    raise Unreachable(f"{address} answers no ICMP echo{tried} within {timeout_s:g} s")


def _result(samples: list[float], rtt_s: float, method: str) -> RttResult:
    return RttResult(
        rtt_s=max(FLOOR_S, rtt_s),
        minimum_s=max(FLOOR_S, min(samples)),
        samples=samples,
        method=method,
    )


async def _ping(address: str, bound: str, count: int, ends_s: float, echoes: list[float]) -> None:
    """Append the ICMP round trips answered in time to `echoes`."""
    # Without privileges first: it works for every user in net.ipv4.ping_group_range.
    for privileged in (False, True):
        with contextlib.suppress(icmplib.ICMPLibError, OSError):
            return await _ping_with(address, bound, count, ends_s, echoes, privileged)
    return None


async def _ping_with(
    address: str, bound: str, count: int, ends_s: float, echoes: list[float], privileged: bool
) -> None:
    for left in range(count, 0, -1):
        left_s = ends_s - time.monotonic()
        if left_s <= 0:
            break
        # Until one is answered, keep half of the time for one retry: an echo may be lost.
        wait_s = left_s if echoes or left == 1 else left_s / 2
        host = await icmplib.async_ping(
            address,
            count=1,
            timeout=wait_s,
            interval=0,
            privileged=privileged,
            source=bound or None,
        )
        # A negative value means the wall clock was set back: icmplib uses that clock.
        echoes += [rtt_ms / 1000 for rtt_ms in host.rtts if rtt_ms >= 0]
        await asyncio.sleep(_SPACING_S if left > 1 else 0)


async def _shake(
    address: str,
    bound: str,
    ports: Sequence[int],
    count: int,
    ends_s: float,
    handshakes: list[float],
) -> None:
    """Append handshake times with a port that answers to `handshakes`."""
    first = await asyncio.gather(*(_handshake(address, bound, port, ends_s) for port in ports))
    answering = [port for port, rtt_s in zip(ports, first, strict=True) if rtt_s]
    handshakes += [rtt_s for rtt_s in first if rtt_s]
    while answering and len(handshakes) < count:
        again = await _handshake(address, bound, answering[0], ends_s)
        if again is None:
            break
        handshakes.append(again)


async def _handshake(address: str, bound: str, port: int, ends_s: float) -> float | None:
    """The time until the port accepted or refused; None when it did neither in time."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as sock:
        sock.setblocking(False)
        began_s = time.monotonic()
        try:
            if bound:
                sock.bind((bound, 0))
            async with asyncio.timeout(ends_s - began_s):
                await asyncio.get_running_loop().sock_connect(sock, (address, port))
        except ConnectionRefusedError:
            pass
        except OSError:  # No route, or out of time (TimeoutError is one).
            return None
        return max(FLOOR_S, time.monotonic() - began_s)
