"""The verdicts on an emulated path, and how it is measured."""

import asyncio
from collections.abc import Sequence

import pytest

from advisor.lab import checking as ck
from advisor.lab import flood as fl
from advisor.lab import messages as m
from advisor.lab import verdicts as v
from advisor.lab.paths import Direction, EmulatedPath
from advisor.lab.state import Host, LabError

FAR = Host(name="far", address="10.77.1.1", network="/nowhere")


def path(rtt_s: float = 0.1, **fields: float) -> EmulatedPath:
    way = Direction(delay_s=rtt_s / 2, **fields)  # type: ignore[arg-type]
    return EmulatedPath(forward=way, reverse=way)


def rtt(measured_s: float, least_s: float | None = None, asked: EmulatedPath | None = None) -> str:
    samples = [measured_s] * 9 + ([least_s] if least_s is not None else [])
    return v.judge_rtt(asked or path(), None, 10, samples).verdict


@pytest.mark.parametrize(
    ("measured_s", "expected"),
    [(0.1, "within"), (0.1024, "within"), (0.0976, "within"), (0.097, "outside")],
)
def test_an_rtt_is_within_half_a_millisecond_and_two_per_cent(
    measured_s: float, expected: str
) -> None:
    assert rtt(measured_s) == expected


def test_an_rtt_too_long_is_the_machines_when_some_echoes_were_in_time() -> None:
    assert rtt(0.11) == "outside"
    assert rtt(0.11, least_s=0.101) == "too slow"
    assert rtt(0.11, least_s=0.101, asked=path(jitter_s=0.001)) == "outside"


def test_no_echo_at_all_is_not_what_was_asked() -> None:
    judged = v.judge_rtt(path(), None, 50, [])
    assert judged.verdict == "outside"
    assert judged.measured_s is None
    assert judged.why == "none of 50 echoes was answered"


def test_half_of_the_jitter_each_way_is_expected_and_chance_is_allowed_for() -> None:
    judged = v.judge_rtt(path(jitter_s=0.02), None, 50, [0.12] * 50)
    assert judged.verdict == "within"
    assert judged.asked_s == 0.1
    assert judged.expected_s == pytest.approx(0.12, abs=1e-6)
    few = v.judge_rtt(path(jitter_s=0.02), None, 50, [0.12] * 5)
    assert few.bound_s > judged.bound_s > v.rtt_bound_s(0.1)


def test_an_echo_takes_time_to_send_on_slow_paths_and_at_slow_interfaces() -> None:
    slow = path(rate_bps=10_000.0)
    sending_s = fl.ECHO_BYTES * 8 / 10_000
    assert v.judge_rtt(slow, None, 1, []).expected_s == pytest.approx(0.1 + 2 * sending_s)
    own = Direction(rate_bps=10_000.0, delay_s=0.0)
    assert v.judge_rtt(slow, own, 1, []).expected_s == pytest.approx(0.1 + 4 * sending_s)


def rate(measured_bps: float, offered_bps: float = 1.15e9, loss: float = 0.0) -> v.RateCheck:
    return v.judge_rate(Direction(loss=loss), 1e9, offered_bps, measured_bps, 10_000)


@pytest.mark.parametrize(
    ("measured_bps", "expected"),
    [(1e9, "within"), (0.971e9, "within"), (0.969e9, "outside"), (1.031e9, "outside")],
)
def test_a_rate_is_within_three_per_cent(measured_bps: float, expected: str) -> None:
    judged = rate(measured_bps)
    assert judged.verdict == expected
    assert judged.bound_share == v.RATE_SHARE


def test_a_sender_that_cannot_offer_more_is_too_slow() -> None:
    assert rate(0.8e9, offered_bps=0.8e9).verdict == "too slow"
    assert rate(0.999e9, offered_bps=1.0e9).verdict == "too slow"
    # More than the rate, but with gaps in which the queue runs empty.
    assert rate(0.95e9, offered_bps=1.07e9).verdict == "too slow"
    assert rate(0.95e9, offered_bps=1.15e9).verdict == "outside"
    # Whatever it offers: the path lets through what it should not.
    assert rate(1.1e9, offered_bps=1.0e9).verdict == "outside"


def test_what_arrives_is_the_rate_less_the_loss() -> None:
    judged = rate(0.9e9, loss=0.1)
    assert judged.expected_bps == pytest.approx(0.9e9)
    assert judged.verdict == "within"
    assert v.RATE_SHARE < judged.bound_share < 0.04
    assert rate(1e9, loss=0.1).verdict == "outside"


