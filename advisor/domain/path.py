"""What is known of the two hosts and of the network between them."""

from typing import Annotated, Final

import msgspec

from advisor.domain.bounded import Count, Figure, LinkRate, Span, UnixTime, Whole
from advisor.domain.printable import HostName, InterfaceName, ShownText, SystemName


class HostFacts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of one host. Sizes in bytes; None where the host does not report them.

    `tcp_rmem_bytes`, `tcp_wmem_bytes`: the kernel's (minimum, default, maximum) for autotuning.
    `receive_max_bytes`, `send_max_bytes`: net.core.rmem_max and wmem_max, the upper limits.
    `interface`, `link_bps`, `mtu_bytes`, `qdisc`: of the interface that faces the other end.
    `clock_s`: Unix time when the facts were taken. `filters_tcp`: whether the kernel lets this
    account keep strangers off a TCP port, None in records from before that was asked. `tools`: the
    transfer tools that are installed, None where nobody looked. Decoding refuses names that
    could be anything else than names: they become parts of command lines.
    """

    hostname: HostName
    kernel: SystemName
    cores: Count
    load_1min: Figure
    memory_bytes: Count
    receive_max_bytes: Count | None
    send_max_bytes: Count | None
    tcp_rmem_bytes: tuple[Count, Count, Count] | None
    tcp_wmem_bytes: tuple[Count, Count, Count] | None
    congestion: SystemName | None
    congestion_available: Annotated[list[SystemName], msgspec.Meta(max_length=64)]
    qdisc: SystemName | None
    interface: InterfaceName | None
    link_bps: LinkRate | None
    mtu_bytes: Count | None
    clock_s: UnixTime
    versions: Annotated[dict[ShownText, ShownText], msgspec.Meta(max_length=64)]
    filters_tcp: bool | None = None
    tools: Annotated[list[SystemName], msgspec.Meta(max_length=64)] | None = None

    @property
    def is_known(self) -> bool:
        """Whether a program on that host has reported them; those of `UNKNOWN_HOST` are none."""
        return self.cores > 0


UNKNOWN_HOST: Final = HostFacts(
    hostname="",
    kernel="",
    cores=0,
    load_1min=0.0,
    memory_bytes=0,
    receive_max_bytes=None,
    send_max_bytes=None,
    tcp_rmem_bytes=None,
    tcp_wmem_bytes=None,
    congestion=None,
    congestion_available=[],
    qdisc=None,
    interface=None,
    link_bps=None,
    mtu_bytes=None,
    clock_s=0.0,
    versions={},
)
"""A host on which no program of ours runs."""


class PathFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The path of a pair before it is profiled.

    `rtt_s` is above zero. `rtt_method` says how it was measured: icmp, tcp handshake, the agent's
    TCP connection, timed messages to the agent, or given.
    `mtu_bytes`: the largest IP packet that reached the other end unfragmented.
    `bandwidth_bps`: the rate the user has reserved, None when not known.
    `clock_offset_s`: destination clock minus source clock, None when not known.
    `receivable`: the transports the destination can receive, None when it was not asked.
    `chose_source`: whether the user chose `source_address`, so that what measures and what moves
    data must be bound to it.
    """

    source_address: ShownText
    destination_address: ShownText
    rtt_s: Span
    rtt_method: ShownText
    mtu_bytes: Whole
    mtu_method: ShownText
    bandwidth_bps: Figure | None
    source: HostFacts
    destination: HostFacts
    clock_offset_s: Figure | None = None
    receivable: list[ShownText] | None = None
    # Unset, it is not written: records of versions without it are written as they were.
    chose_source: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def bound_address(self) -> str:
        """The source address to bind to; "" where the kernel chooses."""
        return self.source_address if self.chose_source else ""

    @property
    def link_bps(self) -> float | None:
        """The speed of the slower interface, None where neither is known."""
        known = [h.link_bps for h in (self.source, self.destination) if h.link_bps]
        return min(known) if known else None

    @property
    def capacity_bps(self) -> float | None:
        """The upper bound of the rate: the reserved bandwidth, else the slower link speed."""
        return self.bandwidth_bps or self.link_bps
