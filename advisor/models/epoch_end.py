"""When a control epoch may end: its rate differs beyond doubt from the one it is compared with.

The epochs of Balaprakash et al. (2016) last 30 s whatever they show. A setting at half of the rate
of another shows it within a few seconds. Here the rates are compared after every look, with a
boundary that keeps the error of all looks together at 5 % (Pocock, "Group sequential methods in the
design and analysis of clinical trials", Biometrika 64(2), 1977). The standard errors are those of a
probe, meant for what comes later: they are widened for a rate that still drifts
(`steadiness.relative_error`), and the beginning that makes the mean less precise is left out.
"""

import math
from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.domain.epoch import Comparison, EpochRate
from advisor.domain.measurement import Interval
from advisor.models.steadiness import ENOUGH, mean_rate_bps, relative_error, start_up_length

LOOKS: Final = 20
"""The most looks of one epoch, which the boundary is for."""

_BOUNDARY: Final = 2.672
"""Pocock's constant for 20 looks and a two-sided error of 5 %."""

_FEWEST: Final = 4
"""Intervals of which a spread says something."""


def epoch_rate(intervals: Sequence[Interval]) -> EpochRate:
    """The rate of an epoch without its start-up. Needs at least one interval."""
    first = start_up_length([one.throughput_bps for one in intervals])
    part = intervals[first:]
    bps = mean_rate_bps(part)
    return EpochRate(bps=bps, stderr_bps=relative_error(part) * bps, first=first)


def is_shown(intervals: Sequence[Interval], wanted: Comparison) -> bool:
    """Whether the epoch so far shows what is wanted.

    With a reference: whether it is faster or slower beyond doubt, or a longer one would not show it
    either, because the error is by four fifths the reference's own. Else: whether its rate is known
    as well as that of a probe. `intervals`: of about the same length, LOOKS at most in all.
    """
    if len(intervals) < _FEWEST:
        return False
    rate = epoch_rate(intervals)
    if len(intervals) - rate.first < _FEWEST or rate.bps <= 0:
        return False
    error, reference = rate.stderr_bps / rate.bps, wanted.reference
    if reference is None:
        return error <= ENOUGH
    if error <= reference.stderr_bps / reference.bps / 2:
        return True
    if rate.bps < reference.bps:
        rate = _risen(intervals[rate.first :], rate)
    return differs(rate, reference)


def _risen(part: Sequence[Interval], rate: EpochRate) -> EpochRate:
    """What a rate comes to that rises by as much again as it has since its beginning.

    New connections take seconds to get their share of a link that others use.
    """
    middle = len(part) // 2
    early, late = (mean_rate_bps(some) for some in (part[:middle], part[middle:]))
    return msgspec.structs.replace(rate, bps=rate.bps + 2 * max(0.0, late - early))


def differs(rate: EpochRate, reference: EpochRate) -> bool:
    """Whether two rates above 0 differ beyond doubt, with an error of 5 % over all LOOKS."""
    error = math.hypot(rate.stderr_bps / rate.bps, reference.stderr_bps / reference.bps)
    return abs(math.log(rate.bps / reference.bps)) > _BOUNDARY * error
