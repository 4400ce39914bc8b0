"""Rates of probes of one path, with the losses that all of them met."""

import msgspec
import pytest

from advisor.domain.endpoints import Pair
from advisor.domain.measurement import Measurement
from advisor.domain.records import ProbeRecord
from advisor.models.path_losses import in_the_long_run, loss_error
from tests.unit.models.lossy_probe import lossy_probe

RTT_S = 0.05


def records(*probes: Measurement, session: str = "one") -> list[ProbeRecord]:
    return [
        ProbeRecord(
            pair=Pair("here", "there"),
            subject="tcp",
            setting={"streams": number},
            result=probe,
            recorded_s=float(number),
            session=session,
            rtt_s=RTT_S,
        )
        for number, probe in enumerate(probes)
    ]


def expected(*probes: Measurement, session: str = "one") -> list[Measurement]:
    found = [record.result for record in in_the_long_run(records(*probes, session=session))]
    return [one for one in found if isinstance(one, Measurement)]


def rates(*probes: Measurement) -> list[float]:
    return [one.throughput_bps for one in expected(*probes)]


@pytest.mark.parametrize(
    ("control", "one_stream_bps"),
    # Mathis' sqrt(3 / (2 p)) and RFC 9438's 1.054 (T / p)^(3/4) segments for each round trip.
    [("reno", 57e6), ("cubic", 91e6)],
)
def test_losses_that_other_probes_met_bound_a_probe_that_met_none(
    control: str, one_stream_bps: float
) -> None:
    few = lossy_probe(9e8, streams=1, control=control)
    # 20 in a million: the same path, of which the first probe saw too little.
    many = lossy_probe(9.4e8, streams=25, cuts=20, segments=950_000, control=control)
    one, most = expected(few, many)
    assert one_stream_bps / 1.5 < one.throughput_bps < 2 * one_stream_bps
    assert one.predicted
    assert one.stderr_bps > 0.2 * one.throughput_bps
    assert most.throughput_bps == pytest.approx(9.4e8, rel=0.05)


def test_a_large_window_is_not_trusted_for_long_until_much_has_arrived_without_loss() -> None:
    def long_run_bps(segments: int) -> float:
        return rates(lossy_probe(9e8, control="reno", segments=segments))[0]

    # Reno needs fewer losses than one in 6.4 million segments for 900 Mbit/s over 50 ms.
    few, many, most = (long_run_bps(count) for count in (10_000, 1_000_000, 100_000_000))
    assert few < many < most
    assert few < 0.85 * 9e8
    assert most == pytest.approx(9e8, rel=0.02)


def test_many_streams_need_no_such_proof() -> None:
    alone, shared = (
        rates(lossy_probe(9e8, control="reno")),
        rates(lossy_probe(9e8, streams=16, control="reno")),
    )
    assert alone[0] < 0.95 * shared[0]
    assert shared[0] > 0.93 * 9e8


def test_cuts_of_a_full_path_may_be_losses_of_the_path() -> None:
    """One cut that no queue explains, and more that a queue may explain or not."""

    def of_one_stream_bps(full_cuts: int) -> float:
        other = lossy_probe(
            9e8,
            streams=16,
            cuts=1,
            segments=100_000,
            full_cuts=full_cuts,
            full_segments=2_000_000,
        )
        return rates(lossy_probe(9e8, control="reno", segments=0), other)[0]

    # None in two million: at most one in a million is lost. Ten: as the one cut tells.
    assert of_one_stream_bps(10) < 0.75 * of_one_stream_bps(0)


def test_one_of_many_cuts_of_the_queue_shows_no_losses_of_the_path() -> None:
    """Between two reports a queue may fill and empty: its cuts then look like the path's own."""

    def of_one_stream_bps(early_cuts: int) -> float:
        many = [lossy_probe(9e8, streams=16, early_cuts=early_cuts, segments=0) for _ in range(5)]
        other = lossy_probe(9e8, streams=2, cuts=1, segments=5_000)
        return rates(lossy_probe(9e8, segments=0), other, *many)[0]

    assert of_one_stream_bps(0) < 0.5 * of_one_stream_bps(100)


def test_cuts_that_a_queue_does_not_explain_stay_losses_of_the_path() -> None:
    many = [lossy_probe(9e8, streams=16, early_cuts=100, segments=0) for _ in range(5)]
    other = lossy_probe(9e8, streams=2, cuts=10, segments=50_000)
    assert rates(lossy_probe(9e8, segments=0), other, *many)[0] < 0.2 * 9e8


