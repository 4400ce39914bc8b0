"""Reno on paths that lose nothing but what overflows the queue, played in rounds."""

import functools
import math

import msgspec
import pytest

from advisor.models.loss_response import LongRun, losses_seen
from advisor.models.overflow_cycles import after_overflow, cycle_mean
from advisor.models.steadiness import probe_length, steady_part
from tests.unit.models.tcp_rounds import Rounds
from tests.unit.models.test_long_run import Both, mean_bps, probed

_SHORT, _LONG = (127e6, 0.0133), (3e8, 0.1)


@functools.cache
def transfer(
    path: tuple[float, float], streams: int, queue: float, rounds: int = 3000, seed: int = 1
) -> Both:
    rate_bps, rtt_s = path
    return list(
        Rounds("reno", streams=streams, rtt_s=rtt_s, rate_bps=rate_bps, queue=queue, seed=seed).run(
            rounds
        )
    )


@pytest.mark.parametrize("streams", [1, 2, 4, 16])
@pytest.mark.parametrize("queue", [0.1, 0.3, 0.6, 1.0])
def test_the_mean_of_a_cycle_is_that_of_many_played_ones(streams: int, queue: float) -> None:
    rate_bps, _ = _SHORT
    played = [interval for interval, _ in transfer(_SHORT, streams, queue)][500:]
    assert mean_bps(played) / rate_bps == pytest.approx(cycle_mean(queue, streams), abs=0.03)


@pytest.mark.parametrize("path", [_SHORT, _LONG])
@pytest.mark.parametrize("queue", [0.1, 0.3])
@pytest.mark.parametrize("streams", [1, 2, 4])
def test_a_probe_of_a_part_of_a_cycle_tells_the_whole(
    path: tuple[float, float], queue: float, streams: int
) -> None:
    """Its slow start ends at half of the window that overflowed, or still fills the path."""
    both = transfer(path, streams, queue)
    part, _, true_bps = probed(both, path[1])
    assert abs(math.log(part.throughput_bps / true_bps)) < 2 * part.stderr_bps / true_bps
    assert part.throughput_bps == pytest.approx(true_bps, rel=0.15)


def test_a_rate_that_grows_for_a_minute_is_known_to_grow() -> None:
    """45.6 ms and 1 Gbit/s: 2,000 round trips until the queue overflows again."""
    both = transfer((1e9, 0.0456), 1, 0.3, rounds=6000)
    part, seconds, true_bps = probed(both, 0.0456)
    assert seconds < 3
    assert not part.settled
    assert part.throughput_bps < 0.8 * true_bps
    assert math.log(true_bps / part.throughput_bps) < 2.5 * part.stderr_bps / part.throughput_bps


def test_a_deep_queue_never_runs_empty() -> None:
    part, _, true_bps = probed(transfer(_LONG, 1, 1.0), _LONG[1])
    assert not part.predicted
    assert part.settled
    assert part.throughput_bps == pytest.approx(true_bps, rel=0.02)


def cycles_of(both: Both, **changed: object) -> LongRun | None:
    """What the first seconds of a transfer allow, with some figures of the losses changed."""
    intervals, reports = [i for i, _ in both[:80]], [r for _, r in both[:80]]
    rtt_s = _SHORT[1]
    losses = losses_seen(reports, lambda _: 1e8, rtt_s, 0.5, 1e8)
    assert losses is not None
    bps = mean_bps(intervals)
    losses = msgspec.structs.replace(losses, cuts=0, **changed)
    return after_overflow(reports, losses, rtt_s, bps, bps, bps)


def test_only_reno_s_own_overflows_count() -> None:
    both = transfer(_SHORT, 1, 0.3)
    assert cycles_of(both, later_cuts=0) is not None
    assert cycles_of(both, later_cuts=0, congestion="cubic") is None
    assert cycles_of(both, later_cuts=0, all_cuts=0) is None
    # Two cycles since start-up: the mean is what it will be.
    assert cycles_of(both, later_cuts=2) is None


def test_windows_that_the_receiver_holds_do_not_grow() -> None:
    both = [
        (interval, msgspec.structs.replace(report, state=waiting))
        for interval, report in transfer(_SHORT, 1, 0.3)
        if report.state
        and (
            waiting := msgspec.structs.replace(
                report.state, busy_s=report.t_s, receiver_limited_s=report.t_s / 2
            )
        )
    ]
    assert cycles_of(both, later_cuts=0) is None


def test_reports_without_an_rtt_are_no_queue() -> None:
    both = [(i, msgspec.structs.replace(r, rtt_s=None)) for i, r in transfer(_SHORT, 1, 0.3)]
    intervals, reports = [i for i, _ in both[:80]], [r for _, r in both[:80]]
    assert steady_part(intervals, probe_length(_SHORT[1]), reports=reports).throughput_bps > 0
