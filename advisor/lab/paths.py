"""Emulated paths and their parameters."""

import re
from collections.abc import Callable, Collection
from typing import Any, Final

import msgspec

from advisor.domain.problem import ProblemError, ProblemKind
from advisor.domain.quantities import parse_duration, parse_rate, parse_size

LONGEST_RTT_S: Final = 10.0
SLOWEST_BPS: Final = 10_000.0
FASTEST_BPS: Final = 100e9
MTU_BYTES: Final = (576, 65_000)
_LARGEST_BYTES: Final = 2**31 - 1
_LONGEST_BURST: Final = 10_000.0
_FEWEST_PACKETS_QUEUED: Final = 64
_UNITS: Final = {"s": " s", "bps": " bit/s", "bytes": " bytes", "packets": " packets"}
_NO_TIME: Final = re.compile(r"\s*0+(\.0*)?\s*(us|ms|s|min|m|h)?\s*", re.IGNORECASE)


class BadPath(ProblemError, ValueError):
    """Not a valid path for emulation; the message names the entry and the remedy."""

    kind = ProblemKind.INVALID


class Direction(msgspec.Struct, frozen=True, kw_only=True):
    """One direction of a path. Rates in bit/s at the IP layer, times in seconds, sizes in bytes.

    `delay_s`: propagation only. `queue_bytes`: capacity of the drop-tail queue before the
    bottleneck; None for one bandwidth-delay product. `loss`: fraction of packets lost after it.
    `burst_packets`: mean number lost in a row; 1 for independent loss. `jitter_s`: additional
    random delay, uniform from 0 to this. `reordering`: whether jitter may reorder packets.
    """

    rate_bps: float = 1e9
    delay_s: float = 0.0228
    queue_bytes: int | None = None
    loss: float = 0.0
    burst_packets: float = 1.0
    jitter_s: float = 0.0
    reordering: bool = False


class EmulatedPath(msgspec.Struct, frozen=True, kw_only=True):
    """A path between the source and one other host; by default 1 Gbit/s and 45.6 ms, no loss.

    `forward`: from the source. `tcp_buffer_bytes`: the autotuning limit of a TCP stream's buffer at
    both ends (the last number of net.ipv4.tcp_rmem and tcp_wmem). `note`: the source of the
    numbers, and what was scaled.
    """

    forward: Direction = Direction()
    reverse: Direction = Direction()
    mtu_bytes: int = 9000
    tcp_buffer_bytes: int = 64 * 2**20
    title: str = ""
    note: str = ""

    @property
    def rtt_s(self) -> float:
        """Both propagation delays."""
        return self.forward.delay_s + self.reverse.delay_s

    def queue_bytes(self, direction: Direction) -> int:
        """The direction's queue: as configured, else one bandwidth-delay product."""
        if direction.queue_bytes is not None:
            return direction.queue_bytes
        return _product_bytes(direction.rate_bps, self.rtt_s, self.mtu_bytes)


def own_queue_bytes(own: Direction, paths: Collection[EmulatedPath]) -> int:
    """The queue of the source's own interface, which all these paths share.

    As configured, else one bandwidth-delay product of the longest path.
    """
    if own.queue_bytes is not None:
        return own.queue_bytes
    longest_s = max(path.rtt_s for path in paths)
    return _product_bytes(own.rate_bps, longest_s, max(path.mtu_bytes for path in paths))


def _product_bytes(rate_bps: float, rtt_s: float, mtu_bytes: int) -> int:
    """One bandwidth-delay product, but some packets at least."""
    return max(round(rate_bps * rtt_s / 8), _FEWEST_PACKETS_QUEUED * mtu_bytes)


