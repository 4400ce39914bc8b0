"""Rates, sizes and durations as users write them, and back.

Inside the program a rate is in bit/s, a size in bytes and a duration in seconds; this module
converts at the boundary.
"""

import math
import re
from collections.abc import Callable
from typing import Final, TypeVar

_N = TypeVar("_N", bound=float)

_DECIMAL: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_BINARY: Final = {"k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40, "p": 2**50}
_SECONDS: Final = {
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
    "y": 365 * 86_400.0,
}
_NUMBER: Final = r"\s*(\d+(?:\.\d*)?|\.\d+)\s*"
_RATE: Final = re.compile(_NUMBER + r"([kmgt]?)(i?)(?:bit|b)?(?:/s|ps)?\s*", re.IGNORECASE)
_SIZE: Final = re.compile(_NUMBER + r"([kmgtp]?)(i?)b?(?:ytes?)?\s*", re.IGNORECASE)
_BITS: Final = re.compile(r"[\d\s][kmgtp]i?b\s*", re.IGNORECASE)
_MOST_RTT_S: Final = 10.0
_LEAST_RATE_BPS: Final = 1e3
_DURATION: Final = re.compile(_NUMBER + r"(us|ms|s|min|m|h|d|y)?\s*", re.IGNORECASE)


def _scaled(match: re.Match[str]) -> float:
    number, prefix, binary = match.group(1), match.group(2).lower(), bool(match.group(3))
    if binary and not prefix:
        raise ValueError("an 'i' needs a prefix before it, as in Mi")
    return float(number) * (_BINARY if binary else _DECIMAL)[prefix]


def parse_rate(text: str) -> float:
    """Bit/s from `500Mbit`, `10G`, `9.4 Gbit/s`; bare numbers are bit/s, `1e9` is not accepted.

    Bytes are refused (`10MB/s`): rates in this field are in bits, and a silent factor of eight is
    worse than a question. Raises ValueError for anything else, and for zero.
    """
    if re.search(r"[\s\dkKmMgGtTi]B(?:/s|ps)?\s*$", text):
        raise ValueError("rates are in bits: write Mbit or Gbit")
    match = _RATE.fullmatch(text)
    if not match:
        raise ValueError("not a rate: write a number with kbit, Mbit or Gbit, as in 10Gbit")
    rate_bps = _scaled(match)
    if rate_bps <= 0:
        raise ValueError("a rate must be above zero")
    return rate_bps


def with_unit(parse: Callable[[str], _N], unit: str) -> Callable[[str], _N]:
    """`parse` for what users type, where a bare number would be read in a unit they do not mean.

    It raises ValueError for a number other than 0 without a unit, with `unit` as the example.
    """

    def read(text: str) -> _N:
        value = parse(text)
        if value and not text.strip()[-1].isalpha():
            raise ValueError(f"add a unit, as in {text.strip()}{unit}")
        return value

    return read


def parse_given_rate(text: str) -> float:
    """Bit/s, as `parse_rate`, of a rate with a unit. Raises ValueError, also below 1 kbit/s."""
    rate_bps = with_unit(parse_rate, "Mbit")(text)
    if rate_bps < _LEAST_RATE_BPS:
        raise ValueError("a rate is at least 1 kbit/s: write it as in 10Gbit")
    return rate_bps


def parse_rtt(text: str) -> float:
    """Seconds of a round trip, from `47ms`. Raises ValueError, also for more than 10 s."""
    rtt_s = with_unit(parse_duration, "ms")(text)
    if rtt_s > _MOST_RTT_S:
        raise ValueError("a round trip takes at most 10 s: write milliseconds, as in 50ms")
    return rtt_s


def parse_size(text: str) -> int:
    """Bytes from `10TB`, `4MiB`, `500 G`, `1048576`; decimal prefixes unless written with an i.

    Raises ValueError for anything else, for less than one byte, and for `10Gb`, which are bits.
    """
    if _BITS.search(text) and text.rstrip().endswith("b"):
        raise ValueError("sizes are in bytes, and b stands for bits: write MB or MiB, GB or GiB")
    match = _SIZE.fullmatch(text)
    if not match:
        raise ValueError("not a size: write a number with MB, GB, TB or MiB, GiB, TiB")
    size_bytes = round(_scaled(match))
    if size_bytes < 1:
        raise ValueError("a size must be at least one byte")
    return size_bytes


def parse_duration(text: str) -> float:
    """Seconds from `60`, `93.6ms`, `2min`, `1.5h`, `30d`, `2y`; a year has 365 days.

    Raises ValueError for anything else, and for zero.
    """
    match = _DURATION.fullmatch(text)
    if not match:
        raise ValueError("not a duration: write seconds, or a number with ms, s, min, h, d or y")
    duration_s = float(match.group(1)) * _SECONDS[(match.group(2) or "").lower()]
    if duration_s <= 0:
        raise ValueError("a duration must be above zero")
    return duration_s


def _prefixed(value: float, base: int, prefixes: tuple[str, ...]) -> str:
    magnitude = 0
    while abs(value) >= base and magnitude < len(prefixes) - 1:
        value /= base
        magnitude += 1
    # Three significant figures match the precision of these measurements.
    digits = 0 if value >= 100 or value == int(value) else (1 if value >= 10 else 2)
    return f"{value:.{digits}f} {prefixes[magnitude]}"


def format_rate(rate_bps: float) -> str:
    """`9.41 Gbit/s`: decimal prefixes, three significant figures."""
    return _prefixed(rate_bps, 1000, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"))


def format_rates(lower_bps: float, upper_bps: float) -> str:
    """`9.1 to 9.6 Gbit/s`: the unit once where it is the same."""
    (low, unit), (high, same) = format_rate(lower_bps).split(" "), format_rate(upper_bps).split(" ")
    return f"{low} to {high} {unit}" if unit == same else f"{low} {unit} to {high} {same}"


def format_bytes(size_bytes: float) -> str:
    """`4 MiB`: binary prefixes, as buffers are counted."""
    return _prefixed(size_bytes, 1024, ("B", "KiB", "MiB", "GiB", "TiB"))


def format_duration(duration_s: float) -> str:
    """`93.6 ms`, `12 s`, `2 min 5 s`, `3 h 20 min`, `4 d 2 h`."""
    if not math.isfinite(duration_s):
        return "unknown"
    if duration_s < 1:
        return f"{duration_s * 1000:.3g} ms"
    if duration_s < 60:
        return f"{duration_s:.3g} s"
    minutes, seconds = divmod(round(duration_s), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s")]
    first = next(i for i, (n, _) in enumerate(parts) if n)
    return " ".join(f"{n} {unit}" for n, unit in parts[first : first + 2] if n)
