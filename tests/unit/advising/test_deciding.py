"""Sessions on simulated paths: what they find, and what that costs."""

import functools
import statistics
from math import exp

import pytest

from advisor.advising.closing import CHEAPER
from advisor.advising.deciding import record_gain
from advisor.advising.profiling import CONFIRM
from advisor.domain.space import Setting
from tests.unit.advising.played import PlayedPath, PlayedRunner
from tests.unit.advising.simulated import MIB, SimulatedAdvice, SimulatedPath, dataset, simulate

SEEDS = range(3)

CLEAN = SimulatedPath(name="clean")
KNOWN = SimulatedPath(name="clean, known", known=True)
PATHS = (
    CLEAN,
    KNOWN,
    SimulatedPath(name="near", rtt_s=0.0004),
    SimulatedPath(name="noisy", spread=0.08),
    SimulatedPath(name="lossy", rate_bps=5e8, rtt_s=0.02, loss=1e-3, mtu_bytes=9000),
    SimulatedPath(name="bbr", rtt_s=0.0936, loss=1e-4, control="bbr"),
    SimulatedPath(name="shallow", rate_bps=2e8, rtt_s=0.183, queue=0.1),
    SimulatedPath(name="far", rtt_s=0.366),
    SimulatedPath(name="small buffers", auto_bytes=MIB // 4),
    SimulatedPath(name="loaded", load=16),
    SimulatedPath(name="slow hosts", rate_bps=1e10, host_bps=3e9, rtt_s=0.01),
    SimulatedPath(name="shallow reno", rate_bps=3e8, rtt_s=0.03, queue=0.1, control="reno"),
)


SmallBuffers = functools.partial(
    SimulatedPath, name="small buffers", rate_bps=2e8, auto_bytes=MIB // 4
)


async def sessions(path: SimulatedPath, method: str = "bayes") -> list[SimulatedAdvice]:
    return [await simulate(path, seed, method=method) for seed in SEEDS]


def fraction(path: SimulatedPath, session: SimulatedAdvice) -> float:
    return path.true_bps(session.subject, session.setting) / path.best_bps()


@pytest.mark.asyncio
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
async def test_little_is_lost_by_stopping_early(path: SimulatedPath) -> None:
    fractions = [fraction(path, session) for session in await sessions(path)]
    assert statistics.median(fractions) >= 0.97
    assert min(fractions) >= 0.93


@pytest.mark.asyncio
@pytest.mark.parametrize("method", ["bayes", "spsa", "nelder-mead"])
async def test_where_nothing_is_to_be_gained_that_is_said_soon(method: str) -> None:
    for session in await sessions(CLEAN, method):
        assert session.setting["streams"] == 1
        assert session.setting["buffer_bytes"] == 0
        assert session.seconds <= 20
    assert any("about the same rate" in reason for _, reason in session.ends)


@pytest.mark.asyncio
async def test_a_default_that_fills_a_known_link_ends_the_session() -> None:
    session = await simulate(KNOWN, 1)
    assert {probe.subject for probe in session.probes} == {"tcp"}
    assert [probe.label for probe in session.probes if probe.purpose == "baseline"] == ["default"]
    reasons = dict(session.ends)
    assert "the default fills 100% of what the reserved 1 Gbit/s can carry" in reasons["udt"]


@pytest.mark.asyncio
async def test_a_transport_that_cannot_win_is_measured_once() -> None:
    # Every further stream of TCP adds its own rate: nothing shows what the path carries.
    few = SimulatedPath(name="small buffers", auto_bytes=MIB // 4, asked_bytes=MIB // 4)
    session = await simulate(few, 1, max_streams=4)
    assert sum(probe.subject == "udt" for probe in session.probes) >= 1
    slow = SimulatedPath(name="slow UDT", loss=1e-4, udt_share=0.1)
    session = await simulate(slow, 1)
    assert sum(probe.subject == "udt" for probe in session.probes) == 1
    assert "UDT is unlikely to be faster" in dict(session.ends)["udt"]


@pytest.mark.asyncio
async def test_what_limits_tcp_at_any_number_of_streams_limits_udt_too() -> None:
    session = await simulate(CLEAN, 1)
    assert {probe.subject for probe in session.probes} == {"tcp"}
    assert "streams of TCP reach about the same rate" in dict(session.ends)["udt"]


@pytest.mark.asyncio
async def test_a_transport_that_wins_is_advised() -> None:
    path = SimulatedPath(name="udt", loss=2e-3, rtt_s=0.15, control="reno", udt_share=0.9)
    assert [session.subject for session in await sessions(path)] == ["udt"] * len(SEEDS)


@pytest.mark.asyncio
async def test_no_more_flows_than_needed() -> None:
    path = SimulatedPath(name="small buffers", auto_bytes=MIB // 4)
    counts = [int(session.setting["streams"]) for session in await sessions(path)]
    assert statistics.median(counts) <= path.cheapest_flows()


def tried_wide(session: SimulatedAdvice) -> list[Setting]:
    """The settings of one stream with a buffer of its own that were tried to save flows."""
    cheaper = [probe.setting for probe in session.probes if probe.label == CHEAPER]
    return [s for s in cheaper if s["streams"] == 1 and s["buffer_bytes"]]


@pytest.mark.asyncio
async def test_one_stream_with_a_large_buffer_is_tried_instead_of_many() -> None:
    """The link is full with 16 streams: nothing is faster, so no search follows."""
    session = await simulate(SmallBuffers(known=True), 1)
    assert tried_wide(session)
    assert session.setting["streams"] == 1
    assert len(session.probes) <= 5


@pytest.mark.asyncio
async def test_a_larger_buffer_is_not_tried_where_it_cannot_help() -> None:
    lossy = PlayedPath(
        name="lossy", rate_bps=5e8, rtt_s=0.02, loss=1e-4, control="reno", known=True
    )
    session = await simulate(lossy, 1, runner_of=PlayedRunner)
    assert session.setting["streams"] > 1
    assert not tried_wide(session)


@pytest.mark.asyncio
async def test_a_short_transfer_is_not_worth_long_probing() -> None:
    lossy = SimulatedPath(name="lossy", rate_bps=5e8, rtt_s=0.02, loss=1e-3)
    short = await simulate(lossy, 1, dataset=dataset(10**8))
    usual = await simulate(lossy, 1)
    assert len(short.probes) < len(usual.probes) / 2
    assert any("too short" in reason or "not worth" in reason for _, reason in short.ends)


@pytest.mark.asyncio
async def test_the_budget_is_the_upper_bound() -> None:
    path = SimulatedPath(name="loaded", load=16, spread=0.1)
    session = await simulate(path, 1, budget_s=12.0)
    assert session.seconds <= 12.0


@pytest.mark.asyncio
async def test_one_probe_is_made_also_where_the_start_took_all_the_time() -> None:
    # The simulated start takes a second.
    session = await simulate(CLEAN, 0, budget_s=1.0)
    assert len(session.probes) == 1
    assert session.setting == {"streams": 1, "buffer_bytes": 0, "congestion": "cubic"}


@pytest.mark.asyncio
async def test_an_ended_session_can_be_continued() -> None:
    first = await simulate(CLEAN, 1)
    more = await simulate(CLEAN, 1, earlier=first.probes, more_s=30.0)
    assert 20 <= more.seconds <= 40
    assert len(more.probes) > len(first.probes) + 5
    assert more.setting["streams"] == 1
    assert sum(p.purpose == "baseline" for p in more.probes) == 2
    assert more.ends[-1][0] == CONFIRM


@pytest.mark.asyncio
async def test_on_a_wild_path_the_choice_is_not_a_poor_setting() -> None:
    """Repeats differ by a factor of two: the model must not explain the noise."""
    wild = SimulatedPath(name="wild", rtt_s=0.001, spread=0.7, rate_bps=1e10)
    fractions = [fraction(wild, session) for session in await sessions(wild)]
    assert min(fractions) >= 0.6


def test_records_become_rarer() -> None:
    rates = [1e8, 1.2e8, 1.1e8]
    gains = [record_gain(rates * times, 1.2e8, 0.02) for times in (1, 3, 9)]
    assert gains[0] > gains[1] > gains[2] >= 0
    assert record_gain(rates[:2], 1e8, 0.02) == float("inf")


def test_a_search_that_is_far_behind_gains_nothing() -> None:
    assert record_gain([1e8, 1.01e8, 1.02e8], 9e8, 0.02) == 0


def test_the_spread_less_what_it_is_behind_is_divided_by_the_probes_and_one_more() -> None:
    """Logarithms with a mean of 0.1 and a spread of 0.1; it is 0.05 and the least behind."""
    rates = [1e8, 1e8 * exp(0.1), 1e8 * exp(0.2)]
    gain = record_gain(rates, 1e8 * exp(0.25), 0.02)
    assert gain == pytest.approx((0.1 - 0.05 - 0.02) / 4)


@pytest.mark.asyncio
@pytest.mark.parametrize("is_known", [True, False])
async def test_a_transfer_that_nobody_named_is_not_called_short(is_known: bool) -> None:
    # So far that a probe of UDT is not worth its time, in a transfer of the usual length.
    path = SimulatedPath(name="satellites", rtt_s=0.9)
    named = {"dataset": dataset(10**11)} if is_known else {}
    reason = dict((await simulate(path, 1, **named)).ends)["udt"]
    assert reason.startswith("not measured: ")
    assert ("too short" in reason) == is_known
    assert ("--size says how much" in reason) != is_known
