"""Where the start-up phase of a transfer ends."""

import statistics
from collections.abc import Sequence
from typing import Final

# Slow start is slower by a factor, noise by a few percent: a beginning that reaches this share of
# what follows is not left out.
_SLOW_SHARE: Final = 0.75


def startup_length(rates: Sequence[float]) -> int:
    """How many of the first interval rates belong to the start-up phase; at most half of them.

    The marginal standard error rule (White 1997): cut where the mean of the rest is best known,
    which weighs a cleaner rest against a shorter one. What was cut stays cut only when it was slow.
    """
    if len(rates) < 3:
        return 0
    cuts = range(len(rates) // 2 + 1)
    cut = min(cuts, key=lambda c: statistics.pvariance(rates[c:]) / (len(rates) - c))
    if cut and statistics.fmean(rates[:cut]) < _SLOW_SHARE * statistics.fmean(rates[cut:]):
        return cut
    return 0