class Changes(msgspec.Struct, frozen=True, kw_only=True):
    """Changes of a path, None for no change.

    `rtt_s` is divided evenly between both directions; `mtu_bytes` and `tcp_buffer_bytes` apply to
    the hosts, all others to the directions.
    """

    rtt_s: float | None = None
    delay_s: float | None = None
    rate_bps: float | None = None
    loss: float | None = None
    burst_packets: float | None = None
    queue_bytes: int | None = None
    jitter_s: float | None = None
    reordering: bool | None = None
    mtu_bytes: int | None = None
    tcp_buffer_bytes: int | None = None

    @property
    def said(self) -> dict[str, Any]:
        """The given changes, by field."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not None}


_OF_HOSTS: Final = ("mtu_bytes", "tcp_buffer_bytes")
_BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "rtt_s": (0.0, LONGEST_RTT_S),
    "delay_s": (0.0, LONGEST_RTT_S / 2),
    "rate_bps": (SLOWEST_BPS, FASTEST_BPS),
    "loss": (0.0, 0.9),
    "burst_packets": (1.0, _LONGEST_BURST),
    "queue_bytes": (1, _LARGEST_BYTES),
    "jitter_s": (0.0, LONGEST_RTT_S / 2),
    "mtu_bytes": MTU_BYTES,
    "tcp_buffer_bytes": (4096, _LARGEST_BYTES),
}


def changed(path: EmulatedPath, changes: Changes, which: str | None = None) -> EmulatedPath:
    """The path with the changes; `which` is forward or reverse, None for both. Raises BadPath."""
    said = changes.said
    for name, value in said.items():
        _check(name, value)
    rtt_s = said.pop("rtt_s", None)
    if which and (rtt_s is not None or any(name in said for name in _OF_HOSTS)):
        raise BadPath(
            "rtt, mtu and tcp_buffer apply to the whole path",
            remedy="give them outside a direction",
        )
    hosts = {name: said.pop(name) for name in _OF_HOSTS if name in said}
    if rtt_s is not None:
        said["delay_s"] = rtt_s / 2
    ways = {
        name: msgspec.structs.replace(getattr(path, name), **said)
        for name in ([which] if which else ["forward", "reverse"])
    }
    for way in ways.values():
        _check_bursts(way)
    return msgspec.structs.replace(path, **ways, **hosts)


def _check_bursts(way: Direction) -> None:
    # At least one packet gets through between two bursts, or they would be one.
    shortest = way.loss / (1 - way.loss)
    if 1 < way.burst_packets < shortest:
        raise BadPath(
            f"a loss of {way.loss:g} comes in bursts of at least {shortest:g} packets on average, "
            f"not {way.burst_packets:g}; burst 1 is for independent loss"
        )


def _check(name: str, value: Any) -> None:
    if name not in _BOUNDS:
        return
    lower, upper = _BOUNDS[name]
    if not lower <= value <= upper:
        word = next((word for word, (field, _) in ENTRIES.items() if field == name), name)
        unit = _UNITS.get(name.rpartition("_")[2], "")
        raise BadPath(f"{word} must be from {lower:g} to {upper:g}{unit}, not {value:g}")


def parse_share(text: str) -> float:
    """A share of one from `3e-4`, `0.01` or `1%`. Raises ValueError."""
    number, percent = text.strip(), 1.0
    if number.endswith("%"):
        number, percent = number[:-1], 100.0
    try:
        return float(number) / percent
    except ValueError:
        raise ValueError("not a share: write it as in 3e-4, 0.01 or 1%") from None


def parse_time(text: str) -> float:
    """Seconds, as `parse_duration`, and zero. Raises ValueError."""
    return 0.0 if _NO_TIME.fullmatch(text) else parse_duration(text)


def _parse_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("not a number") from None


def _parse_switch(text: str) -> bool:
    if text.lower() not in {"on", "off", "true", "false"}:
        raise ValueError("write on or off")
    return text.lower() in {"on", "true"}


ENTRIES: Final[dict[str, tuple[str, Callable[[str], Any]]]] = {
    "rtt": ("rtt_s", parse_time),
    "delay": ("delay_s", parse_time),
    "rate": ("rate_bps", parse_rate),
    "loss": ("loss", parse_share),
    "burst": ("burst_packets", _parse_number),
    "queue": ("queue_bytes", parse_size),
    "jitter": ("jitter_s", parse_time),
    "reordering": ("reordering", _parse_switch),
    "mtu": ("mtu_bytes", parse_size),
    "tcp_buffer": ("tcp_buffer_bytes", parse_size),
}
"""The names of parameters in files and on the command line: field and parser."""


def read_changes(words: dict[str, Any]) -> Changes:
    """Changes from words and their values as text or numbers. Raises BadPath."""
    fields: dict[str, Any] = {}
    for word, value in words.items():
        if word not in ENTRIES:
            raise BadPath(
                f"'{word}' is not a parameter of a path", remedy=f"use {', '.join(ENTRIES)}"
            )
        name, read = ENTRIES[word]
        try:
            fields[name] = read(str(value))
        except ValueError as error:
            raise BadPath.about(f"{word} = {value!r}", error) from None
    return Changes(**fields)
