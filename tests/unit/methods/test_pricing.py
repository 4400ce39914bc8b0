"""The price of a flow: what a tuner receives instead of the throughput."""

import numpy as np
import pytest

from advisor import registry
from advisor.domain.measurement import Failure, Measurement, Outcome
from advisor.domain.space import Parameter, Setting, Space
from advisor.methods.api import Knowledge
from advisor.methods.tuning import Priced, Searching
from advisor.testing.samples import failed, measured


class Recorder:
    def __init__(self) -> None:
        self.setting: Setting = {"concurrency": 5, "parallelism": 4}
        self.outcomes: list[Outcome] = []

    def tell(self, outcome: Outcome) -> str:
        self.outcomes.append(outcome)
        return "up" if len(self.outcomes) == 1 else ""


def test_the_throughput_is_less_by_the_price_of_all_flows() -> None:
    recorder = Recorder()
    priced = Priced(recorder, 0.02)
    assert priced.setting == recorder.setting
    assert priced.tell(measured(1e9)).startswith("up ")
    assert priced.tell(failed()) == ""
    first, second = recorder.outcomes
    assert isinstance(first, Measurement)
    assert first.throughput_bps == pytest.approx(1e9 / 1.02**20)
    assert isinstance(second, Failure)


def test_two_that_share_a_link_by_their_flows_settle() -> None:
    """Each searches in turn while the other stays: the best answer to 25 flows is 25 flows."""
    flows = [4, 60]
    for turn in range(12):
        mine, other = turn % 2, 1 - turn % 2
        flows[mine] = _best_answer(flows[other])
    assert flows[0] == pytest.approx(25, abs=2)
    assert flows[1] == pytest.approx(25, abs=2)


def _best_answer(others: int) -> int:
    plugin = registry.method("compass")
    bound = Parameter(name="concurrency", unit="files", lower=1, upper=128)
    space = Space(parameters=(bound,), cost_order=("concurrency",))
    tuner = Priced(
        Searching(lambda _: plugin.create(space, np.random.default_rng(0), Knowledge(), {}), space),
        0.02,
    )
    for _ in range(60):
        mine = int(tuner.setting["concurrency"])
        tuner.tell(measured(1e9 * mine / (mine + others)))
    return int(tuner.setting["concurrency"])
