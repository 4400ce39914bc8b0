"""Parses the options of a tuned transfer, from a command line or a screen."""

import re
from typing import Final

from advisor.domain.quantities import parse_duration
from advisor.domain.transfers import Levels

_LEAST_EPOCH_S: Final = 1.0
_START: Final = re.compile(r"([1-9]\d{0,2})\s*[x×]\s*([1-9]\d{0,2})")


def parse_start(text: str) -> Levels:
    """Concurrency and parallelism, from `4x8`. Raises ValueError."""
    if not (match := _START.fullmatch(text.strip())):
        raise ValueError("write concurrent files and streams for each, as in 4x8")
    return Levels(concurrency=int(match[1]), parallelism=int(match[2]))


def parse_epoch(text: str) -> float:
    """Seconds, from `30s`. Raises ValueError, also for less than a second."""
    if (epoch_s := parse_duration(text)) < _LEAST_EPOCH_S:
        raise ValueError("give at least a second: shorter epochs measure nothing")
    return epoch_s


def parse_price(text: str) -> float:
    """A fraction, from `2%` or `2`. Raises ValueError."""
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        raise ValueError("write a share of the rate, as in 2%") from None
    if not 0 < percent <= 100:
        raise ValueError("give more than 0 and at most 100 %")
    return percent / 100
