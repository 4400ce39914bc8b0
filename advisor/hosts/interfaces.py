"""The network interfaces of this host, and which of them faces a given address."""

import ipaddress
import socket
from pathlib import Path
from typing import Final

import msgspec
import psutil

from advisor.domain.connection import ADDRESSES_LIMIT, INTERFACES_LIMIT, HostInterface
from advisor.domain.printable import InterfaceName, fitting
from advisor.hosts.qdisc import qdisc_of

_DEVICES: Final = Path("/sys/class/net")
_UNKNOWN_SPEED: Final = 65535  # What drivers report for an unknown speed: (u16) −1.
_DISCARD_PORT: Final = 9  # Nothing is sent; connecting needs some port.


class Interface(msgspec.Struct, frozen=True, kw_only=True):
    """One interface. `link_bps` is None where it is not known or no cable is connected."""

    name: str
    mtu_bytes: int
    link_bps: float | None
    qdisc: str | None


def interface_facing(address: str) -> Interface | None:
    """The interface by which packets to `address` leave; None without a route to it.

    None as well when `address` is not an IP address. Queries the routing table by connecting a UDP
    socket: no packet is sent.
    """
    local = _local_address(address)
    return interface_with(local) if local else None


def interface_with(address: str) -> Interface | None:
    """The interface that has this IP address; None if none has."""
    name = holder_of(address)
    stats = psutil.net_if_stats().get(name) if name else None
    return _described(name, stats.speed, stats.mtu) if name and stats else None


def cards() -> list[Interface]:
    """The interfaces that are up and have hardware."""
    return [
        _described(name, stats.speed, stats.mtu)
        for name, stats in psutil.net_if_stats().items()
        if stats.isup and _has_hardware(name)
    ]


def data_interfaces() -> list[HostInterface]:
    """The interfaces that are up and have an address that other hosts may reach, in order of name.

    No loopback and no link-local addresses; labels such as eth0:1 belong to their interface.
    """
    addresses: dict[str, list[str]] = {}
    for label, known in psutil.net_if_addrs().items():
        found = addresses.setdefault(label.partition(":")[0], [])
        inet = [a.address for a in known if a.family in (socket.AF_INET, socket.AF_INET6)]
        found += [address for address in inet if _is_for_data(address)]
    stats = psutil.net_if_stats()
    usable = [
        HostInterface(
            name=name,
            mtu_bytes=stats[name].mtu,
            link_bps=_link_bps(name, stats[name].speed),
            addresses=addresses[name][:ADDRESSES_LIMIT],
        )
        for name in sorted(addresses)
        if addresses[name] and name in stats and stats[name].isup and fitting(name, InterfaceName)
    ]
    return usable[:INTERFACES_LIMIT]


def _is_for_data(address: str) -> bool:
    ip = ipaddress.ip_address(address.partition("%")[0])
    return not (ip.is_loopback or ip.is_link_local or ip.is_multicast or ip.is_unspecified)


def _described(name: str, speed_mbps: int, mtu_bytes: int) -> Interface:
    return Interface(
        name=name,
        mtu_bytes=mtu_bytes,
        link_bps=_link_bps(name, speed_mbps),
        qdisc=qdisc_of(name),
    )


def _local_address(address: str) -> str | None:
    """The source address of packets to `address`; None if it is not an IP address or unrouted."""
    try:
        version = ipaddress.ip_address(address).version
        family = socket.AF_INET6 if version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.connect((address, _DISCARD_PORT))
            local = str(sock.getsockname()[0])
    except (ValueError, OSError):
        return None
    # A host reaches its own addresses over loopback, whichever interface has them.
    if _bare(local) == _bare(address):
        return "::1" if version == 6 else "127.0.0.1"
    return local


def _bare(address: str) -> str:
    return str(ipaddress.ip_address(address.partition("%")[0]))


def holder_of(local: str) -> str | None:
    """The name of the interface that has this IP address; None if none has."""
    if ipaddress.ip_address(local.partition("%")[0]).is_loopback:
        local = "::1" if ":" in local else "127.0.0.1"
    for name, addresses in psutil.net_if_addrs().items():
        inet = (a for a in addresses if a.family in (socket.AF_INET, socket.AF_INET6))
        if any(_bare(a.address) == _bare(local) for a in inet):
            return name.partition(":")[0]  # eth0:1 is a label of an address of eth0.
    return None


def _link_bps(name: str, speed_mbps: int) -> float | None:
    # veth, tun and bridges of them report 10 Gbit/s or 10 Mbit/s, which does not limit them.
    if speed_mbps in (0, _UNKNOWN_SPEED) or not _has_hardware(name):
        return None
    return speed_mbps * 1e6


def _has_hardware(name: str) -> bool:
    """Whether it is a network card, or a VLAN, bond or bridge of network cards only."""
    folder = _DEVICES / name
    if (folder / "device").exists():
        return True
    below = [p.name.removeprefix("lower_") for p in folder.glob("lower_*")]
    return bool(below) and all(_has_hardware(lower) for lower in below)
