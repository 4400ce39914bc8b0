"""The paths: drawn at random by their numbers, and some by name."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Final

from tests.benchmarks.wan.cases import Case

_CONTROLS: Final = ("cubic", "reno", "bbr")
_LEAST_QUEUE_PACKETS: Final = 16
_SHORTEST_RTT_S, _LONGEST_RTT_S = 0.0004, 0.366
_LEAST_BPS, MOST_BPS = 50e6, 3e9
_LEAST_LOSS, _MOST_LOSS = 1e-6, 1e-3
_NO_LOSS_SHARE: Final = 0.4
_LOAD_SHARE: Final = 0.25
_BUFFERS: Final = ("256KiB", "1MiB", "4MiB", "16MiB", "64MiB")

MIB: Final = 2**20

_SMALL_MTU: Final = 1500
_WHOLE_SMALL_BPS, _WHOLE_BPS = 1e9, 2e9
"""Paths that add up to this, in packets of 1500 and of 9000 bytes, leave a core idle most of the
time."""

LONG_RUN_S, COMING_DOWN_S, RTTS = (3.0, 6.0), (12.0, 8.0), 50
"""What is left out of a long run, and what counts; the same where windows take long to come down to
what the losses allow, or to come back; and round trips for each at least."""

_HEADERS_BYTES: Final = 52
"""Of IPv4 and TCP with timestamps, in each packet."""


@dataclass(frozen=True, slots=True)
class TruthPath:
    """A path of this bench. `rate_bps`: that of its bottleneck, IP headers included."""

    case: Case
    rate_bps: float
    mtu: int
    loss: float

    @property
    def full_bps(self) -> float:
        """What TCP's payload comes to where the path is full and nobody else uses it."""
        return self.rate_bps * (self.mtu - _HEADERS_BYTES) / self.mtu

    @property
    def long_run_s(self) -> tuple[float, float]:
        """Of a long run: what is left out, and what counts, in seconds."""
        comes_down = self.case.control == "reno" or (self.case.control == "cubic" and self.loss > 0)
        left_out_s, counted_s = COMING_DOWN_S if comes_down else LONG_RUN_S
        least_s = RTTS * self.case.rtt_s
        return max(left_out_s, least_s), max(counted_s, least_s)

    @property
    def weight(self) -> float:
        """What it takes of a machine with two cores: 1 and more is all of it."""
        whole_bps = _WHOLE_SMALL_BPS if self.mtu <= _SMALL_MTU else _WHOLE_BPS
        return self.rate_bps / whole_bps


def random_path(number: int, most_bps: float = MOST_BPS) -> TruthPath:
    """The path of this number: the same number is always the same path."""
    rng = random.Random(f"truth {number}")
    rtt_s = _log_uniform(rng, _SHORTEST_RTT_S, _LONGEST_RTT_S)
    rate_bps = _log_uniform(rng, _LEAST_BPS, most_bps)
    clean = rng.random() < _NO_LOSS_SHARE
    loss = 0.0 if clean else _log_uniform(rng, _LEAST_LOSS, _MOST_LOSS)
    mtu = rng.choice((1500, 9000))
    queue = max(
        _log_uniform(rng, 0.1, 2.0) * rate_bps * rtt_s / 8, float(_LEAST_QUEUE_PACKETS * mtu)
    )
    load = rng.choice((1, 2, 4, 8)) if rng.random() < _LOAD_SHARE else 0
    control, buffer = rng.choice(_CONTROLS), rng.choice(_BUFFERS)
    words = [
        f"{rtt_s * 1000:.3g} ms",
        f"{rate_bps / 1e6:.0f} Mbit/s",
        f"loss {loss:.1e}" if loss else "no loss",
        f"queue {queue / 1000:.0f} kB",
        f"MTU {mtu}",
        f"autotuning to {buffer}",
        control,
        *([f"{load} competing stream{'s' if load > 1 else ''}"] if load else []),
    ]
    case = Case(
        f"r{number}",
        ", ".join(words),
        rtt_s,
        (
            *("--rtt", f"{rtt_s * 1000:.4g}ms", "--rate", f"{rate_bps / 1e6:.0f}Mbit"),
            *("--loss", f"{loss:.3g}", "--queue", f"{queue / 1000:.0f}kB"),
            *("--mtu", str(mtu), "--tcp-buffer", buffer),
        ),
        congestion=control,
        load_streams=load,
    )
    return TruthPath(case, rate_bps, mtu, loss)


