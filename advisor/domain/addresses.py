"""Parsing of addresses as users write them: hosts and ports, port ranges, servers."""

import ipaddress
import re

from advisor.domain.endpoints import Endpoint


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


def parse_server(text: str) -> str:
    """A GridFTP server's URL, without a trailing slash. Raises ValueError."""
    url = text.strip()
    if not url.startswith(("gsiftp://", "ftp://")):
        raise ValueError(
            f"'{text}' is not a GridFTP server: write gsiftp://HOST:PORT or ftp://HOST:PORT"
        )
    return url.rstrip("/")
