"""Made-up networks of one source and five destinations, under load that changes. Pure.

Not a packet simulator: it has what makes shares hard to predict. All flows share the source's
interface and those to one destination its path, each in proportion to a weight, which depends on
the congestion control and the round-trip time and varies over seconds. Few flows leave a part of a
link unused, many cost the hosts, and one file has a limit of its own, however many streams it has
(figures 5 and 6 of Kettimuthu et al. 2014). Cross traffic comes and goes at the source and on every
path.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from tests.benchmarks.shares.cases import HOSTS, RATES_BPS, SOURCE_RATE_BPS

CONTROLS: Final = ("bbr", "cubic", "reno")
QUIET, STEPS, BURSTS, DRIFT = "quiet", "steps", "bursts", "drift"
LOADS: Final = (QUIET, STEPS, BURSTS, DRIFT)

_RTT_EXPONENT: Final = {"bbr": 0.3, "cubic": 0.6, "reno": 1.0}
"""The weight of a flow is its round-trip time to the minus this."""

_UNUSED: Final = {"bbr": 0.02, "cubic": 0.1, "reno": 0.25}
"""What a single flow leaves of a link unused; n flows leave an n-th of that."""

_FLOW_SPREAD: Final = {"bbr": 0.6, "cubic": 0.6, "reno": 0.7}
"""Relative standard deviation of the weight of a single flow."""

Levels: TypeAlias = Mapping[str, tuple[int, int]]
"""Files at a time and streams of each, by destination."""


@dataclass(frozen=True, slots=True)
class Network:
    """`path_bps`, `rtt_s` and `file_bps`, the most that one file gets, are by destination.

    `stream_exponent`: what a file with p streams counts, p to this. `host_files`: with this many
    files the source reaches half. `noise_s`: over which weights vary; `shared_noise`: the part of
    the variation of a flow that all flows to one destination have in common.
    """

    control: str
    load: str
    source_bps: float
    path_bps: Mapping[str, float]
    rtt_s: Mapping[str, float]
    file_bps: Mapping[str, float]
    stream_exponent: float
    host_files: float
    noise_s: float
    shared_noise: float

    def weight(self, name: str, files: int, streams: int) -> float:
        return float(
            files * streams**self.stream_exponent * self.rtt_s[name] ** -_RTT_EXPONENT[self.control]
        )

    def spread(self, flows: int) -> float:
        """Relative standard deviation of the weight of this many flows together."""
        alone = _FLOW_SPREAD[self.control]
        return math.hypot(alone / math.sqrt(flows), self.shared_noise)

    def rates_bps(
        self, levels: Levels, others: Mapping[str, float], factors: Mapping[str, float]
    ) -> dict[str, float]:
        """What each destination gets. `others`: flows on each path, and "" for the source's."""
        served = {name: pair for name, pair in levels.items() if pair[0] > 0}
        usual_s = np.median(list(self.rtt_s.values())) ** -_RTT_EXPONENT[self.control]
        weights, caps = {}, {}
        for name, (files, streams) in served.items():
            own = self.weight(name, files, streams) * factors[name]
            foreign = others[name] * self.rtt_s[name] ** -_RTT_EXPONENT[self.control]
            flows = files * streams + others[name]
            there_bps = self.path_bps[name] * (1 - _UNUSED[self.control] / max(1.0, flows))
            weights[name] = own
            caps[name] = min(there_bps * own / (own + foreign), files * self.file_bps[name])
        files_in_all = sum(files for files, _ in served.values())
        flows = sum(files * streams for files, streams in served.values()) + others[""]
        here_bps = self.source_bps * (1 - _UNUSED[self.control] / max(1.0, flows))
        here_bps /= 1 + (files_in_all / self.host_files) ** 2
        weights[""], caps[""] = others[""] * usual_s, math.inf
        return water_filled(here_bps, weights, caps)


def water_filled(
    bps: float, weights: Mapping[str, float], caps: Mapping[str, float]
) -> dict[str, float]:
    """Shares of a link in proportion to the weights, none above its cap."""
    left_bps, open_ = bps, dict(weights)
    found = dict.fromkeys(weights, 0.0)
    while open_ and (total := sum(open_.values())) > 0:
        full = [name for name, weight in open_.items() if left_bps * weight / total >= caps[name]]
        if not full:
            return found | {name: left_bps * weight / total for name, weight in open_.items()}
        for name in full:
            found[name] = caps[name]
            left_bps -= caps[name]
            del open_[name]
    return found


class Variation:
    """A logarithm that returns to 0: standard deviation 1, correlated over `lasts_s`."""

    def __init__(self, lasts_s: float, step_s: float, rng: np.random.Generator) -> None:
        self._keeps = math.exp(-step_s / lasts_s)
        self._rng = rng
        self._value = float(rng.normal())

    def next(self) -> float:
        fresh = math.sqrt(1 - self._keeps**2)
        self._value = self._keeps * self._value + fresh * float(self._rng.normal())
        return self._value


class Others:
    """Cross traffic, at the source and on each path, as time passes: `now`."""

    def __init__(self, network: Network, step_s: float, rng: np.random.Generator) -> None:
        self._kind = network.load
        self._step_s = step_s
        self._rng = rng
        self._drift = {name: Variation(1800.0, step_s, rng) for name in ("", *HOSTS)}
        self._most = {"": 12.0} | {name: float(rng.choice([0.0, 4.0, 8.0])) for name in HOSTS}
        self.now = {name: self._drawn(name) for name in ("", *HOSTS)}
        self._lasts_s = {STEPS: 300.0, BURSTS: 60.0}.get(self._kind, math.inf)

    def next(self) -> dict[str, float]:
        for name in self.now:
            if self._kind == DRIFT:
                level = math.exp(0.6 * self._drift[name].next())
                self.now[name] = 0.5 * self._most[name] * level
            elif self._rng.random() < self._step_s / self._lasts_s:
                self.now[name] = self._drawn(name)
        return self.now

    def _drawn(self, name: str) -> float:
        if self._kind == QUIET:
            return 0.25 * self._most[name]
        return float(self._most[name] * self._rng.choice([0.0, 0.25, 0.5, 1.0]))


def random_network(control: str, load: str, rng: np.random.Generator) -> Network:
    """The bench's rates, varied; the other properties by chance."""

    def about(middle: float, by: float) -> float:
        return float(middle * by ** rng.uniform(-1, 1))

    return Network(
        control=control,
        load=load,
        source_bps=about(SOURCE_RATE_BPS, 1.3),
        path_bps={name: about(bps, 1.3) for name, bps in RATES_BPS.items()},
        rtt_s={name: about(0.08, 1.6) for name in HOSTS},
        file_bps={name: about(0.3, 1.5) * bps for name, bps in RATES_BPS.items()},
        stream_exponent=rng.uniform(0.3, 0.9),
        host_files=about(150.0, 1.5),
        noise_s=about(4.0, 2.0),
        shared_noise=rng.uniform(0.02, 0.08),
    )


def networks(count: int, seed: int) -> Sequence[tuple[int, Network]]:
    """This many, with every congestion control under every kind of load as often as the others."""
    found = []
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        control = CONTROLS[number % len(CONTROLS)]
        load = LOADS[number // len(CONTROLS) % len(LOADS)]
        found.append((number, random_network(control, load, rng)))
    return found
