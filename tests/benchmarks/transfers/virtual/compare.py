"""Methods against the best fixed setting of a made-up link, by the bytes of the first minute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

import msgspec
import numpy as np

from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting
from advisor.domain.transfers import Levels
from advisor.methods.tuning import Tuner, TunerBounds
from advisor.testing.samples import a_path
from advisor.transfer.tuned.tuners import TunerWanted, tuner_of
from tests.benchmarks.transfers.virtual.engine import moved_bytes
from tests.benchmarks.transfers.virtual.links import CONTROLS, Link, busy_link, random_link

SECONDS: Final = 60.0
MOST_FLOWS: Final = 128
DEFAULT: Final[Setting] = {"concurrency": 2, "parallelism": 8}
STATIC: Final[tuple[Setting, ...]] = tuple(
    {"concurrency": files, "parallelism": streams}
    for files in (1, 2, 4, 8, 16, 32)
    for streams in (1, 2, 4, 8, 16)
    if files * streams <= MOST_FLOWS
)
"""The fixed settings that are compared with."""

_WITHOUT_END_S: Final = 1e9
_KNOWN: Final = 10.0
"""The interface's rate over the bottleneck's: a tuner does not know where the bottleneck is."""

_BIG: Final = Dataset(total_bytes=10**15, files=1)


def links(
    control: str, count: int, seed: int, *, loaded: bool = False, busy: bool = False
) -> Iterable[Link]:
    """This many links; each is the same whatever the count.

    `loaded`: with competing flows. `busy`: between hosts that also compute, without such flows.
    """
    for number in range(count):
        rng = np.random.default_rng([seed, number, CONTROLS.index(control)])
        yield busy_link(control, rng) if busy else random_link(control, rng, loaded=loaded)


def tuner(
    method: str,
    link: Link,
    seed: int,
    start: Levels | None = None,
    price: float | None = None,
) -> Tuner:
    """As `advisor transfer` makes it. `start`: what history or advice say."""
    path = msgspec.structs.replace(a_path(), rtt_s=link.rtt_s, bandwidth_bps=_KNOWN * link.rate_bps)
    bounds = TunerBounds(concurrency=32, parallelism=16, flows=MOST_FLOWS)
    wanted = TunerWanted(method=method, bounds=bounds, advised=start, seed=seed, price=price)
    return tuner_of(wanted, _BIG, path, [])


@dataclass(frozen=True, slots=True)
class Contestant:
    """A method; `epoch_s` None for epochs that end when their difference is decided."""

    method: str
    epoch_s: float | None = None

    def share(
        self, link: Link, best_bytes: float, seeds: Sequence[int], seconds: float = SECONDS
    ) -> float:
        """The mean of what it moves over these seeds, of the best fixed setting's."""
        moved = (
            moved_bytes(tuner(self.method, link, seed), link, seed, seconds, epoch_s=self.epoch_s)
            for seed in seeds
        )
        return fmean(moved) / best_bytes


def fixed_bytes(
    setting: Setting, link: Link, seeds: Sequence[int], seconds: float = SECONDS
) -> float:
    """What a fixed setting moves, on the mean."""
    return fmean(moved_bytes(setting, link, seed, seconds) for seed in seeds)


def best_static_bytes(link: Link, seeds: Sequence[int], seconds: float = SECONDS) -> float:
    """What the best fixed setting moves, chosen with hindsight."""
    return max(fixed_bytes(setting, link, seeds, seconds) for setting in STATIC)


def tool_bytes(link: Link, seeds: Sequence[int]) -> float:
    """What the tool moves by itself: Globus's default, and no client ends."""
    alone = (moved_bytes(DEFAULT, link, seed, SECONDS, piece_s=_WITHOUT_END_S) for seed in seeds)
    return fmean(alone)
