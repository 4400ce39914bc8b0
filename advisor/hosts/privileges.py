"""Kernel features that may be restricted to root. None is required; each says what is lost.

Each is tried as the present user, in a way that sends nothing and leaves nothing behind.
"""

import asyncio
import contextlib
import os
import resource
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from advisor.domain.shell import shell_word
from advisor.hosts.packages import install_line
from advisor.hosts.peer_filter import can_filter_tcp
from advisor.hosts.processes import output_of
from advisor.hosts.sysctl import sysctl, sysctl_number

_TRIAL_S: Final = 5.0
_TUN: Final = Path("/dev/net/tun")


class Privilege(msgspec.Struct, frozen=True, kw_only=True):
    """One feature that may be restricted to root.

    `available`: whether this user may use it. If not, `without` says what is done instead, and
    `remedy` is the command for root, "" where none is worth it.
    """

    name: str
    purpose: str
    available: bool
    without: str = ""
    remedy: str = ""


def privileges() -> list[Privilege]:
    """All of them, available or not."""
    return [
        _judged("ICMP echo", "measure the RTT", _icmp, _NO_ICMP, _icmp_remedy),
        _judged("filter on TCP data ports", "keep strangers out", can_filter_tcp, _NO_FILTER),
        _judged("direct I/O in this folder", "profile a disk", _direct_io, _NO_DIRECT_IO),
        *_congestion_controls(),
        _judged("network namespaces", "make a lab", _namespaces, _NO_LAB, _namespaces_remedy),
        _judged(f"{_TUN}", "make a lab", _tun, _NO_LAB, _tun_remedy),
        _judged("real-time priority", "run a lab's emulator", _real_time, _LATE, _real_time_remedy),
    ]


_NO_ICMP: Final = "the RTT is measured by TCP handshakes, or over the connection to the agent"
_NO_FILTER: Final = (
    "while a TCP probe begins, strangers can connect to its port: they are disconnected, and many "
    "of them can make the probe fail. A firewall that lets only the sources in prevents that"
)
_NO_DIRECT_IO: Final = "its file system is profiled with buffered I/O"
_NO_LAB: Final = "'advisor lab' works only as root"
_LATE: Final = "its packets may be some milliseconds late while this host is busy"


def _judged(
    name: str,
    purpose: str,
    allowed: Callable[[], bool],
    without: str,
    remedy: Callable[[], str] = lambda: "",
) -> Privilege:
    try:
        available = allowed()
    except OSError:
        available = False
    if available:
        return Privilege(name=name, purpose=purpose, available=True)
    return Privilege(name=name, purpose=purpose, available=False, without=without, remedy=remedy())


def _icmp() -> bool:
    for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW):
        with contextlib.suppress(PermissionError):
            socket.socket(socket.AF_INET, kind, socket.IPPROTO_ICMP).close()
            return True
    return False


def _icmp_remedy() -> str:
    return "sysctl -w net.ipv4.ping_group_range='0 2147483647'"


def _direct_io() -> bool:
    # A file without a name disappears with its descriptor.
    os.close(os.open(".", os.O_TMPFILE | os.O_RDWR | os.O_DIRECT, 0o600))
    return True


def _congestion_controls() -> Iterator[Privilege]:
    """Controls that the kernel has but not every user may choose."""
    present = (sysctl("net.ipv4.tcp_available_congestion_control") or "").split()
    allowed = sysctl("net.ipv4.tcp_allowed_congestion_control") or ""
    for name in present:
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as trial:
            try:
                trial.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
            except OSError:
                yield Privilege(
                    name=f"congestion control {name}",
                    purpose="compare it",
                    available=False,
                    without=f"{name} is not profiled",
                    remedy="sysctl -w net.ipv4.tcp_allowed_congestion_control="
                    + shell_word(f"{allowed} {name}"),
                )


def _namespaces() -> bool:
    own = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    line = ["unshare", *own, "--net", "--mount", "--", "true"]
    try:
        status, _ = asyncio.run(output_of(line, _TRIAL_S))
    except TimeoutError:
        return False
    return status == 0


def _namespaces_remedy() -> str:
    if not shutil.which("unshare"):
        return install_line("unshare")
    if sysctl_number("kernel.apparmor_restrict_unprivileged_userns") == 1:
        return "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"
    if sysctl_number("kernel.unprivileged_userns_clone") == 0:
        return "sysctl -w kernel.unprivileged_userns_clone=1"
    return "sysctl -w user.max_user_namespaces=10000"


def _tun() -> bool:
    os.close(os.open(_TUN, os.O_RDWR))
    return True


def _tun_remedy() -> str:
    return f"chmod 666 {_TUN}" if _TUN.exists() else "modprobe tun"


def _real_time() -> bool:
    # Root needs no limit; for other users the limit decides.
    return os.geteuid() == 0 or resource.getrlimit(resource.RLIMIT_RTPRIO)[0] != 0


def _real_time_remedy() -> str:
    line = "* - rtprio 1"
    return f"echo '{line}' > /etc/security/limits.d/advisor.conf   # then log in again"
