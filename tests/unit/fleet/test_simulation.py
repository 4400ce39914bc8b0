"""A fleet in virtual time."""

import math

import msgspec
import numpy as np
import pytest

from advisor.fleet.plan.fleet import DAY_S, Fleet, Host, Limits, Resource, Task
from advisor.fleet.simulation.report import SimulationReport, jain, traffic_of
from advisor.fleet.simulation.running import Simulation
from advisor.fleet.simulation.several import (
    SIMULATING,
    SimulationRun,
    Spread,
    simulated,
    summary_of,
)
from advisor.fleet.simulation.world import Draws, World, happenings
from advisor.runtime.executor import InThisProcess, read_answer, run_batch, versions


def a_fleet(hosts: int = 8, every_d: float = 5, share: float = 0.01) -> Fleet:
    everyone = tuple(range(hosts))
    return Fleet(
        hosts=tuple(
            Host(name=f"h{n}", reach=f"h{n}", bandwidth_bps=(1e9, 1e10)[n % 2])
            for n in range(hosts)
        ),
        tasks=(
            Task(
                name="m",
                what="advice",
                blocks=((everyone, everyone),),
                every_s=every_d * DAY_S,
                budget_s=30.0,
            ),
        ),
        resources=(Resource(name="up", members=frozenset({0, 1, 2}), at_once=2),),
        limits=Limits(share_per_day=share),
    )


def run(fleet: Fleet, days: float = 60, workers: int = 4, seed: int = 1) -> SimulationReport:
    simulation = Simulation(fleet, days * DAY_S, workers, seed)
    for _ in simulation.run():
        pass
    return simulation.report()


def test_every_pair_is_covered_within_every_bound() -> None:
    found = run(a_fleet())
    assert found.complete
    assert found.pairs == 56
    assert found.simulated_s == 60 * DAY_S
    times = [found.cover_s[part] for part in ("50%", "90%", "99%", "100%")]
    assert None not in times
    assert times == sorted(times, key=lambda t: t or 0)
    assert found.traffic is not None
    assert 0 < found.traffic.median_share <= found.traffic.most_share <= 1
    assert found.oldest_age_s is not None
    assert found.oldest_age_s < 3 * 5 * DAY_S  # twice the interval, and hosts that were down


def test_the_same_seed_gives_the_same_run_and_another_gives_another() -> None:
    fleet = a_fleet()
    first, again, other = (run(fleet, 20, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert msgspec.structs.replace(other, seed=1) != first


def test_a_tight_bound_is_never_passed_and_delays_the_cover() -> None:
    """0.05 % of a day are 43 s at full rate: one or two measurements of each host a day."""
    tight, wide = run(a_fleet(share=0.0005)), run(a_fleet(share=0.05))
    assert tight.traffic is not None
    assert tight.traffic.most_share <= 1
    assert (tight.cover_s["100%"] or math.inf) > 5 * (wide.cover_s["100%"] or math.inf)


def test_more_workers_are_idle_for_longer() -> None:
    few, many = (run(a_fleet(), 20, workers) for workers in (1, 16))
    assert many.idle_share > few.idle_share


def test_it_may_be_left_in_the_middle() -> None:
    simulation = Simulation(a_fleet(), 60 * DAY_S, 4, 1)
    days = simulation.run()
    while next(days).days < 10:
        pass
    found = simulation.report()
    assert not found.complete
    assert 10 * DAY_S <= found.simulated_s < 60 * DAY_S
    for _ in simulation.run():
        pass
    assert simulation.report() == run(a_fleet())


def test_lasting_drops_of_hosts_are_noticed() -> None:
    found = run(a_fleet(6, every_d=1), 250)
    halved = found.changes["host change -50 %"]
    assert halved.happened > 0
    assert halved.noticed == halved.happened
    assert halved.median_s is not None
    assert halved.median_s < 3 * DAY_S
    assert found.false_alarms_per_pair_year < 0.5


def test_a_pair_reaches_nine_tenths_of_its_link_and_never_more_than_all_of_it() -> None:
    fleet = a_fleet()
    draws = Draws(np.random.default_rng(1))
    world = World(fleet, draws)
    rates = [world.rate_bps(0, 1) for _ in range(500)]
    assert max(rates) <= 1e9
    assert np.median(rates) == pytest.approx(0.9e9, rel=0.03)


def test_whatever_begins_ends_later() -> None:
    found = list(happenings(a_fleet(), 0.0, 1000 * DAY_S, Draws(np.random.default_rng(1))))
    begun = [one for one in found if not one.end]
    ended = [one for one in found if one.end]
    # Each is followed by its end where it is made.
    for one, end in zip(begun, ended, strict=True):
        assert one[1:5] == end[1:5]
        assert one.at_s < end.at_s
    assert {one.kind for one in begun} >= {"down", "host change"}
    downs = sum(one.kind == "down" for one in begun)
    # 8 hosts, every 60 days: 133 expected, with a standard deviation of 12.
    assert 90 < downs < 180


def test_jains_index() -> None:
    assert jain(np.array([3.0, 3.0, 3.0])) == pytest.approx(1)
    assert jain(np.array([1.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert jain(np.zeros(3)) == 1


def test_the_traffic_of_a_host_is_judged_by_its_own_bound() -> None:
    found = traffic_of(np.array([[10.0, 50.0], [20.0, 60.0]]), np.array([20.0, 100.0]))
    assert found is not None
    assert (found.most_bytes, found.most_share) == (20.0, 1.0)
    assert found.median_share == pytest.approx(0.55)
    assert traffic_of(np.zeros((0, 2)), np.array([1.0, 1.0])) is None


def test_several_runs_are_what_each_of_them_is_alone() -> None:
    fleet = a_fleet()
    tasks = [
        SimulationRun(fleet=fleet, duration_s=20 * DAY_S, workers=4, seed=seed)
        for seed in (3, 4, 5)
    ]
    found = [report for _, report in InThisProcess().results(SIMULATING, tasks)]
    assert found == [run(fleet, 20, seed=seed) for seed in (3, 4, 5)]
    summary = summary_of(found)
    assert (summary.seeds, summary.reports) == ([3, 4, 5], found)
    numbers = sorted(report.measurements for report in found)
    assert summary.figures["measurements"] == Spread(
        runs=3, least=numbers[0], median=numbers[1], most=numbers[2]
    )
    # A worker of Dask sends them like this.
    sent = run_batch(simulated, tasks[:1], versions())
    assert read_answer(sent, SimulationReport, 1) == found[:1]


def test_a_figure_counts_only_where_it_was_reached() -> None:
    short, long = (run(a_fleet(hosts=60), days, workers=1) for days in (1, 20))
    assert (short.cover_s["100%"], long.cover_s["100%"] is None) == (None, False)
    covered = summary_of([short, long]).figures["cover_s.100%"]
    assert (covered.runs, covered.least) == (1, long.cover_s["100%"])
    assert "cover_s.100%" not in summary_of([short]).figures
