"""Made-up histories of which the truth is known."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np

from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.models.harp.optimum import LevelBounds

GRID = (1, 2, 4, 8, 16, 32)
DAY_S = 24 * 3600.0
WAN = Conditions(
    file_bytes=3e9, file_count=34, bandwidth_bps=10e9, rtt_s=0.04, buffer_bytes=2**25, network="wan"
)
LAN = Conditions(
    file_bytes=4e6,
    file_count=2500,
    bandwidth_bps=1e9,
    rtt_s=0.0002,
    buffer_bytes=4e6,
    network="lan",
)
BOX = LevelBounds(
    lower=Levels(concurrency=1, parallelism=1, pipelining=1),
    upper=Levels(concurrency=32, parallelism=32, pipelining=32),
)

Truth = Callable[[int, int, int], float]


def hill(best: tuple[float, float, float], height_bps: float) -> Truth:
    """A paraboloid with its top at `best`, that keeps a fifth of its height at the far corners."""

    def rate_bps(*levels: int) -> float:
        fall = sum((level - top) ** 2 for level, top in zip(levels, best, strict=True))
        return height_bps * (1 - 0.8 * fall / (3 * 31**2))

    return rate_bps


def sweep(
    truth: Truth,
    conditions: Conditions = WAN,
    when_s: float | None = 0.0,
    noise: float = 0.0,
    seed: int = 0,
    grid: Sequence[int] = GRID,
) -> list[PastTransfer]:
    """One transfer at every setting of a grid."""
    rng = np.random.default_rng(seed)
    return [
        PastTransfer(
            conditions=conditions,
            levels=Levels(concurrency=cc, parallelism=p, pipelining=pp),
            throughput_bps=truth(cc, p, pp) * float(np.exp(noise * rng.standard_normal())),
            when_s=when_s,
        )
        for cc, p, pp in product(grid, repeat=3)
    ]


def columns(entries: Sequence[PastTransfer]) -> tuple[np.ndarray, np.ndarray]:
    """Levels and throughputs, as a surface is fitted to."""
    levels = [
        (one.levels.concurrency, one.levels.parallelism, one.levels.pipelining) for one in entries
    ]
    return np.array(levels, dtype=float), np.array([one.throughput_bps for one in entries])
