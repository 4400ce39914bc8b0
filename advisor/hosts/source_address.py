"""The address of this host that the user wants data to leave from."""

import re
import socket
from typing import Final

import psutil

from advisor.domain.problem import ProblemError
from advisor.hosts.interfaces import holder_of
from advisor.hosts.processes import output_of

_DEVICE: Final = re.compile(r"\bdev (\S+)")
_ASK_S: Final = 5.0
_LOOPBACK: Final = "lo"


class NoSourceAddress(ProblemError, ValueError):
    """Nothing can be sent from there; the message says why, and the remedy."""


async def chosen_source(
    destination: str, source_address: str | None, interface: str | None
) -> str | None:
    """The address to bind to for data to `destination`, an IP address; None without a choice.

    `interface`: by which data must leave; its own address is taken. Raises NoSourceAddress if this
    host has no such address or interface, or if packets would leave by another one: binding to an
    address chooses no route.
    """
    if interface:
        source_address = _address_of(interface, destination)
        device = await device_to(destination, source_address)
        if device not in (None, interface, _LOOPBACK):
            raise NoSourceAddress(
                f"packets from {source_address} to {destination} leave by {device}, not by "
                f"{interface}",
                remedy="give the destination's --address on the network of that interface, or add "
                f"a routing rule for {source_address}",
            )
    elif source_address and holder_of(source_address) is None:
        raise NoSourceAddress(
            f"--source-address {source_address} is not an address of this host",
            remedy="`ip address` lists them",
            command="ip address",
        )
    return source_address


def _address_of(interface: str, destination: str) -> str:
    """The interface's first address of the destination's family that is not link-local."""
    family = socket.AF_INET6 if ":" in destination else socket.AF_INET
    known = psutil.net_if_addrs()
    if interface not in known:
        raise NoSourceAddress(
            f"--interface: there is no interface '{interface}'",
            remedy=f"it is one of {', '.join(sorted(known))}",
        )
    for one in known[interface]:
        if one.family == family and not one.address.startswith("fe80:"):
            return one.address.partition("%")[0]
    kind = "IPv6" if family == socket.AF_INET6 else "IPv4"
    raise NoSourceAddress(
        f"{interface} has no {kind} address to reach {destination} from",
        remedy="give the destination's --address of the other kind, or another interface",
    )


async def device_to(destination: str, source_address: str) -> str | None:
    """The interface by which the kernel would send; None where it cannot be asked."""
    words = ["ip", "-o", "route", "get", destination, "from", source_address]
    try:
        status, text = await output_of(words, _ASK_S)
    except (OSError, TimeoutError):
        return None
    found = _DEVICE.search(text)
    return found.group(1) if status == 0 and found else None
