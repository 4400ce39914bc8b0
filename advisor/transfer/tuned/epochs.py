"""Control epochs: what a stretch of the transfer gave at one setting, and the setting of the next.

The papers end all clients and begin anew each epoch, and so lose 17 to 50 % of what a setting can
give (Balaprakash et al. 2016, section IV.A: "in an ideal scenario, globus-url-copy will allocate a
sufficient number of threads and adapt the value of nc without requiring restart"). Here clients
that run end their piece. Until the last of them has, what arrives is no more than a mixture of the
setting before and the one after: that part of an epoch moves data as any other, but is not counted
in what the tuner is told. It is about as long as a piece, and at most half of the epoch.

For comparison the clients can be restarted each epoch as in the papers. They end the piece they
are at, as nothing is to be moved twice; then all begin anew.
"""

import asyncio
import functools
import math
import statistics
from collections.abc import Callable
from typing import Final, Protocol

import msgspec

from advisor.domain import events as ev
from advisor.domain.measurement import Failure, FailureKind, Interval, Measurement, Outcome
from advisor.domain.quantities import format_duration
from advisor.domain.space import Setting
from advisor.methods.searching import usable_bps
from advisor.methods.tuning import Fixed, Tuner
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup

_LOOKS: Final = 10
_LEAST_LOOK_S: Final = 1.0
_LEFT_OUT_AT_MOST: Final = 0.5

Clients = frozenset[Client]


class Working(Protocol):
    """What of a `Mover` is needed."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until it holds. Raises TransferFailed."""

    async def idle(self, group: FileGroup) -> None:
        """Wait until no client is at work on it. Raises TransferFailed."""

    def have_recourse(self, recourse: Callable[[str], bool]) -> None:
        """What is asked before all is given up."""


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """One that is over. `number` counts from 1."""

    number: int
    setting: Setting
    outcome: Outcome


