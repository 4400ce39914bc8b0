"""The loop of a tuned transfer: ask the method, set the engine, measure an epoch, tell the method.

For comparison with the papers the clients can be restarted each epoch. They finish their present
batch, so nothing is moved twice; then all of them are started again.
"""

import asyncio
import math
import statistics
from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

import msgspec

from advisor.domain import events as ev
from advisor.domain.epoch import Comparison
from advisor.domain.measurement import Failure, FailureKind, Measurement, Outcome, is_rejected
from advisor.domain.quantities import format_duration
from advisor.domain.space import Setting, parallelism_of
from advisor.methods.searching import usable_bps
from advisor.methods.tuning import Fixed, Tuner, WithComparison
from advisor.models.epoch_end import epoch_rate
from advisor.runtime.stop import Stopped
from advisor.transfer.engine.epochs import EpochMeasurement, EpochMeter, Single
from advisor.transfer.engine.file_group import FileGroup

_R = TypeVar("_R")

_ALL = "all"


class Engine(Protocol):
    """The part of `Mover` that the loop uses; see there."""

    @property
    def refusal(self) -> str:
        """Why nothing got through at the present setting, "" if something does."""

    def apply(self, group: FileGroup, setting: Setting, fallback: Setting | None = None) -> None:
        """Move the group at this setting from now on."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds. Raises TransferFailed, Stopped."""

    async def drain(self, group: FileGroup) -> None:
        """Start no clients, and wait for the end of those that run. Raises as `until` does."""

    async def meanwhile(self, work: Awaitable[_R]) -> _R:
        """The result of other work. Raises Stopped."""


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """A finished control epoch. `number` counts from 1."""

    number: int
    setting: Setting
    outcome: Outcome


