"""Online tuning of the classes of a plan while they are moved (HARP 2018, section 4.2).

After each control epoch the optimiser is asked again, with the epoch's rate as the sample. "We
consider last k monitor interval" (k = 4), and levels change only "if there is at least two
difference between old and new values".

Surfaces are of classes that were moved alone, and a class beside others gets less for that reason
alone. So beside others the first epoch in the same company at the same levels is the reference,
taken to be what the surfaces expect, and a later epoch is the same multiple of what they expect as
of the reference. Alone, the rate is the sample as it is.

An epoch within 30 % of the expectation is of the load that the plan was made for and suggests the
present levels. Without this the plan would follow noise.
"""

from typing import Final

import msgspec

from advisor.domain.quantities import format_rate
from advisor.domain.transfers import Levels
from advisor.methods.online_tuning import INTERVALS, Consistency
from advisor.models.harp.optimiser import FAR_OFF, HarpAnswer, Optimiser, SampleTransfer
from advisor.models.harp.optimum import Keep

EPOCH_S: Final = 10.0
"""The control epoch of a plan, in seconds: two pieces of work. The paper gives no figure."""


class ClassRate(msgspec.Struct, frozen=True, kw_only=True):
    """What a class reached in an epoch, in bit/s, at these levels; `is_alone`: without others."""

    levels: Levels
    bps: float
    is_alone: bool


class Retuned(msgspec.Struct, frozen=True, kw_only=True):
    """A class whose levels change; `old`, `new`: those it would have alone."""

    size: str
    old: Levels
    new: Levels
    bps: float
    reason: str


class Retuning:
    """Follows one class. `answer`: the present one; it has groups with surfaces."""

    def __init__(self, optimiser: Optimiser, answer: HarpAnswer, keep: Keep) -> None:
        self.answer = answer
        self._optimiser = optimiser
        self._keep = keep
        self._consistency = Consistency()
        self._reference_bps: float | None = None

    def restart(self) -> None:
        """The company or the levels have changed: earlier epochs say nothing about later ones."""
        self._consistency = Consistency()
        self._reference_bps = None

    def look(self, seen: ClassRate) -> HarpAnswer | None:
        """Process one epoch. The new answer, if the levels change."""
        expected_bps = self.answer.expected_bps(seen.levels)
        if expected_bps is None or seen.bps <= 0:
            return None
        if not seen.is_alone and self._reference_bps is None:
            self._reference_bps = seen.bps
            return None
        ratio = seen.bps / (expected_bps if seen.is_alone else self._reference_bps or seen.bps)
        suggested = self.answer
        if abs(ratio - 1) > FAR_OFF:
            sample = SampleTransfer(levels=seen.levels, throughput_bps=ratio * expected_bps)
            suggested = self._optimiser.answer(sample, keep=self._keep)
        present = self.answer.levels.files_and_streams
        judged = self._consistency.judge(present, suggested.levels.files_and_streams)
        if judged == present:
            return None
        levels = msgspec.structs.replace(
            suggested.levels,
            concurrency=int(judged["concurrency"]),
            parallelism=int(judged["parallelism"]),
        )
        self.answer = suggested.at(levels)
        return self.answer


def reason_of(seen: ClassRate) -> str:
    """Why levels change, without the answer's own reasons."""
    return (
        f"{INTERVALS} consecutive epochs suggest other levels; the last one gave "
        f"{format_rate(seen.bps)} at {seen.levels.words}"
    )
