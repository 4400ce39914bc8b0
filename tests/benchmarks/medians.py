"""Medians with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FEW = 6
"""Below this number of values no 95 % interval of a median exists: it is then their range."""
_DRAWS = 2000


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """Lower end, median, upper end: 95 % by bootstrap, or the range of few values."""
    if len(values) < FEW:
        return min(values), float(np.median(values)), max(values)
    rng = np.random.default_rng(0)
    medians = np.median(rng.choice(np.asarray(values), (_DRAWS, len(values))), axis=1)
    low, high = np.quantile(medians, (0.025, 0.975))
    return float(low), float(np.median(values)), float(high)
