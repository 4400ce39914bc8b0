"""What options may hold: rates, sizes, times, hosts, ports, each refused with a remedy."""

import re
from collections.abc import Callable
from typing import Any, Final

import click

from advisor.domain.endpoints import Endpoint
from advisor.domain.quantities import parse_duration, parse_rate, parse_size

_CONSTANT: Final = re.compile(r"([A-Za-z_]+)=(\S+)")


class Parsed(click.ParamType[Any]):
    """An option whose text is read by a function that raises ValueError with a sentence."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value, or a usage error that shows what was given."""
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(f"'{value}': {error}", param, ctx)


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 65535:
        raise ValueError("a port is a number from 1 to 65535")
    return int(text)


def parse_host_port(text: str) -> tuple[str, int]:
    """`HOST:PORT`, `[IPV6]:PORT`. Raises ValueError."""
    host, colon, port = text.rpartition(":")
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
    """`FIRST-LAST`, or `FIRST,LAST` as GLOBUS_TCP_PORT_RANGE has it. Raises ValueError."""
    parts = re.split(r"[-,]", text)
    if len(parts) != 2:
        raise ValueError("write FIRST-LAST, as in 50000-50100")
    first, last = _port(parts[0].strip()), _port(parts[1].strip())
    if first > last:
        raise ValueError("the first port is above the last")
    return first, last


def parse_constant(text: str) -> tuple[str, float]:
    """`NAME=NUMBER`, a constant of the method. Raises ValueError."""
    match = _CONSTANT.fullmatch(text.strip())
    if not match:
        raise ValueError("write NAME=NUMBER, as in a=15")
    try:
        return match.group(1), float(match.group(2))
    except ValueError:
        raise ValueError(f"{match.group(2)} is not a number") from None


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(re.fullmatch(r"[A-Za-z0-9_-]{1,15}", name) for name in names):
        raise ValueError("write names with commas between, as in cubic,bbr")
    return list(dict.fromkeys(names))


RATE: Final = Parsed("rate", parse_rate)
SIZE: Final = Parsed("size", parse_size)
DURATION: Final = Parsed("time", parse_duration)
ENDPOINT: Final = Parsed("[USER@]HOST", Endpoint.parse)
HOST_PORT: Final = Parsed("HOST:PORT", parse_host_port)
LISTEN: Final = Parsed("ADDRESS:PORT", parse_listen)
PORTS: Final = Parsed("FIRST-LAST", parse_ports)
CONSTANT: Final = Parsed("NAME=NUMBER", parse_constant)
NAMES: Final = Parsed("names", _names)
