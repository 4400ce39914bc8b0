"""Probes of TCP under loss, played in rounds, against the rest of the same transfer."""

import math
import statistics

import msgspec
import pytest

from advisor.domain.measurement import Interval
from advisor.domain.sending import LossesSeen, SenderReport, SendingState
from advisor.models.loss_response import long_run, losses_seen
from advisor.models.steadiness import SteadyPart, probe_length, steady_part
from tests.unit.models.tcp_rounds import SEGMENT_BYTES, Rounds, bbr_rounds

_ROUNDS = 1000
_SETTLED_IN = 300
_SEEDS = range(12)

Both = list[tuple[Interval, SenderReport]]


def mean_bps(part: list[Interval]) -> float:
    return sum(i.received_bytes for i in part) * 8 / (part[-1].end_s - part[0].start_s)


def probed(both: Both, rtt_s: float) -> tuple[SteadyPart, float, float]:
    """What a probe of this transfer says, when it stops, and the mean of the later transfer."""
    intervals, reports = [one for one, _ in both], [one for _, one in both]
    length = probe_length(rtt_s)
    for count in range(1, len(both) + 1):
        part = steady_part(intervals[:count], length, reports=reports[:count])
        if part.settled or intervals[count - 1].end_s >= length.ceiling_s:
            break
    return part, intervals[count - 1].end_s, mean_bps(intervals[_SETTLED_IN:])


def transfer(
    control: str, streams: int, rtt_s: float, loss: float, seed: int, queue: float = 1.0
) -> Both:
    rounds = Rounds(
        control, streams=streams, rtt_s=rtt_s, rate_bps=5e8, loss=loss, queue=queue, seed=seed
    )
    return list(rounds.run(_ROUNDS))


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("streams", [1, 8])
def test_a_window_that_losses_shrink_is_not_called_steady(control: str, streams: int) -> None:
    """Soon after slow start the rate is high by far; the prediction is about right."""
    predicted, seen = [], []
    for seed in _SEEDS:
        both = transfer(control, streams, 0.183, 1e-4, seed)
        part, _, true_bps = probed(both, 0.183)
        predicted.append(math.log(part.throughput_bps / true_bps))
        seen.append(math.log(mean_bps([interval for interval, _ in both[10:20]]) / true_bps))
    assert statistics.median(seen) > math.log(1.5)
    assert abs(statistics.median(predicted)) < math.log(1.5)


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_the_stated_error_covers_most_of_the_declines(control: str) -> None:
    within = 0
    for seed in range(20):
        part, _, true_bps = probed(transfer(control, 8, 0.183, 1e-4, seed), 0.183)
        within += abs(part.throughput_bps - true_bps) <= 2 * part.stderr_bps
    assert within >= 15


@pytest.mark.parametrize(("control", "streams"), [("reno", 25), ("cubic", 12)])
def test_a_full_path_does_not_hide_that_losses_lower_the_windows(
    control: str, streams: int
) -> None:
    """Over a deep queue the windows of slow start keep the path full for as long as a probe."""
    within, seen = 0, []
    for seed in range(20):
        rounds = Rounds(
            control,
            streams=streams,
            rtt_s=0.164,
            rate_bps=6.25e8,
            loss=8.3e-4,
            queue=1.5,
            seed=seed,
            segment_bytes=8948,
        )
        both = list(rounds.run(_ROUNDS))
        part, _, true_bps = probed(both, 0.164)
        within += abs(part.throughput_bps - true_bps) <= 2 * part.stderr_bps
        seen.append(mean_bps([interval for interval, _ in both[10:30]]) / true_bps)
    assert statistics.median(seen) > 1.2
    assert within >= 15


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("streams", [1, 8])
def test_an_overshoot_that_was_repaired_changes_nothing(control: str, streams: int) -> None:
    """Slow start overfills the queue once; afterwards the path is full."""
    part, _, true_bps = probed(transfer(control, streams, 0.0456, 0.0, 1), 0.0456)
    assert part.settled
    assert not part.predicted
    assert part.throughput_bps == pytest.approx(true_bps, rel=0.05)


@pytest.mark.parametrize("control", ["reno", "cubic"])
def test_what_so_few_losses_allow_is_not_waited_for(control: str) -> None:
    """Many streams fill the path: not even twice the losses seen would lower their rate."""
    length = probe_length(0.0456)
    for seed in _SEEDS:
        part, ended_s, true_bps = probed(transfer(control, 25, 0.0456, 0.0, seed), 0.0456)
        assert part.settled
        assert ended_s < 0.8 * length.lossy_floor_s
        assert part.throughput_bps == pytest.approx(true_bps, rel=0.07)


