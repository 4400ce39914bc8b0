"""The remaining time of a transfer, from its recent rates."""

import math
import statistics
from collections.abc import Sequence
from typing import Final

from advisor.models.comparison import student

LOOKED_AT: Final = 30
"""The number of rates that count; older ones need not be kept."""

_FEWEST: Final = 5
# Consecutive rates are correlated: this many of them are worth one independent rate.
_ALIKE: Final = 4.0


def time_left(left_bytes: int, rates_bps: Sequence[float]) -> tuple[float, float, float] | None:
    """Remaining seconds, with the bounds of a 90 % interval; None until they can be estimated.

    `rates_bps`: one per sample, the newest last. The interval is that of the mean rate over the
    last 30 samples: it does not include future loads.
    """
    if not left_bytes:
        return 0.0, 0.0, 0.0
    looked_at = rates_bps[-LOOKED_AT:]
    if len(looked_at) < _FEWEST or (mean_bps := statistics.fmean(looked_at)) <= 0:
        return None
    worth = max(2.0, len(looked_at) / _ALIKE)
    off_bps = student(worth - 1) * statistics.stdev(looked_at) / math.sqrt(worth)
    bits = left_bytes * 8
    slowest_bps = max(mean_bps - off_bps, mean_bps / 10)
    return bits / mean_bps, bits / (mean_bps + off_bps), bits / slowest_bps
