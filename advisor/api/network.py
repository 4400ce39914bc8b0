"""Sockets, libraries and timing on this host, for transport plugins."""

from advisor.hosts.compiled import shared_library
from advisor.hosts.free_ports import free_run
from advisor.hosts.kernel_path_mtu import kernel_path_mtu
from advisor.hosts.libraries import LIBIPERF, libiperf_version, libudt_version
from advisor.hosts.own_sockets import borrowed, listening_fd, own_address_facing, usable_address
from advisor.hosts.pacing import repeat_every
from advisor.hosts.peer_filter import comes_from, only_from
from advisor.hosts.port_watch import Accepted, PortWatch
from advisor.hosts.tcp_info import TcpSockets, TcpTotals
from advisor.models.buffer_range import BufferRange, autotuning_alone, buffer_range

__all__ = [
    "LIBIPERF",
    "Accepted",
    "BufferRange",
    "PortWatch",
    "TcpSockets",
    "TcpTotals",
    "autotuning_alone",
    "borrowed",
    "buffer_range",
    "comes_from",
    "free_run",
    "kernel_path_mtu",
    "libiperf_version",
    "libudt_version",
    "listening_fd",
    "only_from",
    "own_address_facing",
    "repeat_every",
    "shared_library",
    "usable_address",
]
