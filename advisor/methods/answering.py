"""Methods that do not search: they know their answers in advance and have them measured."""

from collections.abc import Sequence

import msgspec
import numpy as np

from advisor.domain.events import StopGauge
from advisor.domain.space import Setting, Space
from advisor.methods.searching import Memory, Search


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """One setting, a label that says what it is for, and a sentence on where it comes from."""

    label: str
    setting: Setting
    reason: str


class AnswerMemory(Memory, kw_only=True):
    """The answers, at least one, and how many of them have been measured.

    They are stored, not computed again: what is known of the path may change in the meantime.
    """

    answers: list[Answer]
    given: int = 0


class Answers(Search[AnswerMemory]):
    """Asks for each answer once, then stops."""

    def __init__(self, space: Space, rng: np.random.Generator, answers: Sequence[Answer]) -> None:
        memory = AnswerMemory(answers=list(answers), label=answers[0].label)
        super().__init__(space, rng, memory)

    @property
    def gauges(self) -> list[StopGauge]:
        """How many of the answers have been measured."""
        return [
            StopGauge(
                name="answers",
                value=self.memory.given,
                limit=len(self.memory.answers),
                meaning="settings measured",
            )
        ]

    def _setting(self) -> Setting:
        return dict(self.memory.answers[self.memory.given].setting)

    def _take(self, bps: float) -> None:
        memory = self.memory
        memory.given += 1
        memory.iteration = memory.given
        if memory.given < len(memory.answers):
            answer = memory.answers[memory.given]
            memory.label, memory.move_reason = answer.label, answer.reason
        else:
            count = len(memory.answers)
            memory.stop_reason = (
                f"this method has one answer: {memory.answers[0].reason}"
                if count == 1
                else f"all {count} settings are measured"
            )
