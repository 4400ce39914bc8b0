"""Lists of names, as users write them and as sentences quote them."""

import re
from collections.abc import Sequence
from typing import Final

_QUOTED: Final = 3

_CONSTANT: Final = re.compile(r"([A-Za-z_]+)=(\S+)")


def parse_names(text: str) -> list[str]:
    """`cubic,bbr`: the distinct names in this order. Raises ValueError."""
    names = [name.strip() for name in text.split(",")]
    if not all(re.fullmatch(r"[A-Za-z0-9_.-]{1,64}", name) for name in names):
        raise ValueError("write names separated by commas, as in cubic,bbr")
    return list(dict.fromkeys(names))


def in_short(words: Sequence[str]) -> str:
    """The first words, separated by commas, and how many more there are."""
    more = f" and {len(words) - _QUOTED} more" if len(words) > _QUOTED else ""
    return ", ".join(words[:_QUOTED]) + more


def names_in_short(names: Sequence[str]) -> str:
    """The first names, quoted, and how many more there are."""
    return in_short([repr(name) for name in names])


def parse_constant(text: str) -> tuple[str, float]:
    """`NAME=NUMBER`, a constant of the method. Raises ValueError."""
    match = _CONSTANT.fullmatch(text.strip())
    if not match:
        raise ValueError("write NAME=NUMBER, as in a=15")
    try:
        return match.group(1), float(match.group(2))
    except ValueError:
        raise ValueError(f"{match.group(2)} is not a number") from None


def parse_constants(text: str) -> dict[str, float]:
    """`NAME=NUMBER,NAME=NUMBER`. Raises ValueError."""
    return dict(parse_constant(one) for one in text.split(","))
