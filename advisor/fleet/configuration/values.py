"""Values of `fleet.toml` that are written as text."""

from collections.abc import Callable
from typing import TypeVar

from advisor.fleet.configuration.reading import wrong

Place = tuple[str | int, ...]
"""The keys that lead to a value; numbers of items count from 0."""

_T = TypeVar("_T")


def read(place: Place, text: str, parse: Callable[[str], _T]) -> _T:
    """The value of a text. Raises BadFleet with the sentence of the ValueError of `parse`."""
    try:
        return parse(text)
    except ValueError as error:
        reason, _, remedy = str(error).partition(": ")
        if not remedy:
            reason, remedy = "it cannot be read", reason
        raise wrong(place, f"'{text}': {reason}", remedy) from None