def test_a_full_path_whose_windows_are_never_cut_loses_next_to_nothing() -> None:
    unproven, proven = (
        rates(lossy_probe(9e8, control="reno", segments=0, full_segments=count))[0]
        for count in (0, 10**8)
    )
    assert unproven < 0.9 * proven
    assert proven == pytest.approx(9e8, rel=0.02)


def test_what_the_socket_buffer_limits_is_not_raised() -> None:
    held_down = lossy_probe(1e8, streams=1)
    assert rates(held_down, lossy_probe(9e8, streams=8, segments=10**7))[0] == pytest.approx(1e8)


def test_a_rate_that_losses_had_lowered_follows_what_all_probes_tell() -> None:
    """One cut among a few segments says little; many segments of other probes say more."""
    unlucky = lossy_probe(2e8, cuts=1, segments=2_000)
    alone = rates(unlucky)[0]
    [among_others, _] = rates(unlucky, lossy_probe(9e8, streams=8, cuts=1, segments=10**6))
    assert alone < among_others


@pytest.mark.parametrize("window_limited", [True, False])
def test_windows_that_losses_had_lowered_rise_to_what_all_probes_tell(window_limited: bool) -> None:
    """An early loss holds one stream down; only where nothing else may hold it is more expected."""
    unlucky = lossy_probe(2e7, cuts=1, segments=700, window_limited=window_limited)
    many = lossy_probe(9e8, streams=25, cuts=20, segments=950_000)
    one, _ = rates(unlucky, many)
    # RFC 9438: 91 Mbit/s.
    assert (one > 4e7) == window_limited
    assert one < 9.1e7


@pytest.mark.parametrize("queue_free", [True, False])
def test_a_window_that_only_its_own_start_holds_down_rises(queue_free: bool) -> None:
    """Reno alone on a path without losses had 200 of 253 Mbit/s in probes, and was promised 177."""
    early = {"control": "reno", "early_cuts": 1, "window_limited": True}
    held_down = lossy_probe(3e8, queue_free=queue_free, **early)
    one, _ = rates(held_down, lossy_probe(9e8, streams=16, segments=10**6))
    # A queue may be that of others, who would take their share in the long run too.
    assert one == pytest.approx(8.3e8 if queue_free else 3e8, rel=0.1)


@pytest.mark.parametrize(
    ("bps", "cuts"), [(2e7, 6), (5e5, 1)], ids=["cut again and again", "of a few segments"]
)
def test_windows_that_the_flows_of_others_hold_down_are_not_expected_to_rise(
    bps: float, cuts: int
) -> None:
    """A stream beside others on a full path had 12 Mbit/s in every probe, and was promised 100."""
    beside_others = lossy_probe(bps, cuts=cuts, segments=700, window_limited=True)
    many = lossy_probe(9e8, streams=25, cuts=20, segments=950_000)
    one, _ = rates(beside_others, many)
    assert one == pytest.approx(bps, rel=0.1)


def test_no_window_is_expected_to_rise_beyond_the_highest_rate_of_the_path() -> None:
    unlucky = lossy_probe(2e7, streams=4, cuts=2, segments=700, window_limited=True)
    one, most = rates(unlucky, lossy_probe(1e8, streams=25, cuts=3, segments=5_000_000))
    assert 2e7 < one < 1.02e8
    assert most == pytest.approx(1e8, rel=0.05)


def test_a_rate_that_losses_tell_is_uncertain_as_a_whole() -> None:
    [lowered, other] = records(
        lossy_probe(9e8, cuts=3, segments=3_000), lossy_probe(9e8, segments=0)
    )
    [expected_lowered, _] = in_the_long_run([lowered, other])
    result = expected_lowered.result
    assert isinstance(result, Measurement)
    stated = result.stderr_bps / result.throughput_bps
    assert loss_error(lowered, expected_lowered) == pytest.approx(stated)
    assert stated > 0.1


def test_probes_that_tell_nothing_of_losses_stay_as_they_are() -> None:
    old = msgspec.structs.replace(lossy_probe(9e8), losses=msgspec.UNSET)
    unknown = lossy_probe(9e8, control="no-such")
    lossy = lossy_probe(9e8, streams=25, cuts=50, segments=10**5)
    assert expected(old, unknown, lossy)[:2] == [old, unknown]
    assert expected(old) == [old]


@pytest.mark.parametrize("count", [0, 1, 2**62])
def test_figures_that_no_kernel_reports_give_a_rate_all_the_same(count: int) -> None:
    for found in rates(
        lossy_probe(9e8, cuts=count, segments=count, full_cuts=count, full_segments=2**62 - count),
        lossy_probe(9e8, streams=2**31),
    ):
        assert 0 < found <= 9e8 * 1.01
