"""Parses the shares of destinations, from a command line or a screen."""

import re
from typing import Final

import msgspec

from advisor.domain.endpoints import Endpoint
from advisor.domain.quantities import parse_given_rate
from advisor.domain.shares import BASE, Asked

_HELP: Final = "write a share as in 4, a rate as in 400Mbit, a factor as in x1.5, or @3 to hold 3"
_MOST: Final = 128


def parse_asked(text: str) -> Asked:
    """The share that `4`, `400Mbit`, `x1.5` or `@3` asks for. Raises ValueError."""
    text = text.strip()
    try:
        if held := re.fullmatch(r"@(\d{1,3})", text):
            return Asked(held=_concurrency(held[1]))
        if factor := re.fullmatch(r"(?:[x×](\S+)|(\S+)[x×])", text):
            return Asked(factor=float(factor[1] or factor[2]))
        if re.fullmatch(r"[\d.]+", text):
            return Asked(share=float(text))
        return Asked(rate_bps=parse_given_rate(text))
    except ValueError:
        raise ValueError(_HELP) from None


def parse_destination(text: str) -> tuple[Endpoint, Asked]:
    """`DESTINATION=ASKED`; a destination alone stays at the base case. Raises ValueError."""
    name, equals, asked = text.rpartition("=")
    if not equals:
        return Endpoint.parse(text), Asked(held=BASE)
    return Endpoint.parse(name), parse_asked(asked)


def with_cap(asked: Asked, text: str) -> Asked:
    """With a cap: `8` files at a time, or a rate as in `300Mbit`. Raises ValueError."""
    if re.fullmatch(r"\d{1,3}", text.strip()):
        return msgspec.structs.replace(asked, most=_concurrency(text))
    return msgspec.structs.replace(asked, ceiling_bps=parse_given_rate(text))


def parse_streams(text: str) -> tuple[int, int]:
    """The least and the most streams of each file, from `8` or `2-8`. Raises ValueError."""
    if not (match := re.fullmatch(r"(\d{1,3})(?:-(\d{1,3}))?", text.strip())):
        raise ValueError("write streams for each file as in 8, or a range as in 2-8")
    low, high = int(match[1]), int(match[2] or match[1])
    if not 1 <= low <= high <= _MOST:
        raise ValueError(f"give 1 to {_MOST} streams, the least first")
    return low, high


def parse_precision(text: str) -> float:
    """A relative standard error, from `8%` or `0.08`. Raises ValueError."""
    text = text.strip()
    share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0.01 <= share <= 0.5:
        raise ValueError("give 1% to 50%")
    return share


def _concurrency(text: str) -> int:
    if not 1 <= int(text) <= _MOST:
        raise ValueError(f"give 1 to {_MOST} concurrent files")
    return int(text)
