"""The fastest point of similar past transfers: a starting point for another search.

HARP's optimiser without a sample, so all groups have the same weight, and without its relaxation,
which trades throughput for fewer flows: a search weighs the two itself.
"""

from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import UNLIKE, optimise
from advisor.models.harp.optimum import LevelBounds, keep_of, row_of

_UNRELAXED: Final = keep_of(1.0)
_FLOWS: Final = slice(2)
"""The indices of concurrency and parallelism among the three levels."""


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The levels, their expected throughput, and the number of groups and transfers behind it."""

    levels: Levels
    throughput_bps: float
    groups: int
    transfers: int


# Every search of the same transfer, as in a backtest with many seeds, starts at the same place.
@lru_cache(maxsize=1)
def peak_of(wanted: Conditions, history: History, bounds: LevelBounds) -> Peak | None:
    """Where to start; None where past transfers do not say.

    That is where no similar group has a surface, where none is of this kind of path and files, and
    where concurrency or parallelism is free but was never varied: that one stream was always used
    does not mean that one is best.
    """
    if not len(history):
        return None
    found = optimise(wanted, None, history, bounds, keep=_UNRELAXED)
    if not found.groups or max(one.likeness for one in found.groups) < UNLIKE:
        return None
    varied = np.any([one.surface.varied for one in found.groups], axis=0)
    free = row_of(bounds.upper) > row_of(bounds.lower)
    if (free & ~varied)[_FLOWS].any():
        return None
    return Peak(
        levels=found.levels,
        throughput_bps=found.throughput_bps,
        groups=len(found.groups),
        transfers=sum(len(one.rows) for one in found.groups),
    )
