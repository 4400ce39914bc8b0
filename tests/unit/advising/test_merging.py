"""The totals of several processes as those of one."""

import itertools
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from advisor.advising.merging import Merger
from advisor.api.transport import Sample, SendingState


def a_sample(t_s: float, total_bytes: int, **more: Any) -> Sample:
    sample = Sample(t_s=t_s, total_bytes=total_bytes, cpu_s=t_s, busy_s=2 * t_s, host_s=4 * t_s)
    return msgspec.structs.replace(sample, **more)


def merged(*reports: tuple[int, Sample], processes: int = 2) -> list[Sample]:
    merger = Merger(processes)
    found = [merger.add(process, sample) for process, sample in reports]
    return [totals for totals in found if totals]


def flow(
    process: int, began_s: float, bps: float, times_s: Sequence[float]
) -> list[tuple[float, int, Sample]]:
    return [
        (t_s, process, a_sample(t_s, round(bps / 8 * (t_s - began_s))))
        for t_s in times_s
        if t_s >= began_s
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_rate_is_the_sum_of_the_rates_while_all_send(seed: int) -> None:
    rng = random.Random(seed)
    rates = [8e9, 4e9, 2e9]
    reports = []
    for process, bps in enumerate(rates):
        times_s = [0.1 * n + rng.uniform(-0.03, 0.03) for n in range(1, 40)]
        reports += flow(process, 0.5 * process, bps, times_s)
    in_order = sorted(reports, key=lambda report: report[0])
    totals = merged(*((process, one) for _, process, one in in_order), processes=3)
    assert len(totals) > 20
    assert totals[0].t_s >= 1.0
    for before, after in itertools.pairwise(totals):
        assert after.t_s > before.t_s
        rate_bps = (after.total_bytes - before.total_bytes) * 8 / (after.t_s - before.t_s)
        assert rate_bps == pytest.approx(sum(rates), rel=1e-6)


def test_nothing_is_reported_before_all_have_begun() -> None:
    assert merged((0, a_sample(1.0, 10)), (0, a_sample(2.0, 20))) == []
    # The second began after the last report of the first.
    assert merged((0, a_sample(1.0, 10)), (1, a_sample(1.5, 5))) == []


def test_the_cpu_is_that_of_all_and_the_host_that_of_one() -> None:
    first = a_sample(1.0, 8, cpu_s=2.0, thread_cpu_s=1.5, retransmits=3, rtt_s=0.2)
    second = a_sample(1.0, 9, cpu_s=3.0, thread_cpu_s=2.5, retransmits=4, rtt_s=0.4)
    [totals] = merged((0, first), (1, second))
    assert totals.total_bytes == 17
    assert totals.cpu_s == 5.0
    assert (totals.busy_s, totals.host_s) == (first.busy_s, first.host_s)
    assert totals.thread_cpu_s == 2.5
    assert totals.retransmits == 7
    assert totals.rtt_s == pytest.approx(0.3)


def test_what_one_of_them_does_not_tell_is_not_known() -> None:
    [totals] = merged((0, a_sample(1.0, 8, arrived_bytes=9)), (1, a_sample(1.0, 9)))
    assert totals.arrived_bytes is None
    assert totals.retransmits is None
    assert totals.thread_cpu_s is None
    assert totals.sending is None


def test_the_states_of_all_streams() -> None:
    state = SendingState(
        congestion="cubic",
        streams=2,
        window_bytes=100,
        starting=1,
        cuts=1,
        sent_segments=7,
        segment_bytes=1448,
    )
    other = msgspec.structs.replace(state, segment_bytes=1400, streams=3)
    [totals] = merged((0, a_sample(1.0, 8, sending=state)), (1, a_sample(1.0, 9, sending=other)))
    assert totals.sending is not None
    assert totals.sending.streams == 5
    assert totals.sending.window_bytes == 200
    assert totals.sending.segment_bytes == 1400
