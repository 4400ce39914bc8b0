"""Where past transfers that were alike went fastest: a start for a search of another kind.

HARP's optimiser without a sample, so that all groups count the same, and without its relaxation,
which gives throughput away for fewer flows: a search weighs the two by itself.
"""

from functools import lru_cache
from typing import Final

import msgspec
import numpy as np

from advisor.domain.transfers import Conditions, Levels
from advisor.models.harp.entries import History
from advisor.models.harp.optimiser import UNLIKE, optimise
from advisor.models.harp.optimum import Box, row_of

_UNRELAXED: Final = (1.0, 1.0, 1.0)
_FLOWS: Final = slice(2)
"""Of the three levels, concurrency and parallelism."""


class Peak(msgspec.Struct, frozen=True, kw_only=True):
    """The levels, what is expected of them, and how many groups and transfers say so."""

    levels: Levels
    throughput_bps: float
    groups: int
    transfers: int


# Every search of the same transfer, as of a backtest with many seeds, starts at the same place.
@lru_cache(maxsize=1)
def peak_of(wanted: Conditions, history: History, bounds: Box) -> Peak | None:
    """Where to start. None where the past does not tell.

    That is where no similar group has a surface, where none is of this kind of path and files, and
    where concurrency or parallelism may be chosen and was never varied: that one stream was always
    used does not say that one is best.
    """
    if not len(history):
        return None
    # The seed draws what the surfaces are checked with: the same history gives the same start.
    found = optimise(wanted, None, history, bounds, np.random.default_rng(0), keep=_UNRELAXED)
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
