"""A sample, then one answer."""

import json

import numpy as np
import pytest

from advisor.domain.space import Setting
from advisor.methods.api import WithSample
from advisor.methods.sampling import SampleThenAnswer
from advisor.testing.samples import a_transfer_space, failed, measured

START: Setting = {"concurrency": 2, "parallelism": 2, "pipelining": 1}
BETTER: Setting = {"concurrency": 8, "parallelism": 4, "pipelining": 1}


class _AsSampled(SampleThenAnswer):
    def __init__(self, answer: Setting) -> None:
        super().__init__(a_transfer_space(), np.random.default_rng(0), START)
        self.samples_bps: list[float] = []
        self._answer = answer

    def _answered(self, sample_bps: float) -> tuple[Setting, str]:
        self.samples_bps.append(sample_bps)
        return self._answer, "enough is known"


def test_the_sample_is_measured_then_the_answer_that_came_of_it() -> None:
    method = _AsSampled(BETTER)
    assert (method.ask(), method.label) == (START, "sample")
    method.tell(START, measured(1e9))
    assert method.samples_bps == [1e9]
    assert (method.ask(), method.label) == (BETTER, "answer")
    assert method.move_reason == "enough is known"
    method.tell(BETTER, measured(2e9))
    assert method.ask() is None
    assert method.recommended() == (BETTER, 2e9)
    assert method.gauges[0].value == method.gauges[0].limit == 2


def test_an_answer_that_is_the_sample_is_not_measured_again() -> None:
    method = _AsSampled(START)
    method.tell(START, measured(1e9))
    assert method.ask() is None
    assert method.stop_reason == "enough is known"


def test_a_failed_sample_has_no_answer() -> None:
    method = _AsSampled(BETTER)
    method.tell(START, failed())
    assert method.ask() is None
    assert method.samples_bps == []
    assert "sample failed" in str(method.stop_reason)


def test_the_answer_follows_from_the_sample_as_it_was_measured() -> None:
    """What it is worth for the whole dataset decides which of the two is better."""
    method = _AsSampled(BETTER)
    assert isinstance(method, WithSample)
    method.measured(measured(9e9))
    method.tell(START, measured(4e9))
    assert method.samples_bps == [9e9]
    method.measured(measured(8e9))
    method.tell(BETTER, measured(5e9))
    assert method.recommended() == (BETTER, 5e9)


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_it_resumes_with_the_answer_it_had(steps: int) -> None:
    first, second = _AsSampled(BETTER), _AsSampled(START)
    for _ in range(steps):
        setting = first.ask()
        assert setting is not None
        first.tell(setting, measured(1e9))
    second.restore(json.loads(json.dumps(first.state())))
    assert (second.ask(), second.label, second.stop_reason) == (
        first.ask(),
        first.label,
        first.stop_reason,
    )