class TuningLoop:
    """Tunes one transfer, also over several runs if the path is lost in between.

    `epoch_s`: length of a control epoch. `decides`: epochs of a search end when their difference
    is decided (`models.epoch_end`), and only those at a setting that is kept last `epoch_s`.
    `restarts`: end all clients before each epoch, as the papers' tuners do. `emit` publishes
    events; `record` takes every finished epoch, without the last one, in which the clients run out
    of work. `clock`: in seconds, which pass in `Engine.until`.
    """

    def __init__(
        self,
        tuner: Tuner,
        epoch_s: float,
        *,
        decides: bool = False,
        restarts: bool = False,
        emit: Callable[..., None],
        record: Callable[[Epoch], None],
        clock: Callable[[], float],
    ) -> None:
        self._tuner = tuner
        self._epoch_s = epoch_s
        self._decides = decides
        self._restarts = restarts
        self._emit = emit
        self._record = record
        self._clock = clock
        self._number = 0
        self._good: Setting | None = None

    @property
    def setting(self) -> Setting:
        """The setting of the present epoch, or of the next one."""
        return self._tuner.setting

    def keep_setting(self) -> None:
        """From now on stay at the present setting."""
        self._tuner = Fixed(self._tuner.setting)

    async def run(self, engine: Engine, group: FileGroup) -> None:
        """Move the group to its end. Raises TransferFailed, Stopped."""
        meter = EpochMeter(
            {_ALL: Single(group)},
            self._epoch_s,
            self._clock,
            engine.until,
            lambda: bool(engine.refusal) or group.runs_out,
        )
        self._good, last = None, self._tuner.setting
        while True:
            setting = self._tuner.setting
            if setting != last:
                meter.note_change(
                    _ALL, streams_stay=parallelism_of(setting) == parallelism_of(last)
                )
            await self._set(engine, group, setting)
            outcome = await self._measure(engine, group, meter)
            if outcome is None:
                break
            epoch, last = self._finish(setting, outcome), setting
            if is_rejected(outcome):
                # The engine is back at this one: its clients are not those of another setting.
                last = self._good or setting
            await self._tell(engine, epoch)
        await engine.until(lambda: group.is_over)

    async def _set(self, engine: Engine, group: FileGroup, setting: Setting) -> None:
        if self._restarts and self._number:
            await engine.drain(group)
        fallback = self._good if self._good != setting else None
        engine.apply(group, setting, fallback)

    async def _measure(self, engine: Engine, group: FileGroup, meter: EpochMeter) -> Outcome | None:
        """The result of the epoch; None if the work runs out in it."""
        began_s = self._clock()
        measured = await meter.measure(self._comparison)
        if message := engine.refusal:
            elapsed_s, arrived_bytes = self._clock() - began_s, group.arrived_bytes
            # The engine is back at a setting that works: the method decides what follows.
            await engine.until(lambda: group.arrived_bytes > arrived_bytes or group.is_over)
            kind = FailureKind.REJECTED_SETTING
            return Failure(kind=kind, message=message, elapsed_s=elapsed_s)
        if measured is None or group.runs_out:
            return None
        if self._decides:
            return _decided_outcome(measured, self._clock() - began_s)
        return _outcome(measured, self._epoch_s)

    @property
    def _comparison(self) -> Comparison | None:
        """What the epoch is to show; None where its length is fixed."""
        tuner = self._tuner
        return tuner.comparison if self._decides and isinstance(tuner, WithComparison) else None

    def _finish(self, setting: Setting, outcome: Outcome) -> Epoch:
        """Emit and record a finished epoch."""
        self._number += 1
        epoch = Epoch(number=self._number, setting=setting, outcome=outcome)
        if isinstance(outcome, Measurement):
            self._good = setting
        self._emit(
            ev.EpochEnded,
            epoch=epoch.number,
            setting=setting,
            throughput_bps=usable_bps(outcome),
            stderr_bps=outcome.stderr_bps if isinstance(outcome, Measurement) else 0.0,
            failure=outcome.message if isinstance(outcome, Failure) else "",
        )
        self._record(epoch)
        return epoch

    async def _tell(self, engine: Engine, epoch: Epoch) -> None:
        """Let the method choose the next setting."""
        reason = await self._reason(engine, epoch)
        if self._tuner.setting != epoch.setting:
            self._emit(
                ev.SettingChanged,
                epoch=epoch.number,
                old=epoch.setting,
                new=self._tuner.setting,
                throughput_bps=usable_bps(epoch.outcome),
                reason=reason,
            )

    async def _reason(self, engine: Engine, epoch: Epoch) -> str:
        """Tell the method; returns the reason for its choice."""
        try:
            # In a thread: fitting surfaces takes a second, and clients must start meanwhile.
            return await engine.meanwhile(asyncio.to_thread(self._tuner.tell, epoch.outcome))
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - a mistake in a method must not end a transfer.
            self._tuner = Fixed(self._good or epoch.setting)
            self._emit(
                ev.Notice,
                message=f"The method failed ({type(error).__name__}: {error}): the transfer "
                "continues at the last setting that worked.",
            )
            return "the method failed"


def _decided_outcome(measured: EpochMeasurement, elapsed_s: float) -> Outcome:
    """The rate without its start-up, with the error that the decision was made by."""
    rate = epoch_rate(measured.intervals) if measured.intervals else None
    if rate is None or rate.bps <= 0:
        return _outcome(measured, elapsed_s)
    return Measurement(
        throughput_bps=rate.bps,
        stderr_bps=rate.stderr_bps,
        intervals=measured.intervals,
        steady_from=rate.first,
        settled=True,
        elapsed_s=elapsed_s,
    )


def _outcome(measured: EpochMeasurement, epoch_s: float) -> Outcome:
    """The rate over the whole counted part: bytes that are moved again do not count twice."""
    gained_bytes = sum(measured.carried_bytes.values())
    if gained_bytes <= 0:
        return Failure(
            kind=FailureKind.TIMED_OUT,
            message=f"nothing arrived in a control epoch of {format_duration(epoch_s)}",
            elapsed_s=epoch_s,
        )
    rates_bps = [one.throughput_bps for one in measured.intervals]
    spread_bps = statistics.stdev(rates_bps) if len(rates_bps) > 1 else 0.0
    return Measurement(
        throughput_bps=gained_bytes * 8 / measured.intervals[-1].end_s,
        stderr_bps=spread_bps / math.sqrt(len(rates_bps)),
        intervals=measured.intervals,
        steady_from=0,
        settled=True,
        elapsed_s=epoch_s,
    )
