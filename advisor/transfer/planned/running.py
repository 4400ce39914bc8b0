"""Runs a plan: a sample of each class, then all of them as scheduled (HARP 2018, section 3.1).

What a sample moves is part of the transfer. While one class is sampled, the optimiser works on the
one before ("Scheduler and Optimizer can operate simultaneously").
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from advisor.domain.evidence import SampleSeen
from advisor.domain.space import Setting
from advisor.domain.transfers import Levels
from advisor.models.file_classes import Size
from advisor.models.harp.sampling import INTERVAL_S, AdaptiveSample
from advisor.models.planning import SizedFiles
from advisor.transfer.engine.epochs import EpochMeter, Single
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.progress import Phase
from advisor.transfer.planned.planner import Planner
from advisor.transfer.planned.retuning import EPOCH_S, ClassRate, Retuned


class Alone(msgspec.Struct, frozen=True, kw_only=True):
    """The rate of a class that was moved alone, in bit/s, over `elapsed_s` seconds."""

    files: SizedFiles
    label: Literal["sample", "transfer"]
    levels: Levels
    bps: float
    elapsed_s: float


class Engine(Protocol):
    """The part of `Mover` that a plan uses; see there."""

    def apply(self, group: FileGroup, setting: Setting) -> None:
        """Move the group at this setting from now on."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds. Raises TransferFailed, Stopped."""

    async def drain(self, group: FileGroup) -> None:
        """Start no clients, and wait for the end of those that run. Raises as `until` does."""


class PlanRun:
    """One run of a plan. `groups`: one for each class, with its name. `keep`: stores results.

    `retuned`: takes every class whose levels change while it is moved, with the number of the
    epoch; None for a plan that stays as it is. `clock`: in seconds, which pass in `Engine.until`.
    `phase`: the present phase.
    """

    def __init__(
        self,
        planner: Planner,
        groups: Sequence[FileGroup],
        keep: Callable[[Alone], None],
        *,
        retuned: Callable[[int, Retuned], None] | None = None,
        clock: Callable[[], float] | None = None,
    ) -> None:
        self._planner = planner
        self._groups = {Size(one.name): one for one in groups}
        self._keep = keep
        self._retuned = retuned
        self._epochs = self._changes = 0
        self._clock = clock or asyncio.get_running_loop().time
        self.phase: Phase = "transfer"

    async def sample(self, mover: Engine) -> None:
        """A sample transfer of each class, one after the other. Raises TransferFailed, Stopped."""
        self.phase = "sample"
        looking: list[asyncio.Task[None]] = []
        try:
            for files in self._planner.classes:
                sampled = await self._sampled(mover, files)
                if sampled is not None:
                    look = asyncio.to_thread(self._planner.look, files, sampled)
                    looking.append(asyncio.create_task(look))
            await asyncio.gather(*looking)
        finally:
            for task in looking:
                task.cancel()
        self.phase = "transfer"

    async def _sampled(self, mover: Engine, files: SizedFiles) -> SampleSeen | None:
        """None if the class was finished before its rate was known."""
        group, levels = self._groups[files.size], self._planner.sample_levels[files.size]
        mover.apply(group, levels.files_and_streams)
        arrived_bytes = group.arrived_bytes
        await mover.until(lambda: group.moved_bytes > arrived_bytes or group.is_over)
        began_s, sample, bps = self._clock(), AdaptiveSample(), None
        while bps is None and not group.is_over:
            bps = await self._look(mover, group, sample)
        elapsed_s = self._clock() - began_s
        await mover.drain(group)
        bps = bps or sample.so_far
        if not bps:
            return None
        self._keep(Alone(files=files, label="sample", levels=levels, bps=bps, elapsed_s=elapsed_s))
        return SampleSeen(levels=levels, throughput_bps=bps)

    async def _look(self, mover: Engine, group: FileGroup, sample: AdaptiveSample) -> float | None:
        """One interval of a sample; the sample's throughput, once it has converged."""
        before_bytes, before_s = group.carried_bytes, self._clock()
        await mover.until(lambda: self._clock() >= before_s + INTERVAL_S or group.is_over)
        if group.is_over:
            return None
        carried_bits = (group.carried_bytes - before_bytes) * 8
        return sample.look(carried_bits / (self._clock() - before_s))

    async def move(self, mover: Engine) -> None:
        """Move all that is left. Raises TransferFailed, Stopped."""
        if self._planner.rule.order == "together" and len(self._groups) > 1:
            await self._move_together(mover)
            return
        for files in self._planner.classes:
            await self._move_alone(mover, files)

    async def _move_together(self, mover: Engine) -> None:
        """All classes that are left. Whenever one is finished, the others share its channels."""
        singles = {size.value: Single(group) for size, group in self._groups.items()}
        meter = EpochMeter(singles, EPOCH_S, self._clock, mover.until)
        while classes := len(self._left_bytes()):
            self._planner.company_changes()
            levels = self._apply(mover, meter)
            while len(self._left_bytes()) == classes:
                if self._retuned is None:
                    await mover.until(lambda: len(self._left_bytes()) < classes)
                elif await self._epoch_changes(meter, levels):
                    levels = self._apply(mover, meter)

    def _apply(self, mover: Engine, meter: EpochMeter) -> Mapping[Size, Levels]:
        """Move each class that is left at its levels of now."""
        levels = self._planner.levels_now(self._left_bytes())
        for size, one in levels.items():
            meter.note_change(size.value)
            mover.apply(self._groups[size], one.files_and_streams)
        return levels

    async def _epoch_changes(self, meter: EpochMeter, levels: Mapping[Size, Levels]) -> bool:
        """Move on for an epoch; whether levels change after it."""
        measured = await meter.measure()
        if self._retuned is None or measured is None or not measured.is_whole:
            return False
        self._epochs += 1
        rates = {
            size: ClassRate(levels=one, bps=bps, is_alone=len(levels) == 1)
            for size, one in levels.items()
            if (bps := measured.rates_bps.get(size.value)) is not None
        }
        changed = await asyncio.to_thread(self._planner.retune, rates)
        self._changes += len(changed)
        for one in changed:
            self._retuned(self._epochs, one)
        return bool(changed)

    def _left_bytes(self) -> dict[Size, int]:
        """Bytes left of the classes that are not finished, at least 1 each."""
        return {
            size: max(1, group.total_bytes - group.moved_bytes)
            for size, group in self._groups.items()
            if not group.is_over
        }

    async def _move_alone(self, mover: Engine, files: SizedFiles) -> None:
        group = self._groups[files.size]
        before_bytes, began_s = group.moved_bytes, self._clock()
        levels = self._planner.levels_now({files.size: files.total_bytes or 1})[files.size]
        if self._retuned is None:
            mover.apply(group, levels.files_and_streams)
            await mover.until(lambda: group.is_over)
        else:
            await self._move_together(mover)
        elapsed_s, moved_bytes = self._clock() - began_s, group.moved_bytes - before_bytes
        if moved_bytes and not self._changes:
            bps = moved_bytes * 8 / elapsed_s
            self._keep(
                Alone(files=files, label="transfer", levels=levels, bps=bps, elapsed_s=elapsed_s)
            )
