"""Values of the configuration file."""

import re
from typing import Final, TypeAlias

Value: TypeAlias = str | int | float | bool | list[str | int | float]
"""A TOML value. The option that has it as its default parses it."""


def as_typed(value: Value) -> str:
    """The value as on the command line: lists with commas."""
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return str(value)


_BASE_UNITS: Final = {
    "bandwidth": "bit",
    "max-rate": "bit",
    "rate": "bit",
    "source-rate": "bit",
    "rtt": "s",
    "jitter": "s",
}


def as_option(word: str, value: Value) -> str:
    """The value as its option takes it. A bare number is in bit/s or seconds, unlike one typed."""
    typed = as_typed(value)
    is_bare = re.fullmatch(r"[\d.]+", typed)
    return typed + _BASE_UNITS.get(word, "") if is_bare else typed
