"""The round-trip time to another host, before any of our own software runs there."""

import asyncio
import contextlib
import socket
import statistics
import time
from collections.abc import Sequence
from typing import Final

import icmplib
import msgspec

FLOOR_S: Final = 1e-6
"""No RTT is given as less: it is divided by."""

_ICMP_SHARE: Final = 0.5
_SPACING_S: Final = 0.02


class Unreachable(Exception):
    """Nothing answered; the message says in a sentence what was tried."""


class RttResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was measured. `rtt_s` and `minimum_s` are at least 1 µs.

    `rtt_s`: the median of ICMP echoes, or the least of TCP handshakes, which waiting in the two
    hosts can only lengthen. `samples`: all, in seconds, in order. `method`: icmp or tcp handshake.
    """

    rtt_s: float
    minimum_s: float
    samples: list[float]
    method: str


async def measure_rtt(
    address: str, ports: Sequence[int], count: int, timeout_s: float
) -> RttResult:
    """The RTT to an IP address, from up to `count` round trips, within `timeout_s` in all.

    By ICMP echo, which the first half of the time is for; where that is blocked or not allowed, by
    TCP handshakes with `ports`. A port that refuses serves as well: its RST is one round trip too.
    Raises Unreachable when nothing answers, ValueError when `count` or `timeout_s` is not above 0.
    """
    if count < 1 or not timeout_s > 0:
        raise ValueError("measure at least one round trip, in more than no time")
    ends_s = time.monotonic() + timeout_s
    echoes = await _echoes(address, count, time.monotonic() + timeout_s * _ICMP_SHARE)
    if echoes:
        return _result(echoes, statistics.median(echoes), "icmp")
    handshakes = await _handshakes(address, ports, count, ends_s)
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


async def _echoes(address: str, count: int, ends_s: float) -> list[float]:
    """The ICMP round trips that were answered in time; empty where there are none."""
    # Without privileges first: it works for everyone whom net.ipv4.ping_group_range lets.
    for privileged in (False, True):
        with contextlib.suppress(icmplib.ICMPLibError, OSError):
            return await _echoes_with(address, count, ends_s, privileged)
    return []


async def _echoes_with(address: str, count: int, ends_s: float, privileged: bool) -> list[float]:
    samples: list[float] = []
    for attempt in range(count):
        left_s = ends_s - time.monotonic()
        if left_s <= 0:
            break
        # Until one was answered half of the time is kept for one more try: an echo may be lost.
        wait_s = left_s if samples or attempt else left_s / 2
        host = await icmplib.async_ping(
            address, count=1, timeout=wait_s, interval=0, privileged=privileged
        )
        # A negative one is the wall clock being set back: icmplib reads that one.
        samples += [rtt_ms / 1000 for rtt_ms in host.rtts if rtt_ms >= 0]
        await asyncio.sleep(_SPACING_S)
    return samples


async def _handshakes(address: str, ports: Sequence[int], count: int, ends_s: float) -> list[float]:
    """Handshake times with the ports that answer; empty when none does."""
    first = await asyncio.gather(*(_handshake(address, port, ends_s) for port in ports))
    answering = [(port, rtt_s) for port, rtt_s in zip(ports, first, strict=True) if rtt_s]
    samples = [rtt_s for _, rtt_s in answering]
    while answering and len(samples) < count:
        again = await _handshake(address, answering[0][0], ends_s)
        if again is None:
            break
        samples.append(again)
    return samples


async def _handshake(address: str, port: int, ends_s: float) -> float | None:
    """How long the port took to accept or to refuse; None when it did neither in time."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as sock:
        sock.setblocking(False)
        began_s = time.monotonic()
        try:
            async with asyncio.timeout(ends_s - began_s):
                await asyncio.get_running_loop().sock_connect(sock, (address, port))
        except ConnectionRefusedError:
            pass
        except OSError:  # No route, or out of time (TimeoutError is one).
            return None
        return max(FLOOR_S, time.monotonic() - began_s)
