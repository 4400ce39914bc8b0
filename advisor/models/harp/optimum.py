"""The best levels of a surface, lowered as far as this costs little (HARP 2018, section 3.2.4).

Equation 4: L-BFGS-B climbs within the box from the best point of a coarse grid. The relaxation then
tries smaller values of each level, "while keeping" the other two, "until new throughput becomes
smaller" than a share ρ of "initially estimated throughput": 0.7 for concurrency and parallelism,
0.99 for pipelining. So each level is lowered from the maximum on its own (the sentence before it,
in which smaller values are tried until the throughput "is larger", is treated as a slip), and all
three together may leave less than 0.7 of it; the paper counts on 60 % or more of the best.
Equation 5: the weighted mean over the groups.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec
import numpy as np

from advisor.domain.transfers import Levels
from advisor.models.harp.entries import Floats
from advisor.models.harp.fitted import FittedSurface

PAPERS_RELAXATION: Final = (0.7, 0.7, 0.99)
"""The fraction of the estimate that lower concurrency, parallelism and pipelining must keep …"""
RELAXATION: Final = 0.95
"""… and the one for concurrency and parallelism here: on held-out files it has all but 0.05 of the
best throughput that no relaxation has, with less than half of the flows."""


Keep: TypeAlias = tuple[float, float, float]
"""The fractions for concurrency, parallelism and pipelining, above 0 up to 1."""


def keep_of(relaxation: float) -> Keep:
    """The three fractions, where the one of concurrency and parallelism is given."""
    return relaxation, relaxation, max(relaxation, PAPERS_RELAXATION[2])


DEFAULT_KEEP: Final = keep_of(RELAXATION)


class LevelBounds(msgspec.Struct, frozen=True, kw_only=True):
    """The allowed levels, both bounds included."""

    lower: Levels
    upper: Levels

    def __post_init__(self) -> None:
        if (row_of(self.lower) > row_of(self.upper)).any() or min(row_of(self.lower)) < 1:
            raise ValueError("the box of levels is empty: give lower bounds from 1 up to the upper")

    def nearest(self, row: Floats) -> Floats:
        """The levels of the box nearest to these."""
        return np.clip(row, row_of(self.lower), row_of(self.upper))


def row_of(levels: Levels) -> Floats:
    """Levels as three numbers."""
    return np.array([levels.concurrency, levels.parallelism, levels.pipelining], dtype=np.float64)


def levels_of_row(row: Floats) -> Levels:
    """Three numbers as levels, rounded."""
    concurrency, parallelism, pipelining = (int(one) for one in np.floor(row + 0.5))
    return Levels(concurrency=concurrency, parallelism=parallelism, pipelining=pipelining)


def maximum(surface: FittedSurface, box: LevelBounds) -> Floats:
    """The levels at the maximum of a surface, as whole numbers.

    They are within the box and, where the two overlap, within the levels the group measured.
    """
    lower = box.nearest(surface.lower)
    upper = box.nearest(surface.upper)
    climbed = _climb(surface, lower, upper)
    return np.clip(np.floor(climbed + 0.5), lower, upper)


def _climb(surface: FittedSurface, lower: Floats, upper: Floats) -> Floats:
    from scipy.optimize import minimize  # Imported late: it takes longer than all the rest.

    start = _best_of_grid(surface, lower, upper)
    span = np.where(upper > lower, upper - lower, 1.0)

    def fall(place: Floats) -> tuple[float, Floats]:
        levels = lower + place * span
        slope = surface.slope(levels) * span
        return -float(surface.at(levels)[0]) / surface.most_bps, -slope / surface.most_bps

    found = minimize(
        fall,
        (start - lower) / span,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0 if high > low else 0.0) for low, high in zip(lower, upper, strict=True)],
    )
    return np.asarray(lower + found.x * span, dtype=np.float64)


def _best_of_grid(surface: FittedSurface, lower: Floats, upper: Floats) -> Floats:
    """The starting point: a climb finds the nearest maximum, the grid locates the highest."""
    axes = [np.unique(np.geomspace(low, high, 6)) for low, high in zip(lower, upper, strict=True)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    best: Floats = grid[int(surface.at(grid).argmax())]
    return np.clip(best, lower, upper)


def relaxed(
    surface: FittedSurface,
    top: Floats,
    box: LevelBounds,
    keep: Keep,
) -> Floats:
    """The smallest levels, each lowered from `top` alone, that keep enough of the throughput.

    `keep`: the fraction to keep for each level, above 0 up to 1.
    """
    levels = top.copy()
    top_bps = float(surface.at(top)[0])
    lowest = box.nearest(surface.lower)
    for axis, share in enumerate(keep):
        steps = np.arange(top[axis] - 1, lowest[axis] - 1, -1)
        tried = np.repeat(top[None, :], len(steps), axis=0)
        tried[:, axis] = steps
        fails = np.flatnonzero(surface.at(tried) < share * top_bps)
        levels[axis] -= fails[0] if len(fails) else len(steps)
    return levels


def mean_levels(found: Sequence[Floats], varied: Sequence[np.ndarray], weights: Floats) -> Floats:
    """The weighted mean of the groups' levels (equation 5), rounded to whole numbers.

    A group that never varied a level has no weight in it, unless none did. At least one group;
    weights above zero.
    """
    levels, says = np.stack(found), np.stack(varied)
    says = np.where(says.any(axis=0), says, True)
    shares = says * weights[:, None]
    mean: Floats = (levels * shares).sum(axis=0) / shares.sum(axis=0)
    return np.floor(mean + 0.5)
