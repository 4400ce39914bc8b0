"""Sessions from disk to disk on a simulated tool, over datasets that no figure was chosen for."""

import math
from statistics import median

import numpy as np
import pytest

from advisor.advising.judging import comparable
from advisor.domain.dataset import Work
from advisor.domain.measurement import Measurement
from advisor.domain.space import Setting, flows_of
from advisor.models.slicing import FileEntry, Slicer, moved_work
from advisor.models.transfer_cost import CostModel, Moved
from tests.simulated_session import TOOL, SimulatedSession
from tests.simulated_tool import SimulatedPath, simulate

PATH = SimulatedPath(rtt_s=0.06, rate_bps=4e8, file_s=0.005, session_s=0.04)
DEFAULT: Setting = {"concurrency": 1, "parallelism": 1, "pipelining": 1, "options": "none"}
SIZES = np.random.default_rng(5).lognormal(12.5, 1.8, 300).astype(int).tolist()


def _whole_s(setting: Setting, runs: int = 3) -> float:
    found = []
    for run in range(runs):
        rng = np.random.default_rng(run)
        found.append(simulate(PATH, rng.permutation(SIZES).tolist(), setting, rng).elapsed_s)
    return median(found)


@pytest.fixture(scope="module")
def session() -> SimulatedSession:
    made = SimulatedSession(PATH, SIZES, seed=1)
    made.run()
    return made


def test_the_simulated_tool_does_what_such_tools_do() -> None:
    one: Setting = {"concurrency": 1, "parallelism": 1, "pipelining": 0}
    alone_s = _whole_s(one)
    assert _whole_s(one | {"pipelining": 1}) > 1.1 * alone_s
    assert _whole_s(one | {"pipelining": 1, "options": "none"}) > 1.5 * alone_s
    assert _whole_s(one | {"concurrency": 4}) < 0.4 * alone_s
    assert _whole_s(one | {"concurrency": 32}) > sum(SIZES) * 8 / (1.2 * PATH.rate_bps)


def test_the_first_probe_of_the_search_is_not_the_corner_of_most_flows(
    session: SimulatedSession,
) -> None:
    first = next(
        probe for probe in session.probes if probe.purpose == "search" and probe.stage == TOOL
    )
    most = session.space.setting_at({p.name: 1.0 for p in session.space.parameters})
    assert flows_of(first.setting) <= flows_of(most) / 4


def test_slices_of_the_default_predict_its_whole(session: SimulatedSession) -> None:
    found = [
        probe.result
        for probe in comparable(session._request, session.probes)
        if probe.setting == DEFAULT and isinstance(probe.result, Measurement)
    ]
    expected_s = median(sum(SIZES) * 8 / one.throughput_bps for one in found)
    assert expected_s == pytest.approx(_whole_s(DEFAULT, 1), rel=0.15)


@pytest.mark.parametrize("seed", range(4))
def test_a_slice_that_is_stopped_represents_the_whole_too(seed: int) -> None:
    rng = np.random.default_rng(seed)
    files = [FileEntry(str(number), size, 0) for number, size in enumerate(SIZES)]
    session = SimulatedSession(PATH, SIZES, seed)
    parts = Slicer(files, session.dataset.sizes, 64, rng).take(40_000_000)
    ran = simulate(PATH, [part.size_bytes for part in parts], DEFAULT, rng, 8.0)
    assert not ran.is_whole
    moved = Moved(
        setting=DEFAULT,
        work=moved_work(parts, ran.moved_bytes),
        seconds=ran.elapsed_s,
        idle_s=ran.begun_s,
    )
    model = CostModel(PATH.rtt_s, {1: 3.9e8, 8: 4e8}).fit([moved])
    [(ratio, error)] = model.log_ratios(Work.of_sizes(SIZES), [(DEFAULT, moved.work)])
    assert ran.elapsed_s * math.exp(ratio) == pytest.approx(_whole_s(DEFAULT, 1), rel=0.25)
    assert error < 0.25


@pytest.fixture(scope="module")
def best_s() -> float:
    return min(
        _whole_s({"concurrency": c, "parallelism": p, "pipelining": 0}, 5)
        for c in (8, 16, 32, 64)
        for p in (1, 4)
    )


@pytest.mark.parametrize("seed", range(4))
def test_the_advice_is_near_the_best_and_its_statements_hold(seed: int, best_s: float) -> None:
    advice = SimulatedSession(PATH, SIZES, seed).run()
    true_s = _whole_s(advice.setting, 5)
    assert true_s < 1.1 * best_s
    assert advice.transfer_s
    low_s, high_s = advice.transfer_s.interval
    assert 0.9 * low_s < true_s < 1.1 * high_s
    assert high_s < 1.6 * low_s
    assert advice.gain
    assert set(advice.further_gains) == {"default with -fast -pp"}
    assert advice.gain.interval[0] < 1.1 * _whole_s(DEFAULT, 1) / true_s
