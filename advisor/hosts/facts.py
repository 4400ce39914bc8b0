"""Facts about this host, taken before anything is measured."""

import os
import platform
import socket
import time

import psutil

import advisor
from advisor.domain.path import HostFacts
from advisor.hosts.interfaces import interface_facing
from advisor.hosts.libraries import library_versions
from advisor.hosts.sysctl import sysctl, sysctl_number, sysctl_triple


def host_facts(facing: str | None) -> HostFacts:
    """The present state of this host, with the interface that faces the IP address `facing`.

    Unknown facts are None. All facts of the interface are None without `facing`, or when it is not
    an IP address or has no route. Sends nothing.
    """
    interface = interface_facing(facing) if facing else None
    return HostFacts(
        hostname=socket.gethostname(),
        kernel=os.uname().release,
        # The cores this process may use: a container or taskset may restrict them.
        cores=len(os.sched_getaffinity(0)),
        load_1min=psutil.getloadavg()[0],
        memory_bytes=psutil.virtual_memory().total,
        receive_max_bytes=sysctl_number("net.core.rmem_max"),
        send_max_bytes=sysctl_number("net.core.wmem_max"),
        tcp_rmem_bytes=sysctl_triple("net.ipv4.tcp_rmem"),
        tcp_wmem_bytes=sysctl_triple("net.ipv4.tcp_wmem"),
        congestion=sysctl("net.ipv4.tcp_congestion_control"),
        congestion_available=(sysctl("net.ipv4.tcp_available_congestion_control") or "").split(),
        qdisc=interface.qdisc if interface else None,
        interface=interface.name if interface else None,
        link_bps=interface.link_bps if interface else None,
        mtu_bytes=interface.mtu_bytes if interface else None,
        clock_s=time.time(),
        versions=_versions(),
    )


def _versions() -> dict[str, str]:
    own = {
        "advisor": advisor.__version__,
        "kernel": os.uname().release,
        "python": platform.python_version(),
    }
    return own | library_versions()
