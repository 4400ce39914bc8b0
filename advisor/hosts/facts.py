"""Facts about this host, taken before anything is measured."""

import os
import platform
import socket
import time

import psutil

import advisor
from advisor.domain.path import HostFacts
from advisor.domain.printable import HostName, InterfaceName, SystemName, fitting, printable
from advisor.hosts.interfaces import interface_facing, interface_with
from advisor.hosts.libraries import library_versions
from advisor.hosts.peer_filter import can_filter_tcp
from advisor.hosts.sysctl import sysctl, sysctl_number, sysctl_triple


def host_facts(facing: str | None, bound: str = "") -> HostFacts:
    """The present state of this host, with the interface that faces the IP address `facing`.

    Unknown facts are None, and so are names that HostFacts does not allow. All facts of the
    interface are None without `facing`, or when it is not an IP address or has no route. `bound`:
    the address of this host that data leave from, if it was chosen. Sends nothing.
    """
    interface = interface_facing(facing) if facing else None
    if bound:
        interface = interface_with(bound)
    return HostFacts(
        hostname=fitting(socket.gethostname(), HostName) or "",
        kernel=fitting(os.uname().release, SystemName) or "",
        # The cores this process may use: a container or taskset may restrict them.
        cores=len(os.sched_getaffinity(0)),
        load_1min=psutil.getloadavg()[0],
        memory_bytes=psutil.virtual_memory().total,
        receive_max_bytes=sysctl_number("net.core.rmem_max"),
        send_max_bytes=sysctl_number("net.core.wmem_max"),
        tcp_rmem_bytes=sysctl_triple("net.ipv4.tcp_rmem"),
        tcp_wmem_bytes=sysctl_triple("net.ipv4.tcp_wmem"),
        congestion=fitting(sysctl("net.ipv4.tcp_congestion_control") or "", SystemName) or None,
        congestion_available=_names(sysctl("net.ipv4.tcp_available_congestion_control") or ""),
        qdisc=fitting(interface.qdisc or "", SystemName) or None if interface else None,
        interface=fitting(interface.name, InterfaceName) if interface else None,
        link_bps=interface.link_bps if interface else None,
        mtu_bytes=interface.mtu_bytes if interface else None,
        clock_s=time.time(),
        versions=_versions(),
        filters_tcp=can_filter_tcp(),
    )


def _names(text: str) -> list[str]:
    return [name for name in text.split() if fitting(name, SystemName)]


def _versions() -> dict[str, str]:
    own = {
        "advisor": advisor.__version__,
        "kernel": os.uname().release,
        "python": platform.python_version(),
    }
    return {name: printable(version) for name, version in (own | library_versions()).items()}
