"""Parsing of addresses as users write them: hosts and ports, port ranges, servers."""

import ipaddress
import re
from typing import Final

from advisor.domain.endpoints import Endpoint
from advisor.domain.printable import InterfaceName, fitting

MOST_PAIRS: Final = 8
"""Of interfaces that are measured at once."""


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise ValueError("a port is a number from 1 to 65535")
    return int(text)


def parse_host_port(text: str) -> tuple[str, int]:
    """`HOST:PORT`, `[IPV6]:PORT`. Raises ValueError."""
    host, colon, port = text.strip().rpartition(":")
    if not colon or not host:
        raise ValueError("write HOST:PORT")
    return Endpoint.parse(host.strip("[]")).host, _port(port)


def parse_listen(text: str) -> tuple[str, int]:
    """`ADDRESS:PORT`; port 0 lets the kernel choose. Raises ValueError."""
    host, colon, port = text.rpartition(":")
    if not colon or not host:
        raise ValueError("write ADDRESS:PORT, as in 0.0.0.0:5199")
    return host.strip("[]"), 0 if port == "0" else _port(port)


def parse_ports(text: str) -> tuple[int, int]:
    """`FIRST-LAST`, or `FIRST,LAST` as in GLOBUS_TCP_PORT_RANGE. Raises ValueError."""
    parts = re.split(r"[-,]", text)
    if len(parts) != 2:
        raise ValueError("write FIRST-LAST, as in 50000-50100")
    first, last = _port(parts[0].strip()), _port(parts[1].strip())
    if first > last:
        raise ValueError("the first port is above the last")
    return first, last


def parse_address(text: str) -> str:
    """An IP address in canonical form. Raises ValueError."""
    try:
        return str(ipaddress.ip_address(text.strip()))
    except ValueError:
        raise ValueError(f"'{text}' is not an IP address") from None


def parse_interfaces(text: str) -> list[tuple[str, str]]:
    """`A=B,C=D`: pairs of an interface or address here and one there. Raises ValueError."""
    pairs = []
    for part in text.split(","):
        here, equals, there = (word.strip() for word in part.partition("="))
        if not (equals and here and there):
            raise ValueError("write HERE=THERE,HERE=THERE, as in eth1=eth1,eth2=10.0.2.7")
        for end in (here, there):
            if not _is_address(end) and fitting(end, InterfaceName) is None:
                raise ValueError(f"'{end}' is neither an interface nor an IP address")
        pairs.append((here, there))
    if not 2 <= len(set(pairs)) <= MOST_PAIRS or len(set(pairs)) < len(pairs):
        raise ValueError(f"give two to {MOST_PAIRS} different pairs")
    return pairs


def _is_address(text: str) -> bool:
    try:
        parse_address(text)
    except ValueError:
        return False
    return True
