"""The rule that the present one replaced, as it was, to be compared with it in the same run.

HARP (2018), section 3.1.1: stop when two consecutive monitor intervals are within 5 %. The two were
the halves of what MSER left, each of four round trips, after 12 round trips; 36 with losses.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from advisor.domain.measurement import Interval
from advisor.domain.sending import SenderReport
from advisor.models.steadiness import CLOSE_ENOUGH, SteadyPart, start_up_length

_STDERR_SHARE: Final = 0.025
_MIN_INTERVALS: Final = 4


def steady_part_before(
    intervals: Sequence[Interval], rtt_s: float, reports: Sequence[SenderReport] = ()
) -> SteadyPart:
    """What that rule said of a probe."""
    lossy = bool(reports and reports[-1].retransmits)
    first = start_up_length([i.throughput_bps for i in intervals])
    part = intervals[first:]
    mean_bps, stderr_bps = _mean_bps(part), _stderr_bps(part)
    middle = len(part) // 2
    earlier, later = part[:middle], part[middle:]
    settled = (
        intervals[-1].end_s >= max(0.6, (36 if lossy else 12) * rtt_s)
        and len(part) >= _MIN_INTERVALS
        and earlier[-1].end_s - earlier[0].start_s >= max(0.2, 4 * rtt_s)
        and mean_bps > 0
        and abs(_mean_bps(later) - _mean_bps(earlier)) <= CLOSE_ENOUGH * mean_bps
        and stderr_bps <= _STDERR_SHARE * mean_bps
    )
    return SteadyPart(first=first, throughput_bps=mean_bps, stderr_bps=stderr_bps, settled=settled)


def _mean_bps(part: Sequence[Interval]) -> float:
    length_s = sum(i.end_s - i.start_s for i in part)
    return sum(i.received_bytes for i in part) * 8 / length_s if length_s > 0 else 0.0


def _stderr_bps(part: Sequence[Interval]) -> float:
    if len(part) < 2:
        return math.inf
    rates = [i.throughput_bps for i in part]
    mean = math.fsum(rates) / len(rates)
    return math.sqrt(math.fsum((r - mean) ** 2 for r in rates) / (len(rates) - 1) / len(rates))