class Epochs:
    """Those of one portion, from its start to its end. `number`: of the one under way.

    `restarts`: end all clients before each, as the paper's tuners do. `tell` makes an event, as the
    session does; `keep` takes every epoch that is over. The last one, in which the clients run out
    of work, is none.
    """

    def __init__(
        self,
        tuner: Tuner,
        group: FileGroup,
        epoch_s: float,
        *,
        restarts: bool = False,
        first: int = 1,
        tell: Callable[..., None],
        keep: Callable[[Epoch], None],
        clock: Callable[[], float],
    ) -> None:
        """`first`: the first one's number. `clock`: seconds, that `Working.until` lets pass."""
        self._tuner = tuner
        self._group = group
        self._epoch_s = epoch_s
        self._restarts = restarts
        self._tell = tell
        self._keep = keep
        self._clock = clock
        self.number = first
        self._good: Setting | None = None
        self._refused = ""

    async def run(self, mover: Working) -> None:
        """Until the portion is over. Raises TransferFailed."""
        mover.have_recourse(self._fall_back)
        _set(self._group, self._tuner.setting)
        before: Clients = frozenset()
        while (outcome := await self._outcome(mover, before)) is not None:
            epoch = Epoch(number=self.number, setting=self._tuner.setting, outcome=outcome)
            self.number += 1
            self._take(epoch)
            before = await self._turn(mover, epoch)
        await mover.until(lambda: self._group.is_over)

    def _fall_back(self, message: str) -> bool:
        """Nothing gets through at this setting: back to one that something did at, if there is."""
        if self._refused or self._good in (None, self._tuner.setting):
            return False
        self._refused = message
        _set(self._group, self._good or {})
        return True

    def _take(self, epoch: Epoch) -> None:
        outcome = epoch.outcome
        if isinstance(outcome, Measurement):
            self._good = epoch.setting
        self._tell(
            ev.EpochEnded,
            epoch=epoch.number,
            setting=epoch.setting,
            throughput_bps=usable_bps(outcome),
            stderr_bps=outcome.stderr_bps if isinstance(outcome, Measurement) else 0.0,
            failure=outcome.message if isinstance(outcome, Failure) else "",
        )
        self._keep(epoch)

    async def _outcome(self, mover: Working, before: Clients) -> Outcome | None:
        """What the next epoch gave; None where the work runs out in it.

        `before`: the clients at work when the setting was changed.
        """
        began_s, began_bytes = self._clock(), self._group.carried_bytes

        def is_in_effect() -> bool:
            is_old = not before.isdisjoint(self._group.clients)
            return not is_old and self._group.carried_bytes > began_bytes

        await self._until(mover, began_s + self._epoch_s * _LEFT_OUT_AT_MOST, is_in_effect)
        counted_s, counted_bytes = self._clock(), self._group.carried_bytes
        end_s = max(began_s + self._epoch_s, counted_s + self._epoch_s * (1 - _LEFT_OUT_AT_MOST))
        intervals: list[Interval] = []
        look_s = max(_LEAST_LOOK_S, self._epoch_s / _LOOKS)
        while not self._is_cut and (at_s := self._clock()) < end_s:
            at_bytes = self._group.carried_bytes
            await self._until(mover, min(at_s + look_s, end_s))
            gained_bytes = self._group.carried_bytes - at_bytes
            intervals.append(Interval(at_s - counted_s, self._clock() - counted_s, gained_bytes))
        if self._refused:
            return await self._refusal(mover, self._clock() - began_s)
        if self._runs_out:
            return None
        return _outcome(intervals, self._group.carried_bytes - counted_bytes, self._epoch_s)

    async def _until(
        self, mover: Working, end_s: float, condition: Callable[[], bool] = lambda: False
    ) -> None:
        await mover.until(functools.partial(self._is_past, end_s, condition))

    def _is_past(self, end_s: float, condition: Callable[[], bool]) -> bool:
        return self._clock() >= end_s or self._is_cut or condition()

    async def _refusal(self, mover: Working, elapsed_s: float) -> Failure:
        """The epoch's, once something has got through again at the setting before."""
        arrived_bytes, message = self._group.arrived_bytes, self._refused
        group = self._group
        await mover.until(lambda: group.arrived_bytes > arrived_bytes or group.is_over)
        self._refused = ""
        return Failure(kind=FailureKind.REJECTED_SETTING, message=message, elapsed_s=elapsed_s)

    @property
    def _is_cut(self) -> bool:
        return bool(self._refused) or self._runs_out

    @property
    def _runs_out(self) -> bool:
        """Whether all that is left is under way: there are ever fewer clients from now on."""
        under_way = sum(client.batch.total_bytes for client in self._group.clients)
        return self._group.is_over or self._group.work.left_bytes <= under_way

    async def _turn(self, mover: Working, epoch: Epoch) -> Clients:
        """Let the tuner decide; those at work at the setting before, where there is another now."""
        reason = await self._decision(epoch)
        setting = self._tuner.setting
        if setting != epoch.setting:
            self._tell(
                ev.SettingChanged,
                epoch=epoch.number,
                old=epoch.setting,
                new=setting,
                throughput_bps=usable_bps(epoch.outcome),
                reason=reason,
            )
        if self._restarts:
            self._group.concurrency = 0
            await mover.idle(self._group)
        before = frozenset(self._group.clients) if setting != epoch.setting else frozenset()
        _set(self._group, setting)
        return before

    async def _decision(self, epoch: Epoch) -> str:
        """Why the tuner goes where it goes from now on."""
        try:
            # In a thread: one that fits surfaces takes a second, and the clients are to be filled.
            return await asyncio.to_thread(self._tuner.tell, epoch.outcome)
        except Exception as error:  # noqa: BLE001 - no mistake of a method may end a transfer.
            self._tuner = Fixed(self._good or epoch.setting)
            self._tell(
                ev.Notice,
                message=f"The method failed ({type(error).__name__}: {error}): the transfer goes "
                "on at the last setting that was good.",
            )
            return "the method failed"


def _set(group: FileGroup, setting: Setting) -> None:
    group.parallelism = int(setting.get("parallelism", 1))
    group.concurrency = int(setting.get("concurrency", 1))


def _outcome(intervals: list[Interval], gained_bytes: int, epoch_s: float) -> Outcome:
    """The rate of all of it: what has to be moved again is not counted twice."""
    if gained_bytes <= 0:
        return Failure(
            kind=FailureKind.TIMED_OUT,
            message=f"nothing arrived in a control epoch of {format_duration(epoch_s)}",
            elapsed_s=epoch_s,
        )
    rates_bps = [one.throughput_bps for one in intervals]
    spread_bps = statistics.stdev(rates_bps) if len(rates_bps) > 1 else 0.0
    return Measurement(
        throughput_bps=gained_bytes * 8 / intervals[-1].end_s,
        stderr_bps=spread_bps / math.sqrt(len(rates_bps)),
        intervals=intervals,
        steady_from=0,
        settled=True,
        elapsed_s=epoch_s,
    )
