"""What in the two hosts and on the path holds a transfer back, and the line that lifts it.

Only what binds on the path at hand is named: a small kernel buffer is no limit on a LAN.
"""

import math
from collections.abc import Iterator
from typing import Final

import msgspec

from advisor.domain.advice import Limit, Side
from advisor.domain.measurement import EndLoad, Measurement
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.models import host_tuning as ht

FULL: Final = 0.9
"""The share of a core, of a host or of the capacity from which it counts as full. What is left of a
link at 90 % is taken by headers and by the hesitation of congestion control."""

LOSSY: Final = 1e-4
"""The share of packets sent again from which it counts. On a long path a congestion control that
takes loss for congestion is held back by far less than what would be noticed otherwise."""

JUMBO_FROM_BPS: Final = 10e9
JUMBO_MTU: Final = 9000
_ETHERNET_MTU: Final = 1500
_SEGMENT_BYTES: Final = 1448  # The payload of a packet of 1500 bytes with TCP timestamps.
_LOOPBACK: Final = "lo"


def binding_limits(path: PathFacts) -> list[Limit]:
    """What is known to limit this path before anything is measured, the tightest first.

    A buffer maximum is named when one stream with it would stay below the capacity; when that is
    not known, below 10 Gbit/s, the least the field tunes its hosts for. What one stream carries is
    taken as buffer ÷ RTT, which is near rather than exact: the kernel doubles what a program asks
    for, and uses a part of every buffer for itself. Nothing is said of loopback.
    """
    if is_loopback(path):
        return []
    found = [
        *(limit for buffer in buffers(path) if (limit := buffer_limit(buffer, path))),
        *slow_links(path),
        *narrow_frames(path),
        *unpaced(path),
        *single_cores(path),
    ]
    return sorted(found, key=lambda limit: limit.ceiling_bps or math.inf)


def measured_limits(measurement: Measurement, capacity_bps: float | None) -> list[Limit]:
    """What a probe's own figures say limited it: a full link, a full core or host, loss.

    `capacity_bps`: the rate nothing can pass, None when not known.
    """
    rate_bps = measurement.throughput_bps
    if capacity_bps and rate_bps >= FULL * capacity_bps:
        # Then the loads are what a full link costs, and its loss is our own queue's.
        return [_full_path(rate_bps, capacity_bps)]
    ends: tuple[tuple[Side, EndLoad | None], ...] = (
        ("source", measurement.sender),
        ("destination", measurement.receiver),
    )
    limits = [limit for side, load in ends if load for limit in _full_end(side, load, rate_bps)]
    return limits + list(_loss(measurement))


class Buffer(msgspec.Struct, frozen=True):
    """One kernel maximum that data meets; None where it is not known."""

    side: Side
    sysctl: str
    words: str
    maximum_bytes: int | None

    def ceiling_bps(self, rtt_s: float) -> float | None:
        """What one stream carries with it: buffer ÷ RTT."""
        return self.maximum_bytes * 8 / rtt_s if self.maximum_bytes else None


def is_loopback(path: PathFacts) -> bool:
    """Whether the data leaves this host at all."""
    return path.source.interface == _LOOPBACK


def buffers(path: PathFacts) -> tuple[Buffer, ...]:
    """The maxima that data meets: the sender's send buffer and the receiver's receive buffer."""
    sender, receiver = path.source, path.destination
    send_auto = sender.tcp_wmem_bytes[2] if sender.tcp_wmem_bytes else None
    receive_auto = receiver.tcp_rmem_bytes[2] if receiver.tcp_rmem_bytes else None
    return (
        Buffer("source", ht.WMEM_MAX, "send buffer", sender.send_max_bytes),
        Buffer("destination", ht.RMEM_MAX, "receive buffer", receiver.receive_max_bytes),
        Buffer("source", ht.TCP_WMEM, "autotuned send buffer", send_auto),
        Buffer("destination", ht.TCP_RMEM, "autotuned receive buffer", receive_auto),
    )


def wanted_bps(path: PathFacts) -> float:
    """The rate one stream is held against: the path's, or what the field tunes for at least."""
    return _attainable_bps(path) or ht.USUAL_RATE_BPS


def buffer_limit(buffer: Buffer, path: PathFacts) -> Limit | None:
    """The limit a kernel maximum is on this path; None when it is none, or not known."""
    wanted, ceiling_bps = wanted_bps(path), buffer.ceiling_bps(path.rtt_s)
    if not buffer.maximum_bytes or ceiling_bps is None or ceiling_bps >= wanted:
        return None
    return Limit(
        what=(
            f"{format_bytes(buffer.maximum_bytes)} {buffer.words} at most × "
            f"{format_duration(path.rtt_s)}: one stream carries about {format_rate(ceiling_bps)}"
        ),
        side=buffer.side,
        remedy=larger_buffer(buffer, path),
        ceiling_bps=ceiling_bps,
    )


