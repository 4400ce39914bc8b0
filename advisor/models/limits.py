"""What limits a transfer at the two hosts and on the path, and the commands that lift the limits.

Only limits that bind on the given path are reported: a small kernel buffer is no limit on a LAN.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from advisor.domain.advice import Limit, Side
from advisor.domain.measurement import EndLoad, Measurement
from advisor.domain.path import HostFacts, PathFacts
from advisor.domain.quantities import format_bytes, format_duration, format_rate
from advisor.domain.shell import shell_line
from advisor.models import host_tuning as ht
from advisor.models.packets import packets_of

FULL: Final = 0.9
"""The fraction of a core, a host or the capacity from which it counts as full. Headers and the
caution of congestion control take up the remainder of a link at 90 %."""

LOSSY: Final = 1e-4
"""The fraction of retransmitted packets from which loss is reported. On a long path, a congestion
control that treats loss as congestion is limited by far less loss than anything else would show."""

FAR_ABOVE: Final = 4.0
"""A flow that reaches less than 1/4 of a ceiling is limited by something else: a ceiling is buffer
÷ RTT, of which the kernel's bookkeeping may take half, and a flow that starts up as much again."""

JUMBO_FROM_BPS: Final = 10e9
JUMBO_MTU: Final = 9000
_ETHERNET_MTU: Final = 1500
_LOOPBACK: Final = "lo"


def binding_limits(path: PathFacts) -> list[Limit]:
    """What is known to limit this path before anything is measured, the tightest first.

    A buffer maximum is reported when one stream with it would stay below the capacity, or below
    10 Gbit/s, the lowest rate that the field tunes its hosts for, where the capacity is not known.
    The rate of one stream is taken as buffer ÷ RTT, which is approximate: the kernel doubles the
    requested size and uses a part of every buffer for itself. Nothing is reported for loopback.
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


def holding(limits: Iterable[Limit], fastest_bps: float) -> list[Limit]:
    """Those of the limits of a path that may hold measured flows back.

    `fastest_bps`: the rate of the fastest one. A ceiling is that of one flow, so it decides. It may
    exceed it, which disproves the limit, or stay so far below that something else limits it.
    """
    return [
        x
        for x in limits
        if x.ceiling_bps is None or fastest_bps <= x.ceiling_bps < FAR_ABOVE * fastest_bps
    ]


def measured_limits(
    measurement: Measurement, capacity_bps: float | None, mtu_bytes: int | None = None
) -> list[Limit]:
    """The limits that a probe's own figures show: a full link, a full core or host, loss.

    `capacity_bps`: upper bound of the rate, `mtu_bytes`: of the path; None when not known.
    """
    rate_bps = measurement.throughput_bps
    if capacity_bps and rate_bps >= FULL * capacity_bps:
        # The loads are then the cost of a full link, and the loss is that of our own queue.
        return [_full_path(rate_bps, capacity_bps)]
    limits = [
        limit for side, load in _loads(measurement) for limit in _full_end(side, load, rate_bps)
    ]
    return limits + list(_loss(measurement, mtu_bytes))


def thread_is_full(load: EndLoad) -> bool:
    """Whether a thread of the tool filled its core.

    Where the load of single threads is not known, a process that used about one core had one
    thread, which was full; of one that used more it is not known.
    """
    if load.thread_cores is not msgspec.UNSET:
        return load.thread_cores >= FULL
    return FULL <= load.process_cores <= 2 - FULL


def host_is_full(load: EndLoad) -> bool:
    """Whether all cores of the host were busy."""
    return load.host_share >= FULL


def full_loads(measurement: Measurement) -> dict[Side, EndLoad]:
    """The ends at which a core, or all cores, were full: then that is what limited the rate."""
    return {
        side: load
        for side, load in _loads(measurement)
        if host_is_full(load) or thread_is_full(load)
    }


def full_words(measurement: Measurement) -> str:
    """Which cores were full, to follow a colon; "" where none was."""
    return " and ".join(
        f"{'all cores of' if host_is_full(load) else 'a core of'} the {side} "
        f"{'were' if host_is_full(load) else 'was'} full"
        for side, load in full_loads(measurement).items()
    )


def _loads(measurement: Measurement) -> Iterator[tuple[Side, EndLoad]]:
    ends: tuple[tuple[Side, EndLoad | None], ...] = (
        ("source", measurement.sender),
        ("destination", measurement.receiver),
    )
    return ((side, load) for side, load in ends if load)


class Buffer(msgspec.Struct, frozen=True):
    """One kernel maximum on the data path; None where it is not known."""

    side: Side
    sysctl: str
    words: str
    maximum_bytes: int | None

    def ceiling_bps(self, rtt_s: float) -> float | None:
        """The rate of one stream with it: buffer ÷ RTT."""
        return self.maximum_bytes * 8 / rtt_s if self.maximum_bytes else None


def is_loopback(path: PathFacts) -> bool:
    """Whether the data stays on this host."""
    return path.source.interface == _LOOPBACK


def buffers(path: PathFacts) -> tuple[Buffer, ...]:
    """The maxima on the data path: the sender's send buffer and the receiver's receive buffer."""
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
    """The rate expected of one stream: the path's, or the lowest that the field tunes for."""
    return _attainable_bps(path) or ht.USUAL_RATE_BPS


