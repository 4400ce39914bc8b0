import math
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
import pytest

from advisor.domain.measurement import Interval
from advisor.domain.sending import SenderReport, SendingState
from advisor.models.steadiness import (
    error_among_repeats,
    is_behind,
    probe_length,
    start_up_length,
    steady_part,
)
from advisor.testing.samples import measured


def intervals(rates_bps: list[float], every_s: float = 0.1) -> list[Interval]:
    return [
        Interval(i * every_s, (i + 1) * every_s, round(rate * every_s / 8))
        for i, rate in enumerate(rates_bps)
    ]


def noisy(mean_bps: float, spread: float, count: int, seed: int = 1) -> list[float]:
    rng = np.random.default_rng(seed)
    return list(mean_bps * (1 + spread * rng.standard_normal(count)))


def slow_start(peak_bps: float, rtt_s: float, every_s: float) -> Iterator[float]:
    """Doubling each round trip from 10 segments until the peak, then steady."""
    t_s = 0.0
    while True:
        yield min(peak_bps, 10 * 1448 * 8 / rtt_s * 2 ** min(60, t_s / rtt_s))
        t_s += every_s


def test_a_steady_probe_ends_at_its_floor() -> None:
    length = probe_length(0.001)
    rates = noisy(1e9, 0.01, 6)
    part = steady_part(intervals(rates), length)
    assert part.settled
    assert part.throughput_bps == pytest.approx(1e9, rel=0.02)


def test_nothing_is_settled_before_the_floor() -> None:
    assert not steady_part(intervals([1e9] * 3), probe_length(0.001)).settled


def test_with_losses_of_unknown_effect_a_steady_rate_has_to_last() -> None:
    length = probe_length(0.1)
    short, whole = intervals([1e9] * 13), intervals([1e9] * 36)
    assert steady_part(short, length).settled
    assert not steady_part(short, length, lossy=True).settled
    assert steady_part(whole, length, lossy=True).settled


def behind_after(
    rates: list[float], rtt_s: float, least_bps: float, reports: Sequence[SenderReport] = ()
) -> float:
    """The seconds after which a lossy probe is behind; infinite if it never is."""
    length = probe_length(rtt_s)
    for count in range(1, len(rates) + 1):
        seen = intervals(rates[:count])
        part = steady_part(seen, length, lossy=True)
        if is_behind(part, seen, length, least_bps, reports):
            return seen[-1].end_s
    return math.inf


def test_a_probe_that_cannot_reach_the_rate_in_question_need_not_wait() -> None:
    even = noisy(2e8, 0.03, 36)
    length = probe_length(0.1)
    assert behind_after(even, 0.1, 4e8) < length.lossy_floor_s / 2
    assert behind_after(even, 0.1, 4e8) >= length.floor_s
    assert behind_after(even, 0.1, 1.9e8) == math.inf
    assert behind_after(even, 0.1, 0.0) == math.inf


def sent_with(congestion: str, retransmits: int) -> list[SenderReport]:
    state = SendingState(
        congestion=congestion,
        streams=1,
        window_bytes=10**6,
        starting=0,
        cuts=0,
        sent_segments=1000,
        segment_bytes=1448,
    )
    return [SenderReport(t_s=0.5, retransmits=retransmits, rtt_s=0.1, state=state)]


def test_bbr_with_losses_is_behind_only_after_one_of_its_cycles() -> None:
    share = [2e8] * 12 + [6e8] * 24
    assert behind_after(share, 0.1, 5e8, sent_with("cubic", 40)) < 1.2
    assert behind_after(share, 0.1, 5e8, sent_with("bbr", 0)) < 1.2
    assert behind_after(share, 0.1, 5e8, sent_with("bbr", 40)) == math.inf
    assert behind_after([2e8] * 36, 0.1, 5e8, sent_with("bbr", 40)) < 1.6


def test_a_probe_in_its_start_up_is_not_behind() -> None:
    rising = [1e6 * 1.3**n for n in range(20)]
    assert behind_after(rising, 0.1, 1e9) == math.inf


def test_on_a_short_path_loss_makes_no_probe_longer() -> None:
    assert steady_part(intervals([1e9] * 6), probe_length(0.001), lossy=True).settled


@pytest.mark.parametrize("rtt_s", [0.0004, 0.0116, 0.0936, 0.183, 0.366])
@pytest.mark.parametrize("peak_bps", [1e8, 1e9, 1e10])
def test_slow_start_is_left_out_at_every_rtt(rtt_s: float, peak_bps: float) -> None:
    length = probe_length(rtt_s)
    source = slow_start(peak_bps, rtt_s, length.sample_every_s)
    rates: list[float] = []
    while len(rates) * length.sample_every_s < length.ceiling_s:
        rates.append(next(source))
        part = steady_part(intervals(rates, length.sample_every_s), length)
        if part.settled:
            break
    assert part.settled
    assert part.throughput_bps == pytest.approx(peak_bps, rel=0.05)


