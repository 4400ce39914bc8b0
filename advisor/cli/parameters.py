"""What options may hold: rates, sizes, times, hosts, ports, each refused with a remedy."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from advisor.cli.urls import parse_file_url
from advisor.domain.addresses import parse_host_port, parse_listen, parse_ports
from advisor.domain.endpoints import Endpoint
from advisor.domain.names import parse_names
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


class LocalData(click.Path):
    """A path that is there, also as a file:// URL."""

    def __init__(self) -> None:
        super().__init__(exists=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path, or a usage error."""
        try:
            path = parse_file_url(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(f"'{value}': {error}", param, ctx)
        return super().convert(path, param, ctx)


def parse_constant(text: str) -> tuple[str, float]:
    """`NAME=NUMBER`, a constant of the method. Raises ValueError."""
    match = _CONSTANT.fullmatch(text.strip())
    if not match:
        raise ValueError("write NAME=NUMBER, as in a=15")
    try:
        return match.group(1), float(match.group(2))
    except ValueError:
        raise ValueError(f"{match.group(2)} is not a number") from None


RATE: Final = Parsed("rate", parse_rate)
SIZE: Final = Parsed("size", parse_size)
DURATION: Final = Parsed("time", parse_duration)
ENDPOINT: Final = Parsed("[USER@]HOST", Endpoint.parse)
HOST_PORT: Final = Parsed("HOST:PORT", parse_host_port)
LISTEN: Final = Parsed("ADDRESS:PORT", parse_listen)
PORTS: Final = Parsed("FIRST-LAST", parse_ports)
CONSTANT: Final = Parsed("NAME=NUMBER", parse_constant)
NAMES: Final = Parsed("names", parse_names)
