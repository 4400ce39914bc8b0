"""The default method in virtual time: the first minute against the best fixed setting."""

from statistics import fmean

import numpy as np
import pytest

from advisor.domain.transfers import Levels
from advisor.transfer.tuned.loop import Epoch
from tests.benchmarks.transfers.virtual.compare import (
    Contestant,
    best_static_bytes,
    links,
    tool_bytes,
    tuner,
)
from tests.benchmarks.transfers.virtual.engine import moved_bytes
from tests.benchmarks.transfers.virtual.links import CONTROLS, Link, Noise
from tests.benchmarks.transfers.virtual.two import jain, share_link

SEEDS = (1, 2, 3)


@pytest.mark.parametrize("control", CONTROLS)
def test_under_load_it_moves_most_of_what_the_best_setting_does(control: str) -> None:
    shares = [
        Contestant("doubling").share(link, best_static_bytes(link, SEEDS[:1]), SEEDS)
        for link in links(control, 4, 77, loaded=True)
    ]
    assert fmean(shares) >= 0.85


@pytest.mark.parametrize("control", CONTROLS)
def test_without_load_it_costs_next_to_nothing(control: str) -> None:
    shares = [
        Contestant("doubling").share(link, tool_bytes(link, SEEDS), SEEDS)
        for link in links(control, 6, 77, loaded=False)
    ]
    assert fmean(shares) >= 0.97


def test_decided_epochs_are_short_while_it_searches_and_long_while_it_watches() -> None:
    [link] = links("bbr", 1, 5, loaded=True)
    epochs: list[Epoch] = []
    moved_bytes(tuner("doubling", link, 1), link, 1, 200.0, record=epochs.append)
    lengths = [one.outcome.elapsed_s for one in epochs]
    assert lengths[0] < 8.5
    assert lengths[-1] == pytest.approx(30.0, abs=0.5)
    searching = lengths[: next(n for n, one in enumerate(lengths) if one > 29.0)]
    # At most half of an epoch of 8 s is left out, and counted instead at its end.
    assert max(searching) <= 12.5
    assert np.mean(searching) < 8.0


def test_epochs_of_a_given_length_stay_as_they_are() -> None:
    [link] = links("bbr", 1, 5, loaded=True)
    epochs: list[Epoch] = []
    moved_bytes(tuner("doubling", link, 1), link, 1, 60.0, epoch_s=5.0, record=epochs.append)
    assert {one.outcome.elapsed_s for one in epochs} == {5.0}


def test_a_start_by_history_moves_more_under_load() -> None:
    [link] = links("reno", 1, 3, loaded=True)
    start = Levels(concurrency=16, parallelism=8)
    plain, begun = (
        fmean(moved_bytes(tuner("doubling", link, seed, at), link, seed) for seed in SEEDS)
        for at in (None, start)
    )
    assert begun > plain


def test_flows_have_the_link_by_their_number() -> None:
    link = Link(
        control="bbr",
        rate_bps=1e9,
        rtt_s=0.03,
        others=48,
        ramp_s=1.0,
        set_up_s=0.3,
        noise=0.15,
        noise_s=4.0,
        exponent=1.0,
        host_flows=1e9,
        flow_bps=1e9,
    )
    settled = [(8, 100.0)] * 2
    assert link.mean_bps(settled) == pytest.approx(1e9 * 16 / 64, rel=0.01)
    assert link.mean_bps([*settled, (32, 0.2)]) == pytest.approx(link.mean_bps(settled))
    assert link.mean_bps([]) == 0.0
    noise = Noise(link, 0.1, np.random.default_rng(1))
    logs = np.log([noise.next() for _ in range(20_000)])
    assert logs.std() == pytest.approx(0.15, rel=0.1)
    assert np.corrcoef(logs[:-40], logs[40:])[0, 1] == pytest.approx(np.exp(-1), abs=0.1)


@pytest.mark.parametrize("loaded", [False, True])
def test_with_a_price_two_transfers_come_to_equal_shares_with_fewer_flows(loaded: bool) -> None:
    [link] = links("cubic", 1, 77, loaded=loaded)
    priced, free = (share_link("nelder-mead", price, link, 1) for price in (0.02, None))
    assert priced.jain >= 0.95
    assert priced.converged_s is not None
    assert priced.flows < free.flows


def test_the_index_of_jain_is_one_where_all_have_the_same() -> None:
    rates = np.array([[3.0, 3.0], [1.0, 0.0], [2.0, 1.0]])
    assert jain(rates) == pytest.approx([1.0, 0.5, 0.9])
