"""Runs a plan: a sample of each class, then all of them as the scheduler has it (HARP 3.1).

What a sample moves is part of the transfer. While one class is sampled the optimiser works on the
one before ("Scheduler and Optimizer can operate simultaneously").
"""

import asyncio
import functools
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from advisor.domain.evidence import SampleSeen
from advisor.domain.transfers import Levels
from advisor.models.file_classes import Size
from advisor.models.harp.sampling import INTERVAL_S, AdaptiveSample
from advisor.models.planning import SizedFiles
from advisor.transfer.engine.file_group import Portion
from advisor.transfer.engine.mover import Mover
from advisor.transfer.engine.progress import Phase
from advisor.transfer.planned.planner import Planner


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """What a class gave while it was moved by itself: in bit/s, over so many seconds."""

    files: SizedFiles
    label: Literal["sample", "transfer"]
    levels: Levels
    bps: float
    elapsed_s: float


class PlanRun:
    """One run. `portions`: a class each, of its name. `keep`: takes what is worth storing.

    `phase`: what is done at present.
    """

    def __init__(
        self,
        planner: Planner,
        portions: Sequence[Portion],
        keep: Callable[[Alone], None],
    ) -> None:
        self._planner = planner
        self._portions = {Size(one.name): one for one in portions}
        self._keep = keep
        self._clock = asyncio.get_running_loop().time
        self.phase: Phase = "transfer"

    async def sample(self, mover: Mover) -> None:
        """A sample of each class, one after the other. Raises MovingFailed."""
        self.phase = "sample"
        async with asyncio.TaskGroup() as looking:
            for files in self._planner.classes:
                sampled = await self._sampled(mover, files)
                if sampled is not None:
                    looking.create_task(asyncio.to_thread(self._planner.look, files, sampled))
        self.phase = "transfer"

    async def _sampled(self, mover: Mover, files: SizedFiles) -> SampleSeen | None:
        """None where the class was over before anything could be told."""
        portion, levels = self._portions[files.size], self._planner.sample_levels[files.size]
        _set(portion, levels)
        arrived_bytes = portion.arrived_bytes
        await mover.until(lambda: portion.moved_bytes > arrived_bytes or portion.is_over)
        began_s, sample, bps = self._clock(), AdaptiveSample(), None
        while bps is None and not portion.is_over:
            bps = await self._look(mover, portion, sample)
        elapsed_s = self._clock() - began_s
        portion.concurrency = 0
        await mover.idle(portion)
        bps = bps or sample.so_far
        if not bps:
            return None
        self._keep(Alone(files=files, label="sample", levels=levels, bps=bps, elapsed_s=elapsed_s))
        return SampleSeen(levels=levels, throughput_bps=bps)

    async def _look(self, mover: Mover, portion: Portion, sample: AdaptiveSample) -> float | None:
        """One interval of a sample; the sample's throughput when that has ended it."""
        before_bytes, before_s = portion.carried_bytes, self._clock()
        await mover.until(lambda: self._clock() >= before_s + INTERVAL_S or portion.is_over)
        if portion.is_over:
            return None
        carried_bits = (portion.carried_bytes - before_bytes) * 8
        return sample.look(carried_bits / (self._clock() - before_s))

    async def move(self, mover: Mover) -> None:
        """All that is left. Raises MovingFailed."""
        if self._planner.rule.order == "together" and len(self._portions) > 1:
            await self._move_together(mover)
            return
        for files in self._planner.classes:
            await self._move_alone(mover, files)

    async def _move_together(self, mover: Mover) -> None:
        """Whenever a class is over, the others share its channels out."""
        while left := self._left_bytes():
            for size, levels in self._planner.levels_now(left).items():
                _set(self._portions[size], levels)
            await mover.until(functools.partial(self._are_fewer_than, len(left)))

    def _are_fewer_than(self, classes: int) -> bool:
        return len(self._left_bytes()) < classes

    def _left_bytes(self) -> dict[Size, int]:
        """Of the classes that are not over, at least 1."""
        return {
            size: max(1, portion.total_bytes - portion.moved_bytes)
            for size, portion in self._portions.items()
            if not portion.is_over
        }

    async def _move_alone(self, mover: Mover, files: SizedFiles) -> None:
        portion = self._portions[files.size]
        before_bytes, began_s = portion.moved_bytes, self._clock()
        levels = self._planner.levels_now({files.size: files.total_bytes or 1})[files.size]
        _set(portion, levels)
        await mover.until(lambda: portion.is_over)
        elapsed_s, moved_bytes = self._clock() - began_s, portion.moved_bytes - before_bytes
        if moved_bytes:
            bps = moved_bytes * 8 / elapsed_s
            self._keep(
                Alone(files=files, label="transfer", levels=levels, bps=bps, elapsed_s=elapsed_s)
            )


def _set(portion: Portion, levels: Levels) -> None:
    portion.parallelism, portion.concurrency = levels.parallelism, levels.concurrency
