"""Methods that measure one sample, derive one answer from it, and measure that answer.

The answer follows from past transfers of the sample's load, so the sample is compared with them: by
its rate while data flowed, which is theirs.
"""

from abc import abstractmethod
from typing import Final

import numpy as np

from advisor.domain.events import StopGauge
from advisor.domain.measurement import Outcome
from advisor.domain.space import Setting, Space
from advisor.methods.searching import Memory, Search, usable_bps

_STEPS: Final = 2


class SampleMemory(Memory, kw_only=True):
    """The setting of the sample; the answer, once it is known."""

    sample: Setting
    answer: Setting | None = None


class SampleThenAnswer(Search[SampleMemory]):
    """If the sample fails, its own setting remains the answer."""

    def __init__(self, space: Space, rng: np.random.Generator, sample: Setting) -> None:
        super().__init__(space, rng, SampleMemory(sample=sample, label="sample"))
        self._measured_bps = 0.0

    @abstractmethod
    def _answered(self, sample_bps: float) -> tuple[Setting, str]:
        """The setting to use, and a sentence that says why.

        `sample_bps`: the sample's rate while data flowed, above zero.
        """

    def measured(self, outcome: Outcome) -> None:
        """Take the outcome that is told next, as it was measured."""
        self._measured_bps = usable_bps(outcome)

    @property
    def gauges(self) -> list[StopGauge]:
        """The progress: sample and answer."""
        return [
            StopGauge(
                name="steps",
                value=self.memory.iteration,
                limit=_STEPS,
                meaning="the sample, then the answer",
            )
        ]

    def _setting(self) -> Setting:
        return dict(self.memory.answer or self.memory.sample)

    def _take(self, bps: float) -> None:
        memory = self.memory
        memory.iteration += 1
        if memory.answer is not None:
            memory.stop_reason = "this method has one answer, and it is measured"
            return
        if not bps:
            memory.stop_reason = "the sample failed: its own setting is the only answer"
            return
        memory.answer, memory.move_reason = self._answered(self._measured_bps or bps)
        memory.label = "answer"
        if memory.answer == memory.sample:
            memory.stop_reason = memory.move_reason