@pytest.mark.parametrize("control", ["reno", "cubic"])
@pytest.mark.parametrize("streams", [1, 8])
def test_a_rate_that_losses_will_lower_is_waited_for(control: str, streams: int) -> None:
    length = probe_length(0.183)
    for seed in _SEEDS:
        _, ended_s, _ = probed(transfer(control, streams, 0.183, 1e-4, seed), 0.183)
        assert ended_s >= 0.9 * length.lossy_floor_s


def test_a_sawtooth_at_capacity_is_no_loss_to_answer() -> None:
    part, _, true_bps = probed(transfer("cubic", 8, 0.0456, 0.0, 1, queue=0.1), 0.0456)
    assert not part.predicted
    assert part.throughput_bps == pytest.approx(true_bps, rel=0.05)


def test_a_burst_before_cross_traffic_reacts_is_not_expected_again() -> None:
    """Windows that are cut again and again do not grow back to it."""
    state = transfer("cubic", 2, 0.02, 0.0, 1)[0][1].state
    assert state is not None
    intervals, reports, sent = [], [], 0
    for n in range(20):
        received_bytes = 1_250_000 if n < 5 else 312_500  # 100 Mbit/s, then 25
        sent += received_bytes // SEGMENT_BYTES
        cuts = n // 3
        # The queue that the competing flows fill: the RTT is lower only before it was full.
        rtt_s = 0.02 if n == 0 else 0.03
        at_s = (n + 1) / 10
        interval = Interval(start_s=n / 10, end_s=at_s, received_bytes=received_bytes)
        seen = _with(state, cuts, sent, starting=0)
        intervals.append(interval)
        reports.append(SenderReport(t_s=at_s, retransmits=cuts, rtt_s=rtt_s, state=seen))
    part = steady_part(intervals, probe_length(0.02), reports=reports)
    assert part.throughput_bps == pytest.approx(25e6, rel=0.05)
    assert not part.predicted


def test_bbr_s_cycles_are_steady_however_much_is_lost() -> None:
    part, seconds, true_bps = probed(list(bbr_rounds(5e8, 0.183, 600, seed=3)), 0.183)
    assert part.settled
    assert not part.predicted
    assert seconds < probe_length(0.183).lossy_floor_s
    assert part.throughput_bps == pytest.approx(true_bps, rel=0.05)


