"""How many channels each class of files gets when all are moved at once (HARP 2018, algorithm 1).

The weight of a class is size × TT / UT, where UT is its throughput with a concurrency of 1 and TT
the sum of all UT. The highest concurrency that any class requests "is then distributed among
chunks based on their weights".

Line 20 reads cc' = max(cc_est, ⌊maxCC · weight / totalWeight⌋), which gives the worked example's
classes 7, 4 and 3 channels, where the text gives them 4, 2 and 1: the text is followed. All
channels are handed out: every class gets one, or it would never be moved, and the remainder of the
division goes where a class is furthest below its share. What a class has too few files and ranges
for goes to the others. Parallelism and pipelining "are used as is"; that the example's third class
goes in with a parallelism of 5 and comes out with 3 is treated as another slip.
"""

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from advisor.domain.transfers import Levels


class ClassDemand(msgspec.Struct, frozen=True, kw_only=True):
    """The requirements of one class if it were moved alone.

    `total_bytes` and `unit_throughput_bps`, the throughput with a concurrency of 1: above zero.
    `most_channels`: how many can work on it at the same time, at least 1.
    """

    levels: Levels
    total_bytes: int
    unit_throughput_bps: float
    most_channels: int


def schedule(demands: Sequence[ClassDemand]) -> list[Levels]:
    """The levels of each class when all run together, in the order given."""
    if not demands:
        return []
    channels = max(one.levels.concurrency for one in demands)
    # TT is in every weight and cancels. Fractions, since 0.9999… of a channel would become none.
    weights = [Fraction(one.total_bytes) / Fraction(one.unit_throughput_bps) for one in demands]
    total = sum(weights)
    shares = [channels * weight / total for weight in weights]
    handed_out = _handed_out(channels, shares, [one.most_channels for one in demands])
    return [
        msgspec.structs.replace(one.levels, concurrency=concurrency)
        for one, concurrency in zip(demands, handed_out, strict=True)
    ]


def _handed_out(channels: int, shares: Sequence[Fraction], most: Sequence[int]) -> list[int]:
    """Whole channels: one for each, and each further one to the class furthest below its share."""
    given = [1] * len(shares)
    for _ in range(channels - len(shares)):
        below = {i: shares[i] - given[i] for i in range(len(shares)) if given[i] < most[i]}
        if not below:
            break
        given[max(below, key=lambda i: below[i])] += 1
    return given