def test_a_rate_that_still_climbs_is_not_settled() -> None:
    rates = [1e8 * (i + 1) for i in range(20)]
    assert not steady_part(intervals(rates), probe_length(0.001)).settled


def test_wild_rates_are_not_settled() -> None:
    rates = [1e9, 1e7] * 6
    assert not steady_part(intervals(rates), probe_length(0.001)).settled


def test_silence_is_not_settled() -> None:
    part = steady_part(intervals([0.0] * 20), probe_length(0.001))
    assert not part.settled
    assert part.throughput_bps == 0


def test_a_drop_after_a_burst_is_start_up_too() -> None:
    rates = [5e9, 5e9, *noisy(5e8, 0.02, 10)]
    assert start_up_length(rates) >= 2
    part = steady_part(intervals(rates), probe_length(0.001))
    assert part.throughput_bps == pytest.approx(5e8, rel=0.02)


def test_one_interval_has_no_error_to_show() -> None:
    part = steady_part(intervals([1e9]), probe_length(0.001))
    assert part.throughput_bps == pytest.approx(1e9)
    assert math.isinf(part.stderr_bps)


def test_probes_follow_the_rtt() -> None:
    near, far = probe_length(0.0001), probe_length(0.366)
    assert near.floor_s < 1 < 2 < far.floor_s < far.lossy_floor_s <= far.ceiling_s
    assert far.sample_every_s <= 0.5


def test_a_probe_that_still_grows_states_no_precision() -> None:
    rates = [1e6 * 2**i for i in range(8)]
    part = steady_part(intervals(rates), probe_length(0.1))
    assert not part.settled
    assert part.stderr_bps >= part.throughput_bps


def test_equal_intervals_do_not_prove_a_quiet_path() -> None:
    few = steady_part(intervals([1e9] * 6), probe_length(0.001))
    many = steady_part(intervals([1e9] * 40), probe_length(0.001))
    assert few.stderr_bps > 2 * many.stderr_bps > 0


def test_a_stall_is_not_settled() -> None:
    rates = [*noisy(1e9, 0.02, 6), *[0.0] * 6]
    assert not steady_part(intervals(rates), probe_length(0.001)).settled


def test_bursts_of_data_delivered_in_order_are_no_growth() -> None:
    """When a hole is filled, all data behind it counts at once."""
    rates = [*noisy(5e8, 0.02, 8), 0.0, 1e9, *noisy(5e8, 0.02, 8)]
    part = steady_part(intervals(rates), probe_length(0.05))
    assert part.throughput_bps == pytest.approx(5e8, rel=0.03)
    assert part.first < 8


def test_a_very_short_interval_after_a_late_report_is_joined_with_the_next() -> None:
    """Its own rate is that of a burst: two packets within a moment."""
    steady = intervals([5e8] * 12)
    begin_s = steady[6].start_s
    short = Interval(begin_s, begin_s + 0.001, 500_000)
    rest = Interval(begin_s + 0.001, steady[6].end_s, 5_750_000)
    part = steady_part([*steady[:6], short, rest, *steady[7:]], probe_length(0.02))
    assert part.settled
    assert part.first < 6
    assert part.throughput_bps == pytest.approx(5e8, rel=0.01)


def test_noise_is_no_start_up() -> None:
    assert start_up_length(noisy(1e9, 0.03, 12, seed=5)) == 0


@pytest.mark.parametrize(
    ("rates", "length"),
    [
        ([1, 5, 10, 10, 11, 10, 9, 10], 2),
        ([10, 9.9, 10.1, 10, 10], 0),
        ([20, 10, 10, 10, 10], 1),
        ([1, 10], 0),
        ([], 0),
    ],
)
def test_the_start_up_is_found_where_there_is_one(rates: list[float], length: int) -> None:
    assert start_up_length(rates) == length


def test_probes_of_one_minute_differ_less_than_the_long_run() -> None:
    def error(rates_bps: list[float]) -> float:
        probe = measured(1e9)
        return error_among_repeats(
            msgspec.structs.replace(
                probe, stderr_bps=1e8, intervals=intervals(rates_bps), steady_from=0
            )
        )

    quiet, wild = error([1e9] * 10), error([1.15e9, 0.85e9] * 5)
    drifting = error([1.05e9] * 5 + [0.95e9] * 5)
    assert quiet < 0.01 < wild < drifting < 0.1
    # What a probe states of the long run is the most, and all that is known without intervals.
    assert error([2e9] * 5 + [1e8] * 5) == 0.1
    assert error([]) == 0.1