@pytest.mark.parametrize(
    ("control", "rtt_s", "expected_segments"),
    # sqrt(3 / (2 p)), and RFC 9438's (0.4 * 3.7 / 1.2)^(1/4) * (T / p)^(3/4).
    [("reno", 0.1, 1224.7), ("cubic", 0.1, 5926.0), ("cubic", 0.001, 1224.7)],
)
def test_the_long_run_is_that_of_the_formulas(
    control: str, rtt_s: float, expected_segments: float
) -> None:
    state = transfer(control, 1, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    # 199 cuts and the half of Jeffreys in 199.5 million segments: one in a million.
    reports = [
        SenderReport(t_s=t_s, retransmits=cuts, rtt_s=rtt_s, state=_with(state, cuts, sent))
        for t_s, cuts, sent in ((1.0, 0, 0), (2.0, 0, 0), (3.0, 199, 199_500_000))
    ]
    losses = losses_seen(reports, lambda _: 1e9, rtt_s, 0.5, 1e12)
    assert losses is not None
    assert (losses.cuts, losses.segments) == (199, 199_500_000)
    allowed = long_run(losses, rtt_s, 1e12)
    assert allowed is not None
    expected_bps = expected_segments * SEGMENT_BYTES * 8 / rtt_s
    assert allowed.rate_bps == pytest.approx(expected_bps, rel=0.01)


def _with(state: SendingState, cuts: int, sent: int, **others: int) -> SendingState:
    changes = {"cuts": cuts, "sent_segments": sent, "window_bytes": 10**9} | others
    return msgspec.structs.replace(state, **changes)


@pytest.mark.parametrize(("lost", "cuts"), [(1, 1), (2, 1), (3, 0), (500, 0)])
def test_a_start_that_loses_much_at_once_has_filled_the_queue(lost: int, cuts: int) -> None:
    """And tells nothing of the path's own losses; 1 and 2 of 10,000 are what random ones are."""
    state = transfer("cubic", 1, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    starting = _with(state, 0, 10_000, starting=1)
    reports = [
        SenderReport(t_s=0.0, retransmits=0, rtt_s=0.1, state=starting),
        SenderReport(t_s=0.1, retransmits=lost, rtt_s=0.1, state=_with(state, 1, 20_000)),
        SenderReport(t_s=0.2, retransmits=lost, rtt_s=0.1, state=_with(state, 1, 30_000)),
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.0, 1e9)
    assert losses is not None
    assert (losses.all_cuts, losses.cuts) == (1, cuts)


@pytest.mark.parametrize(("earlier_s", "cuts"), [(0.05, 0), (0.25, 6)])
def test_the_first_cuts_of_an_overflow_may_be_in_the_report_before(
    earlier_s: float, cuts: int
) -> None:
    """On a lab path, 25 streams had 6 cuts and 6 losses in one report, 19 and 500 in the next one.
    What was lost more than a round trip before is not part of that."""
    state = transfer("reno", 25, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    courses = [(0.0, 0, 0, 0, 25), (0.1, 0, 0, 1000, 25), (0.2, 6, 6, 2000, 19)]
    courses += [(0.2 + earlier_s, 6, 6, 3000, 19), (0.3 + earlier_s, 25, 506, 3500, 14)]
    courses += [(0.4 + earlier_s, 25, 506, 4000, 14)]
    reports = [
        SenderReport(
            t_s=t_s,
            retransmits=lost,
            rtt_s=0.1 if t_s <= 0.2 else 0.11,
            state=_with(state, all_cuts, sent, starting=starting),
        )
        for t_s, all_cuts, lost, sent, starting in courses
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.0, 1e9)
    assert losses is not None
    assert (losses.all_cuts, losses.cuts, losses.full_cuts) == (25, cuts, 0)


@pytest.mark.parametrize(("window", "lost", "cuts"), [(49, 1, 1), (49, 2, 0), (1000, 2, 1)])
def test_two_of_few_lost_in_slow_start_are_a_burst_that_met_a_shallow_queue(
    window: int, lost: int, cuts: int
) -> None:
    """The RTT shows no queue that was full for less than a round trip."""
    state = transfer("reno", 2, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    courses = [(0, 0, 0, 2), (1, lost, 70, 1), (1, lost, 170, 1)]
    reports = [
        SenderReport(
            t_s=0.1 * number,
            retransmits=all_lost,
            rtt_s=0.1,
            state=_with(
                state, all_cuts, sent, starting=starting, window_bytes=window * SEGMENT_BYTES
            ),
        )
        for number, (all_cuts, all_lost, sent, starting) in enumerate(courses)
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.0, 1e9)
    assert losses is not None
    assert (losses.all_cuts, losses.cuts) == (1, cuts)


def test_a_cut_in_slow_start_over_a_full_queue_may_be_of_the_queue() -> None:
    """As where the first report comes when slow start is over: the RTT was highest then."""
    state = transfer("reno", 3, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    courses = [(0.12, 2, 0, 1), (0.1, 3, 600, 0), (0.1, 3, 1400, 0), (0.12, 3, 2300, 0)]
    reports = [
        SenderReport(
            t_s=0.1 * number,
            retransmits=all_cuts,
            rtt_s=rtt_s,
            state=_with(state, all_cuts, sent, starting=starting),
        )
        for number, (rtt_s, all_cuts, sent, starting) in enumerate(courses)
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.0, 1e9)
    assert losses is not None
    assert (losses.cuts, losses.segments) == (0, 800)
    assert (losses.full_cuts, losses.full_segments) == (1, 600 + 900)


@pytest.mark.parametrize(("window", "lost", "cuts"), [(30, 1, 1), (30, 3, 0), (10_000, 1, 1)])
def test_a_single_loss_of_a_small_window_is_no_overflow(window: int, lost: int, cuts: int) -> None:
    state = transfer("cubic", 1, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    state = msgspec.structs.replace(state, starting=0, window_bytes=window * SEGMENT_BYTES)
    reports = [
        SenderReport(
            t_s=0.1 * number,
            retransmits=all_lost,
            rtt_s=0.1,
            state=msgspec.structs.replace(state, cuts=min(1, all_lost), sent_segments=100 * number),
        )
        for number, all_lost in enumerate((0, lost, lost))
    ]
    # Below the highest rate: a full path cannot be why it was lost.
    losses = losses_seen(reports, lambda _: 1e8, 0.1, 0.0, 1e9)
    assert losses is not None
    assert (losses.all_cuts, losses.cuts) == (1, cuts)


@pytest.mark.parametrize(("rtt_s", "cuts"), [(0.2, 0), (0.1, 12)])
def test_slow_start_that_most_streams_leave_at_once_has_filled_the_queue(
    rtt_s: float, cuts: int
) -> None:
    """As far as the RTT shows a queue; each of the streams loses one segment."""
    state = transfer("reno", 16, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    starting = _with(state, 0, 10_000, starting=16)
    after = _with(state, 12, 20_000, starting=4)
    reports = [
        SenderReport(t_s=0.0, retransmits=0, rtt_s=0.1, state=starting),
        SenderReport(t_s=0.1, retransmits=12, rtt_s=rtt_s, state=after),
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.0, 1e9)
    assert losses is not None
    assert (losses.all_cuts, losses.cuts) == (12, cuts)


def test_counters_that_fall_make_no_negative_counts() -> None:
    """Of an end that reports nonsense: records with such counts could not be read again."""
    state = transfer("cubic", 1, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    counted = [(10**9, 9000), (5, 100), (10**9, 8000), (0, 0)]
    reports = [
        SenderReport(t_s=0.1 * n, retransmits=cuts, rtt_s=0.1, state=_with(state, cuts, sent))
        for n, (cuts, sent) in enumerate(counted)
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.15, 1e9)
    assert losses is not None
    assert msgspec.convert(msgspec.to_builtins(losses), LossesSeen) == losses


def test_time_in_which_the_queue_is_full_counts_apart() -> None:
    state = transfer("cubic", 1, 0.1, 0.0, 1)[0][1].state
    assert state is not None
    state = msgspec.structs.replace(state, starting=0)
    courses = [(0.1, 0, 0), (0.1, 0, 100), (0.2, 0, 300), (0.2, 1, 700), (0.2, 1, 1500)]
    reports = [
        SenderReport(t_s=float(n), retransmits=cuts, rtt_s=rtt_s, state=_with(state, cuts, sent))
        for n, (rtt_s, cuts, sent) in enumerate(courses)
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.0, 1e9)
    assert losses is not None
    # Not full from the first to the second report; full with a cut from the third to the fourth.
    assert (losses.cuts, losses.segments) == (0, 100)
    assert (losses.full_cuts, losses.full_segments) == (1, 200 + 400 + 800)


@pytest.mark.parametrize(("later_s", "queue_free"), [(0.102, True), (0.11, False)])
def test_a_queue_counts_only_after_start_up(later_s: float, queue_free: bool) -> None:
    state = transfer("reno", 1, 0.1, 0.0, 1)[0][1].state
    reports = [
        SenderReport(t_s=float(n), rtt_s=rtt_s, state=state)
        for n, rtt_s in enumerate((0.1, 0.2, 0.1, later_s))
    ]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 1.0, 1e9)
    assert losses is not None
    assert losses.queue_free == queue_free


def test_without_losses_or_with_a_control_of_unknown_answer_there_is_none() -> None:
    reports = [report for _, report in transfer("reno", 1, 0.1, 0.0, 1)[:8]]
    losses = losses_seen(reports, lambda _: 1e9, 0.1, 0.5, 1e9)
    assert losses is not None
    assert (losses.all_cuts, losses.cuts) == (0, 0)
    # The first report has no earlier one to be compared with.
    assert reports[-1].state is not None
    assert 0 < losses.segments + losses.full_segments < reports[-1].state.sent_segments
    assert long_run(losses, 0.1, 1e9) is None
    assert losses_seen([], lambda _: 1e9, 0.1, 0.5, 1e9) is None
    bbr = [report for _, report in bbr_rounds(5e8, 0.1, 40, seed=1)]
    assert losses_seen(bbr, lambda _: 1e8, 0.1, 0.5, 1e9) is None


def test_a_protocol_without_reports_of_its_windows_waits_for_the_lossy_floor() -> None:
    """UDT reports retransmissions, and nothing of a congestion control that is known here."""
    rates = [2e8, *[5e8] * 60]
    intervals = [Interval(n * 0.1, (n + 1) * 0.1, round(r / 80)) for n, r in enumerate(rates)]
    reports = [SenderReport(t_s=n * 0.1, retransmits=n, rtt_s=0.1) for n in range(61)]
    length = probe_length(0.1)
    early = steady_part(intervals[:20], length, reports=reports[:20])
    late = steady_part(intervals, length, reports=reports)
    assert (early.settled, late.settled) == (False, True)
    assert not late.predicted
    assert late.throughput_bps == pytest.approx(5e8, rel=0.01)
