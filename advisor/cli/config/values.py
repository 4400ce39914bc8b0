"""Values of the configuration file."""

from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | list[str | int | float]
"""A TOML value. The option that has it as its default parses it."""


def as_typed(value: Value) -> str:
    """The value as on the command line: lists with commas."""
    if isinstance(value, list):
        return ",".join(str(item) for item in value)
    return str(value)
