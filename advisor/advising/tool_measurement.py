"""What a run of a transfer tool says: the rate while data flow, and the time beside it."""

from collections.abc import Sequence
from typing import Final

import msgspec

from advisor.domain.measurement import FailureKind, Interval, Measurement
from advisor.models.steadiness import relative_error, start_up_length
from advisor.probing.transfer import Ran

_FEW_INTERVALS: Final = 4


class ProbeFailed(ValueError):
    """A probe that gave no throughput."""

    def __init__(self, kind: FailureKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def measurement_of(ran: Ran) -> Measurement:
    """The measurement of a transfer. Raises ProbeFailed if nothing flowed."""
    intervals = ran.intervals
    if not intervals or ran.moved_bytes <= 0:
        raise ProbeFailed(
            FailureKind.TIMED_OUT, f"no data arrived within {ran.elapsed_s:.0f} s of the start"
        )
    first = start_up_length([i.throughput_bps for i in intervals])
    if not _is_start_up(intervals, first):
        first = 0
    counted = intervals[first:]
    bps = _mean_bps(counted)
    if bps <= 0:
        raise ProbeFailed(FailureKind.TIMED_OUT, "the data stopped flowing")
    return Measurement(
        throughput_bps=bps,
        stderr_bps=relative_error(counted) * bps,
        intervals=intervals,
        steady_from=first,
        settled=ran.status == 0,
        elapsed_s=ran.elapsed_s,
        retransmits=ran.retransmits,
        rtt_s=ran.rtt_s,
        overhead_s=ran.elapsed_s - ran.moved_bytes * 8 / bps,
    )


def with_moved(ran: Ran, moved_bytes: int) -> Ran:
    """The run with this many bytes, if it saw fewer: evenly over its time."""
    if moved_bytes <= ran.moved_bytes:
        return ran
    seen = ran.intervals or [Interval(0.0, ran.elapsed_s, 0)]
    totals = [round(moved_bytes * one.end_s / seen[-1].end_s) for one in seen]
    intervals = [
        Interval(one.start_s, one.end_s, total - before)
        for one, before, total in zip(seen, [0, *totals[:-1]], totals, strict=True)
    ]
    return msgspec.structs.replace(ran, moved_bytes=moved_bytes, intervals=intervals)


def with_write_back(measurement: Measurement, moved_bytes: int, written_s: float) -> Measurement:
    """The measurement as if its data had flowed until they were on the disk, `written_s` later."""
    bits = moved_bytes * 8
    slower = 1 / (1 + written_s * measurement.throughput_bps / bits)
    return msgspec.structs.replace(
        measurement,
        throughput_bps=measurement.throughput_bps * slower,
        stderr_bps=measurement.stderr_bps * slower,
        elapsed_s=measurement.elapsed_s + written_s,
    )


def _is_start_up(intervals: Sequence[Interval], first: int) -> bool:
    """Whether the part before `first` is slower than the rest.

    If it is faster, the rest is the end of a slice, when the last files are under way: that is part
    of the result as well. If there are very few intervals, each may hold a file more or less.
    """
    if not first or len(intervals) <= _FEW_INTERVALS:
        return False
    return _mean_bps(intervals[:first]) < _mean_bps(intervals[first:])


def _mean_bps(part: Sequence[Interval]) -> float:
    lasted_s = part[-1].end_s - part[0].start_s
    return sum(one.received_bytes for one in part) * 8 / lasted_s


def peak_bps(intervals: Sequence[Interval]) -> float:
    """The highest mean over a contiguous quarter of the time."""
    length = max(1, len(intervals) // 4)
    starts = range(len(intervals) - length + 1)
    return max(_mean_bps(intervals[start : start + length]) for start in starts)