@pytest.mark.parametrize(
    ("lost", "sent", "lower", "upper"),
    [
        # Of the tables: 1 − 0.025^(1/n) without losses; 10 of 100 as R's binom.test has it.
        (0, 100, 0.0, 0.0362167),
        (10, 100, 0.0490047, 0.1762226),
        (1, 10, 0.0025286, 0.4450161),
        (10, 10, 0.6915029, 1.0),
    ],
)
def test_the_interval_is_clopper_and_pearsons(
    lost: int, sent: int, lower: float, upper: float
) -> None:
    assert v.binomial_interval(lost, sent) == pytest.approx((lower, upper), abs=1e-6)


def test_nothing_sent_says_nothing() -> None:
    assert v.binomial_interval(0, 0) == (0.0, 1.0)


def test_a_loss_is_asked_for_within_the_interval() -> None:
    way = Direction(loss=0.01)
    assert v.judge_loss(way, 10_000, 104, 0).verdict == "within"
    assert v.judge_loss(way, 10_000, 140, 0).verdict == "outside"
    assert v.judge_loss(way, 10_000, 60, 0).verdict == "outside"


def test_no_packet_may_be_missing_where_no_loss_was_asked_for() -> None:
    assert v.judge_loss(Direction(), 60_000, 0, 0).verdict == "within"
    assert v.judge_loss(Direction(), 60_000, 1, 0).verdict == "outside"
    assert v.judge_loss(Direction(burst_packets=5.0), 60_000, 1, 0).verdict == "outside"


def test_packets_that_found_the_queue_full_are_the_machines_fault() -> None:
    assert v.judge_loss(Direction(), 60_000, 7, 7).verdict == "too slow"
    assert v.judge_loss(Direction(loss=0.01), 60_000, 600, 7).verdict == "within"


def test_losses_in_bursts_are_like_fewer_packets() -> None:
    way = Direction(loss=0.01, burst_packets=10.0)
    judged = v.judge_loss(way, 10_000, 140, 0)
    assert judged.like_packets == pytest.approx(10_000 / 18.8)
    assert judged.verdict == "within"
    assert v.judge_loss(way, 10_000, 300, 0).verdict == "outside"


def directions(rate_bps: float = 1e9, lost: int = 0) -> v.DirectionCheck:
    return v.DirectionCheck(rate=rate(rate_bps), loss=v.judge_loss(Direction(), 60_000, lost, 0))


def test_the_whole_is_as_good_as_its_worst_part() -> None:
    good = v.judge_rtt(path(), None, 10, [0.1])
    assert v.judge_path(good, directions(), directions(), None) == ("within", "")
    assert v.judge_path(good, directions(), directions(0.9e9), None) == (
        "outside",
        "the rate differs from the configured one",
    )
    slow = v.DirectionCheck(rate=rate(0.8e9, offered_bps=0.8e9), loss=directions().loss)
    verdict, why = v.judge_path(good, directions(lost=5), slow, None)
    assert (verdict, why) == ("too slow", "it cannot send more than the path carries")


def test_packets_handed_over_late_are_a_machine_too_slow() -> None:
    good = v.judge_rtt(path(), None, 10, [0.1])
    # The upper edge of a bucket, whose lower edge is still within the 2.5 ms.
    assert v.judge_path(good, directions(), directions(), 0.004096)[0] == "within"
    assert v.judge_path(good, directions(), directions(), 0.008192)[0] == "too slow"


def status(**fields: object) -> m.LabStatus:
    seen = m.Crossing()
    is_cut = bool(fields.pop("is_cut", False))
    host = m.HostStatus(
        name="far",
        address=FAR.address,
        gridftp_url=None,
        path=path(),
        is_cut=is_cut,
        forward=seen,
        reverse=seen,
    )
    known = {"name": "wan", "backend": "own", "user_namespace": True, "up_s": 1.0, "source": "s"}
    rest = {"hosts": [host], "transfers": 0, "compute": 0, "schedule": []}
    return m.LabStatus(**{**known, **rest, **fields})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"is_cut": True}, "lab restore wan"),
        ({"transfers": 4}, "lab load wan --transfers 0 --compute 0"),
        ({"compute": 1}, "external load is on"),
        ({"schedule": [m.ScheduledStep(at_s=60.0, actions=[])]}, "lab schedule wan --stop"),
    ],
)
def test_what_is_not_steady_is_refused_with_the_remedy(
    fields: dict[str, object], words: str
) -> None:
    ck.require_steady(status(), FAR)
    with pytest.raises(LabError, match=words):
        ck.require_steady(status(**fields), FAR)