def _log_uniform(rng: random.Random, low: float, high: float) -> float:
    return math.exp(rng.uniform(math.log(low), math.log(high)))


def _named(
    key: str,
    title: str,
    rtt_s: float,
    *options: str,
    mbps: int = 1000,
    mtu: int = 9000,
    loss: float = 0.0,
    congestion: str = "cubic",
) -> TruthPath:
    path = ("--rtt", f"{rtt_s * 1000:g}ms", "--rate", f"{mbps}Mbit", "--mtu", str(mtu))
    given = (*path, "--loss", f"{loss:g}", *options)
    return TruthPath(Case(key, title, rtt_s, given, congestion=congestion), mbps * 1e6, mtu, loss)


NAMED: Final = (
    _named("clean", "1 Gbit/s, 45.6 ms, clean, MTU 1500", 0.0456, mtu=1500),
    _named("near", "1 Gbit/s, 0.4 ms", 0.0004),
    _named("lossy", "500 Mbit/s, 20 ms, loss of 1e-3", 0.02, mbps=500, mtu=1500, loss=1e-3),
    _named("rare", "500 Mbit/s, 40 ms, loss of 2e-5", 0.04, mbps=500, mtu=1500, loss=2e-5),
    _named("far", "1 Gbit/s, 93.6 ms, loss of 3e-4", 0.0936, loss=3e-4),
    _named(
        *("shallow", "200 Mbit/s, 183 ms, a queue of 0.1 BDP", 0.183),
        *("--queue", "450kB"),
        mbps=200,
        mtu=1500,
    ),
    _named(
        *("reno", "500 Mbit/s, 183 ms, loss of 1e-4, reno", 0.183),
        mbps=500,
        loss=1e-4,
        congestion="reno",
    ),
    _named(
        *("small", "1 Gbit/s, 45.6 ms, autotuning to 256 KiB", 0.0456),
        *("--tcp-buffer", "256KiB"),
    ),
    _named("moon", "1 Gbit/s, 366 ms", 0.366),
    _named(
        *("bursts", "300 Mbit/s, 50 ms, loss of 3e-4, five packets in a row", 0.05),
        *("--burst", "5"),
        mbps=300,
        mtu=1500,
        loss=3e-4,
    ),
    _named(
        *("jitter", "200 Mbit/s, 30 ms, jitter of 3 ms", 0.03),
        *("--jitter", "3ms"),
        mbps=200,
        mtu=1500,
    ),
    _named(
        *("reordering", "200 Mbit/s, 30 ms, jitter of 0.2 ms that reorders", 0.03),
        *("--jitter", "0.2ms", "--reordering"),
        mbps=200,
        mtu=1500,
    ),
    _named(
        *("bursts-bbr", "300 Mbit/s, 100 ms, loss of 1e-3, five packets in a row, bbr", 0.1),
        *("--burst", "5"),
        mbps=300,
        mtu=1500,
        loss=1e-3,
        congestion="bbr",
    ),
)
"""Paths of known difficulty; some of them no other benchmark has."""


def path_of(key: str, title: str) -> TruthPath | None:
    """The path with this key and title; None if an earlier version drew another."""
    number = key.removeprefix("r")
    drawn = [random_path(int(number))] if number.isdecimal() else []
    return next((p for p in (*NAMED, *drawn) if (p.case.key, p.case.title) == (key, title)), None)