def buffer_limit(buffer: Buffer, path: PathFacts) -> Limit | None:
    """The limit that a kernel maximum sets on this path; None when there is none, or not known."""
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
    """The command that raises this maximum, or what to do if no recommendation is larger."""
    values = ht.larger(buffer.sysctl, buffer.maximum_bytes or 0, wanted_bps(path), path.rtt_s)
    if values is None:
        return f"use parallel streams: no recommendation is larger for {buffer.sysctl}"
    return ht.sysctl_line(buffer.sysctl, *values)


def _attainable_bps(path: PathFacts) -> float | None:
    known = [rate for rate in (path.bandwidth_bps, path.link_bps) if rate]
    return min(known) if known else None


def _sides(path: PathFacts) -> tuple[tuple[Side, HostFacts], ...]:
    return (("source", path.source), ("destination", path.destination))


def slow_links(path: PathFacts) -> Iterator[Limit]:
    """Interfaces slower than the reserved bandwidth."""
    for side, host in _sides(path):
        if path.bandwidth_bps and host.link_bps and host.link_bps < path.bandwidth_bps:
            yield Limit(
                what=(
                    f"the link of {host.interface} is {format_rate(host.link_bps)}, less than the "
                    f"{format_rate(path.bandwidth_bps)} reserved"
                ),
                side=side,
                remedy="send through a faster interface, or give its rate with --bandwidth",
                ceiling_bps=host.link_bps,
            )


def narrow_frames(path: PathFacts) -> Iterator[Limit]:
    """Standard frames on a fast link, and a path MTU smaller than that of both ends."""
    for side, host in _sides(path):
        fast = host.link_bps is not None and host.link_bps >= JUMBO_FROM_BPS
        if fast and host.mtu_bytes and host.mtu_bytes <= _ETHERNET_MTU:
            yield Limit(
                what=(
                    f"an MTU of {host.mtu_bytes} on a link of {format_rate(host.link_bps or 0)} "
                    "needs six times the packets of an MTU of 9000, which every device on the path "
                    "must support"
                ),
                side=side,
                remedy=_jumbo_line(host.interface),
            )
    mtus = [host.mtu_bytes for _, host in _sides(path) if host.mtu_bytes]
    if len(mtus) == 2 and path.mtu_bytes < min(mtus):
        yield Limit(
            what=(
                f"both interfaces have an MTU of at least {min(mtus)} but the path only "
                f"{path.mtu_bytes}: where routers do not report this, TCP stalls"
            ),
            side=None,
            remedy=f"{ht.sysctl_line('net.ipv4.tcp_mtu_probing', 1)} on both hosts",
        )


def _jumbo_line(interface: str | None) -> str:
    if not interface:
        return f"set the MTU of the interface to {JUMBO_MTU}"
    return shell_line(["ip", "link", "set", "dev", interface, "mtu", str(JUMBO_MTU)])


def unpaced(path: PathFacts) -> Iterator[Limit]:
    """BBR paces; without fq each connection uses its own timers, which cost CPU and precision.

    `noqueue` belongs to a virtual device without a queue: the device below it matters.
    """
    source = path.source
    paced = (source.congestion or "").startswith("bbr")
    if paced and source.interface and source.qdisc not in ("fq", "noqueue", None):
        yield Limit(
            what=f"{source.congestion} paces its packets without the help of fq ({source.qdisc})",
            side="source",
            remedy=shell_line(["tc", "qdisc", "replace", "dev", source.interface, "root", "fq"]),
        )


def single_cores(path: PathFacts) -> Iterator[Limit]:
    """Hosts that have one core for everything."""
    for side, host in _sides(path):
        if host.cores == 1:
            yield Limit(
                what="one core has to run the tool, the protocol and the interrupts",
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
    if host_is_full(load):
        yield Limit(
            what=f"all cores were busy for {load.host_share:.0%} of the time",
            side=side,
            remedy="stop the other work there, or use a host with more cores",
            ceiling_bps=rate_bps,
        )
    elif thread_is_full(load):
        thread = (
            "the tool's one thread" if load.process_cores <= 2 - FULL else "a thread of the tool"
        )
        share = load.process_cores if load.thread_cores is msgspec.UNSET else load.thread_cores
        yield Limit(
            what=f"{thread} filled its core ({share:.0%})",
            side=side,
            remedy="run several transfers in parallel, each in its own process; jumbo frames",
            ceiling_bps=rate_bps,
        )


def _loss(measurement: Measurement, mtu_bytes: int | None) -> Iterator[Limit]:
    packets = packets_of(measurement, mtu_bytes)
    if not measurement.retransmits or packets < 1:
        return
    share = measurement.retransmits / packets
    if share >= LOSSY:
        yield Limit(
            what=f"{measurement.retransmits} packets were retransmitted, about {share:.2%} of all",
            side=None,
            remedy=(
                "have the path checked for errors and small queues (ethtool -S shows the errors "
                "of an interface); bbr is less sensitive to loss"
            ),
        )
