"""What a probe makes of the reports of its two ends."""

import pytest

from advisor.advising.prober import Course
from advisor.api.transport import Sample
from advisor.models.steadiness import probe_length

_STEP_S = 0.1
_STEP_BYTES = 12_500_000


def _sample(number: int, read: int, arrived: int | None) -> Sample:
    return Sample(
        t_s=number * _STEP_S,
        total_bytes=read,
        cpu_s=0.0,
        busy_s=0.0,
        host_s=0.0,
        arrived_bytes=arrived,
    )


def _reports_until_over(with_arrival: bool) -> Course:
    """1 Gbit/s on which every other report finds a hole, which the next one finds filled."""
    course = Course(probe_length(0.02), lambda _: None)
    for number in range(100):
        held_back = _STEP_BYTES * 4 // 5 if number % 2 else 0
        arrived = number * _STEP_BYTES
        sample = _sample(number, arrived - held_back, arrived if with_arrival else None)
        course.add_received(sample)
        if course.meeting.over.is_set():
            break
    return course


@pytest.mark.asyncio
async def test_pauses_of_reading_do_not_lengthen_a_probe() -> None:
    knows, reads = _reports_until_over(True), _reports_until_over(False)
    assert knows.intervals[-1].end_s < reads.intervals[-1].end_s / 2
    steady = knows.intervals[knows.steady.first :] if knows.steady else []
    assert all(i.throughput_bps == pytest.approx(1e9) for i in steady[:-1])
    assert knows.measurement(1.0).throughput_bps == pytest.approx(1e9, rel=0.01)


@pytest.mark.asyncio
@pytest.mark.parametrize("intervals", [1, 2, 3])
async def test_a_probe_of_few_intervals_is_not_exact(intervals: int) -> None:
    course = Course(probe_length(0.02), lambda _: None)
    for number in range(intervals + 1):
        course.add_received(_sample(number, number * _STEP_BYTES, None))
    found = course.measurement(1.0)
    assert len(found.intervals) == intervals
    assert 0.2 * found.throughput_bps < found.stderr_bps <= found.throughput_bps
