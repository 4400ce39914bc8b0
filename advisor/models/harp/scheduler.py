"""How many channels each class of files gets when all are moved at once (HARP 2018, algorithm 1).

The weight of a class is size × TT / UT, where UT is its throughput with a concurrency of 1 and TT
the sum of all UT; it gets its share of the highest concurrency that any class requests, rounded
down.

Line 20 reads cc' = max(cc_est, ⌊maxCC · weight / totalWeight⌋), which gives the worked example's
classes 7, 4 and 3 channels, where the text gives them 4, 2 and 1: it is treated as a slip for min,
with which no class gets more than it requests. A class whose share is below one gets one channel,
or it would never be moved. Parallelism and pipelining "are used as is"; that the example's third
class goes in with a parallelism of 5 and comes out with 3 is treated as another slip.
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from advisor.domain.transfers import Levels


class ClassDemand(msgspec.Struct, frozen=True, kw_only=True):
    """The requirements of one class if it were moved alone.

    `total_bytes` and `unit_throughput_bps`, the throughput with a concurrency of 1: above zero.
    """

    levels: Levels
    total_bytes: int
    unit_throughput_bps: float


def schedule(demands: Sequence[ClassDemand]) -> list[Levels]:
    """The levels of each class when all run together, in the order given."""
    if not demands:
        return []
    channels = max(one.levels.concurrency for one in demands)
    # TT is in every weight and cancels. Fractions, since 0.9999… of a channel would become none.
    weights = [Fraction(one.total_bytes) / Fraction(one.unit_throughput_bps) for one in demands]
    total = sum(weights)
    return [
        msgspec.structs.replace(
            one.levels,
            concurrency=max(1, min(one.levels.concurrency, int(channels * weight / total))),
        )
        for one, weight in zip(demands, weights, strict=True)
    ]