def larger_buffer(buffer: Buffer, path: PathFacts) -> str:
    """The command that gives this maximum more, or what to do where nobody recommends more."""
    values = ht.larger(buffer.sysctl, buffer.maximum_bytes or 0, wanted_bps(path), path.rtt_s)
    if values is None:
        return f"use parallel streams: nobody recommends more for {buffer.sysctl}"
    return ht.sysctl_line(buffer.sysctl, *values)


def _attainable_bps(path: PathFacts) -> float | None:
    known = [rate for rate in (path.bandwidth_bps, path.link_bps) if rate]
    return min(known) if known else None


def _sides(path: PathFacts) -> tuple[tuple[Side, HostFacts], ...]:
    return (("source", path.source), ("destination", path.destination))


def slow_links(path: PathFacts) -> Iterator[Limit]:
    """Interfaces slower than what is reserved."""
    for side, host in _sides(path):
        if path.bandwidth_bps and host.link_bps and host.link_bps < path.bandwidth_bps:
            yield Limit(
                what=(
                    f"the link of {host.interface} is {format_rate(host.link_bps)}, less than the "
                    f"{format_rate(path.bandwidth_bps)} reserved"
                ),
                side=side,
                remedy="send by a faster interface, or give its rate with --bandwidth",
                ceiling_bps=host.link_bps,
            )


def narrow_frames(path: PathFacts) -> Iterator[Limit]:
    """Standard frames on a fast link, and a path narrower than both its ends."""
    for side, host in _sides(path):
        fast = host.link_bps is not None and host.link_bps >= JUMBO_FROM_BPS
        if fast and host.mtu_bytes and host.mtu_bytes <= _ETHERNET_MTU:
            yield Limit(
                what=(
                    f"an MTU of {host.mtu_bytes} on a link of {format_rate(host.link_bps or 0)} "
                    "costs six times the packets of 9000"
                ),
                side=side,
                remedy=(
                    f"ip link set dev {host.interface} mtu 9000, "
                    "if every device up to the other side takes it"
                ),
            )
    mtus = [host.mtu_bytes for _, host in _sides(path) if host.mtu_bytes]
    if len(mtus) == 2 and path.mtu_bytes < min(mtus):
        yield Limit(
            what=(
                f"both interfaces take {min(mtus)} bytes but the path only {path.mtu_bytes}: "
                "where no router says so, TCP stalls"
            ),
            side=None,
            remedy=f"{ht.sysctl_line('net.ipv4.tcp_mtu_probing', 1)} on both hosts",
        )


def unpaced(path: PathFacts) -> Iterator[Limit]:
    """BBR paces; without fq each connection keeps timers of its own, which costs CPU and evenness.

    `noqueue` is a virtual device's, which has nothing to queue: the device below it matters.
    """
    source = path.source
    paced = (source.congestion or "").startswith("bbr")
    if paced and source.interface and source.qdisc not in ("fq", "noqueue", None):
        yield Limit(
            what=f"{source.congestion} paces its packets, and {source.qdisc} does not help it to",
            side="source",
            remedy=f"tc qdisc replace dev {source.interface} root fq",
        )


def single_cores(path: PathFacts) -> Iterator[Limit]:
    """Ends that have one core for everything."""
    for side, host in _sides(path):
        if host.cores == 1:
            yield Limit(
                what="one core has to carry the tool, the protocol and the interrupts",
                side=side,
                remedy="use a host with more cores, or let the tool use more than one",
            )


def _full_path(rate_bps: float, capacity_bps: float) -> Limit:
    return Limit(
        what=(
            f"the path is full: {format_rate(rate_bps)} of {format_rate(capacity_bps)} "
            f"({rate_bps / capacity_bps:.0%})"
        ),
        side=None,
        remedy="no setting gives more: it takes a faster link or a larger reservation",
        ceiling_bps=capacity_bps,
    )


def _full_end(side: Side, load: EndLoad, rate_bps: float) -> Iterator[Limit]:
    if load.host_share >= FULL:
        yield Limit(
            what=f"all cores were busy for {load.host_share:.0%} of the time",
            side=side,
            remedy="stop what else runs there, or use a host with more cores",
            ceiling_bps=rate_bps,
        )
    # A tool of one thread gets no further than one core; one that used more has several threads,
    # and then the sum does not tell whether one of them was full.
    elif FULL <= load.process_cores <= 2 - FULL:
        yield Limit(
            what=f"the tool's one thread filled its core ({load.process_cores:.0%})",
            side=side,
            remedy="run several transfers side by side, each a process of its own; jumbo frames",
            ceiling_bps=rate_bps,
        )


def _loss(measurement: Measurement) -> Iterator[Limit]:
    segments = sum(i.received_bytes for i in measurement.intervals) / _SEGMENT_BYTES
    if not measurement.retransmits or segments < 1:
        return
    share = measurement.retransmits / segments
    if share >= LOSSY:
        yield Limit(
            what=(f"{measurement.retransmits} packets were sent again, about {share:.2%} of all"),
            side=None,
            remedy=(
                "have the path looked at for errors and for small queues (ethtool -S shows those "
                "of an interface); bbr is held back less by loss"
            ),
        )