def test_a_flood_is_above_the_rate_and_lasts_past_the_delay() -> None:
    way = Direction(delay_s=0.183)
    flow, skip_s = ck.flood_plan(way, 1e9, 45_000_000, 9000)
    assert flow.packet_bytes == 9000
    assert flow.pace_pps * flow.packet_bytes * 8 == pytest.approx(1.15e9)
    assert skip_s > 0.183
    assert flow.seconds - skip_s >= 2
    assert flow.at_once * (flow.packet_bytes - fl.HEADERS_BYTES) <= 65_507


def test_a_flood_of_a_slow_path_is_of_small_packets() -> None:
    flow, skip_s = ck.flood_plan(Direction(), 10_000.0, 576_000, 9000)
    assert flow.packet_bytes == 64
    carried = 10_000 / 8 / 64 * (flow.seconds - skip_s)
    assert carried > 1 / v.RATE_SHARE  # One more or less must not matter.


def test_a_short_queue_is_never_filled_by_one_burst() -> None:
    flow, _ = ck.flood_plan(Direction(), 1e9, 20_000, 9000)
    assert flow.at_once * flow.packet_bytes <= 20_000 / 4
    count = ck.count_plan(1e9, 1000)
    assert count.at_once == 1
    assert ck.count_plan(1e9, 10**6).at_once == fl.MOST_AT_ONCE


def test_losses_are_counted_well_below_the_rate() -> None:
    for rate_bps in (1e4, 1e6, 1e9, 1e11):
        flow = ck.count_plan(rate_bps, 10**6)
        assert flow.pace_pps * flow.packet_bytes * 8 <= 0.31 * rate_bps
        assert flow.pace_pps <= 30_000
        assert 2 <= flow.seconds <= 5


def test_more_echoes_are_sent_where_they_get_lost_and_none_waits_for_another() -> None:
    assert ck.echo_plan(path())[0] == 50
    assert ck.echo_plan(path(loss=0.5))[0] == 200
    count, gap_s, wait_s = ck.echo_plan(path(jitter_s=1.0))
    assert gap_s == 1.0
    assert count == 10
    assert wait_s > 2.1


def test_what_is_not_within_the_bounds_is_measured_once_more() -> None:
    results = [rate(0.5e9), rate(1e9)]

    async def measure() -> v.RateCheck:
        return results.pop(0)

    judged = asyncio.run(ck._twice(measure))
    assert (judged.verdict, judged.tries) == ("within", 2)
    assert not results


class Arriving:
    """A receiver at which packets arrive at these times; it is asked every 50 ms."""

    def __init__(self, times_s: Sequence[float]) -> None:
        self._times_s = times_s
        self.now_s = 100.0

    async def pass_time(self, seconds: float) -> None:
        self.now_s += seconds

    async def count(self) -> fl.InterfaceCounters:
        received = sum(100 + at_s <= self.now_s for at_s in self._times_s)
        return fl.InterfaceCounters(
            at_s=self.now_s, received=received, received_bytes=0, sent=0, sent_bytes=0, unsent=0
        )


def test_a_measurement_waits_for_its_last_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    receiver = Arriving([0.01 * n for n in range(300)])
    monkeypatch.setattr(asyncio, "sleep", receiver.pass_time)
    asyncio.run(ck.until_quiet(receiver, 0.1, 5.0))
    assert receiver.now_s == pytest.approx(103.1, abs=0.06)


@pytest.mark.parametrize("gap_s", [0.02, 0.08])
def test_steady_small_traffic_does_not_make_a_check_wait_for_ever(
    monkeypatch: pytest.MonkeyPatch, gap_s: float
) -> None:
    receiver = Arriving([gap_s * n for n in range(round(60 / gap_s))])
    monkeypatch.setattr(asyncio, "sleep", receiver.pass_time)
    with pytest.raises(LabError, match=r"not idle \(\d+ packets a second still arrive"):
        asyncio.run(ck.until_quiet(receiver, 0.1, 5.0))
    assert receiver.now_s < 105.3


def test_lateness_of_before_is_not_the_checks() -> None:
    def late(p99_s: float) -> m.Lateness:
        return m.Lateness(p99_s=p99_s, most_s=1.0)

    assert ck._late_s(late(0.001), late(0.001)) is None
    assert ck._late_s(late(0.001), late(0.002)) == 0.002
    assert ck._late_s(None, None) is None
