"""Made-up bottlenecks, shared by flows in proportion to their number. Pure.

Not a network simulator: it has what makes tuning a running transfer hard. New connections take time
to get their share, and every piece makes new ones; the rate varies by 10 to 20 % over seconds; many
flows cost the hosts; alone on the link the setting hardly matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

CONTROLS: Final = ("bbr", "cubic", "reno")

_RAMP_S: Final = {"bbr": (0.4, 1.5), "cubic": (0.8, 3.0), "reno": (1.5, 5.0)}
"""Time constants in which a new flow comes to its share."""

_SLOW_START_ROUND_TRIPS: Final = 4
"""The time constant of a new flow without others, which doubles in a round trip until it fills."""

_ALONE_LOST: Final = {"bbr": 0.02, "cubic": 0.1, "reno": 0.25}
"""What a single flow leaves of a link unused; n flows leave an n-th of that."""


@dataclass(frozen=True, slots=True)
class Link:
    """A bottleneck of `rate_bps` with `others` competing flows.

    `ramp_s`: see _RAMP_S. `set_up_s`: from the start of a client to its first byte. `noise`:
    relative standard deviation of the rate, correlated over `noise_s`. `exponent`: of the numbers
    of flows in the shares. `host_flows`: with this many the hosts reach half. `flow_bps`: the most
    that one flow's window allows. `start_s`: by how much each client that starts delays those that
    start with it, on a host whose cores are busy.
    """

    control: str
    rate_bps: float
    rtt_s: float
    others: int
    ramp_s: float
    set_up_s: float
    noise: float
    noise_s: float
    exponent: float
    host_flows: float
    flow_bps: float
    start_s: float = 0.0

    def weight(self, clients: Iterable[tuple[int, float]]) -> float:
        """The number of flows of clients, each with its streams and its seconds since the start.

        Flows that have not come to their share yet count less.
        """
        return sum(
            streams * -math.expm1(-max(0.0, age_s - self.set_up_s) / self.ramp_s)
            for streams, age_s in clients
        )

    def mean_bps(self, clients: Iterable[tuple[int, float]], rivals: float = 0.0) -> float:
        """The rate of clients as in `weight`. `rivals`: the weight of another tuned transfer."""
        clients = list(clients)
        flows = sum(streams for streams, _ in clients)
        weight = self.weight(clients)
        if weight <= 0:
            return 0.0
        others = self.others + rivals
        used = 1 - _ALONE_LOST[self.control] / max(1.0, weight + others)
        ours = weight**self.exponent
        share = ours / (ours + others**self.exponent)
        bps = min(self.rate_bps * used * share, weight * self.flow_bps)
        return float(bps / (1 + (flows / self.host_flows) ** 2))


class Noise:
    """A factor around 1 that returns to it, one value for each `step_s`."""

    def __init__(self, link: Link, step_s: float, rng: np.random.Generator) -> None:
        self._keeps = math.exp(-step_s / link.noise_s)
        self._spread = link.noise
        self._rng = rng
        self._log = float(rng.normal(0.0, link.noise))

    def next(self) -> float:
        fresh = self._spread * math.sqrt(1 - self._keeps**2)
        self._log = self._keeps * self._log + float(self._rng.normal(0.0, fresh))
        return math.exp(self._log)


def random_link(control: str, rng: np.random.Generator, *, loaded: bool) -> Link:
    """A link with 4 to 128 competing flows, or with none."""
    rate_bps = 1e9 * 2 ** rng.uniform(-2, 3.3)
    rtt_s = rng.uniform(0.01, 0.09)
    return Link(
        control=control,
        rate_bps=rate_bps,
        rtt_s=rtt_s,
        others=round(4 * 2 ** rng.uniform(0, 5)) if loaded else 0,
        ramp_s=rng.uniform(*_RAMP_S[control]) if loaded else _SLOW_START_ROUND_TRIPS * rtt_s,
        set_up_s=0.1 + 8 * rtt_s,
        noise=rng.uniform(0.1, 0.2) if loaded else rng.uniform(0.01, 0.03),
        noise_s=2 ** rng.uniform(0, 3),
        exponent=rng.uniform(0.85, 1.0),
        host_flows=100 * 2 ** rng.uniform(0, 4),
        flow_bps=rate_bps / 2 ** rng.uniform(0, 6),
    )


def busy_link(control: str, rng: np.random.Generator) -> Link:
    """A link without competing flows between hosts that also compute.

    As seen beside 64 computing processes on two cores: means of 8 s at one setting varied by 20 to
    50 %, slowly, and clients took up to 10 s to begin where many began together.
    """
    link = random_link(control, rng, loaded=False)
    return replace(
        link,
        ramp_s=rng.uniform(0.5, 3.0),
        set_up_s=rng.uniform(0.5, 4.0),
        noise=rng.uniform(0.2, 0.6),
        noise_s=4 * 2 ** rng.uniform(0, 3),
        host_flows=100 * 2 ** rng.uniform(0, 3.5),
        flow_bps=link.rate_bps / 2 ** rng.uniform(2, 6),
        start_s=rng.uniform(0.05, 0.2),
    )
