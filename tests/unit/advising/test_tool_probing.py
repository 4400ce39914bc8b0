"""What a probe of a tool makes of the moments it saw."""

from collections.abc import Sequence

import pytest

from advisor.advising.tool_probing import measurement_of
from advisor.domain.measurement import Interval
from advisor.models.slicing import whole_bps
from advisor.probing.transfer import Ran


def _ran(mbytes: Sequence[float], begun_s: float = 0.5, closing_s: float = 0.5) -> Ran:
    """So many MB in each tenth of a second."""
    intervals = [Interval(n / 10, (n + 1) / 10, round(mb * 1e6)) for n, mb in enumerate(mbytes)]
    return Ran(
        status=0,
        intervals=intervals,
        moved_bytes=sum(one.received_bytes for one in intervals),
        begun_s=begun_s,
        elapsed_s=begun_s + len(intervals) / 10 + closing_s,
        retransmits=0,
        rtt_s=0.02,
        output="",
        errors="",
    )


def test_the_start_is_left_out_of_the_rate_and_is_in_the_time_beside_it() -> None:
    found = measurement_of(_ran([1, 2, 4, 8, *[10, 10.1, 9.9] * 10]), 0.02)
    assert found.throughput_bps == pytest.approx(8e8, rel=0.03)
    # 0.4 s of the start gave 15 MB, which take 0.15 s at that rate.
    assert found.overhead_s == pytest.approx(1.0 + 0.25, abs=0.1)


def test_the_end_of_a_slice_belongs_to_the_whole() -> None:
    moments = [10, 10.1, 9.9] * 7 + [2, 2.1, 1.9] * 5
    found = measurement_of(_ran(moments), 0.02)
    assert found.throughput_bps == pytest.approx(sum(moments) * 8e6 / (len(moments) / 10))
    assert found.overhead_s == pytest.approx(1.0)
    # Three times as much of the same takes three times as long, and its beginning once.
    whole = whole_bps(found.throughput_bps, found.overhead_s or 0, round(3 * sum(moments) * 1e6))
    assert 3 * sum(moments) * 8e6 / whole == pytest.approx(1.0 + 3 * len(moments) / 10)


def test_a_few_moments_count_together() -> None:
    found = measurement_of(_ran([1, 5, 9]), 0.02)
    assert found.throughput_bps == pytest.approx(15 * 8e6 / 0.3)
