"""What options may hold: rates, sizes, times, hosts, ports, each refused with a remedy."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NewType

import typer

from advisor.cli.urls import parse_file_url
from advisor.domain.addresses import parse_host_port, parse_listen, parse_ports
from advisor.domain.endpoints import Endpoint
from advisor.domain.names import parse_constant, parse_names
from advisor.domain.quantities import parse_duration, parse_given_rate, parse_rtt, parse_size
from advisor.domain.target_path import parse_target_path

# Typer takes a tuple or list for an option with several values: these have one.
HostPort = NewType("HostPort", tuple[str, int])
Ports = NewType("Ports", tuple[int, int])
Names = NewType("Names", list[str])
NamedNumber = NewType("NamedNumber", tuple[str, float])


def parsed(parse: Callable[[str], Any]) -> Callable[[Any], Any]:
    """For options whose text is read by a function that raises ValueError with a sentence.

    A value that is no text is a default, and is taken as it is.
    """

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return parse(value)
        except ValueError as error:
            raise typer.BadParameter(f"'{value}': {error}") from None

    return read


def _within(text: str, kind: Callable[[str], Any], low: float, high: float, what: str) -> Any:
    try:
        number = kind(text)
    except ValueError:
        number = None
    if number is None or not low <= number <= high:
        raise ValueError(f"give {what} from {low} to {high}")
    return number


def whole(*names: str, low: int, high: int, **settings: Any) -> Any:
    """An option with a whole number in these bounds."""
    parse = parsed(lambda text: _within(text, int, low, high, "a whole number"))
    return typer.Option(*names, parser=parse, metavar=f"{low}-{high}", **settings)


def number(*names: str, low: float, high: float, **settings: Any) -> Any:
    """An option with a number in these bounds."""
    parse = parsed(lambda text: _within(text, float, low, high, "a number"))
    return typer.Option(*names, parser=parse, metavar=f"{low}-{high}", **settings)


def _as(kind: Callable[[str], Any], what: str) -> Callable[[str], Any]:
    def parse(text: str) -> Any:
        try:
            return kind(text)
        except ValueError:
            raise ValueError(f"give {what}") from None

    return parse


def _local_data(text: str) -> Path:
    path = Path(parse_file_url(text))
    try:
        path.stat()
    except OSError as error:
        raise ValueError(f"{error.strerror}: name a file or folder that is there") from None
    return path


INTEGER: Final[Any] = {"parser": parsed(_as(int, "a whole number"))}
DECIMAL: Final[Any] = {"parser": parsed(_as(float, "a number"))}
RATE: Final[Any] = {"parser": parsed(parse_given_rate), "metavar": "RATE"}
SIZE: Final[Any] = {"parser": parsed(parse_size), "metavar": "SIZE"}
RTT: Final[Any] = {"parser": parsed(parse_rtt), "metavar": "TIME"}
DURATION: Final[Any] = {"parser": parsed(parse_duration), "metavar": "TIME"}
ENDPOINT: Final[Any] = {"parser": parsed(Endpoint.parse), "metavar": "HOST"}
HOST_PORT: Final[Any] = {"parser": parsed(parse_host_port), "metavar": "HOST:PORT"}
LISTEN: Final[Any] = {"parser": parsed(parse_listen), "metavar": "ADDRESS:PORT"}
PORTS: Final[Any] = {"parser": parsed(parse_ports), "metavar": "FIRST-LAST"}
CONSTANT: Final[Any] = {"parser": parsed(parse_constant), "metavar": "NAME=NUMBER"}
NAMES: Final[Any] = {"parser": parsed(parse_names), "metavar": "NAME,…"}
TARGET_PATH: Final[Any] = {"parser": parsed(parse_target_path), "metavar": "PATH"}
LOCAL_DATA: Final[Any] = {"parser": parsed(_local_data), "metavar": "DATA"}
