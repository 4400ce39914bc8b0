"""Control epochs: what a stretch of the transfer gave at one setting, and the setting of the next.

The papers end all clients and begin anew each epoch, and so lose 17 to 50 % of what a setting can
give (Balaprakash et al. 2016, section IV.A: "in an ideal scenario, globus-url-copy will allocate a
sufficient number of threads and adapt the value of nc without requiring restart"). Here clients
that run end their piece. Until the last of them has, what arrives is no more than a mixture of the
setting before and the one after: that part of an epoch moves data as any other, but is not counted
in what the tuner is told. It is about as long as a piece, and at most half of the epoch.
"""

import asyncio
import functools
import itertools
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
from advisor.methods.tuning import Tuner
from advisor.session.moving.client import Client
from advisor.session.moving.portion import Portion

_LOOKS: Final = 10
_LEAST_LOOK_S: Final = 1.0
_LEFT_OUT_AT_MOST: Final = 0.5

Clients = frozenset[Client]


class Waiting(Protocol):
    """What of a `Mover` is needed."""

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until it holds. Raises MovingFailed."""


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """One that is over. `number` counts from 1."""

    number: int
    setting: Setting
    outcome: Outcome


class Epochs:
    """Those of one portion, from its start to its end.

    `tell` makes an event, as the session does; `keep` takes every epoch that is over. The last one,
    in which the clients run out of work, is none.
    """

    def __init__(
        self,
        tuner: Tuner,
        portion: Portion,
        epoch_s: float,
        *,
        tell: Callable[..., None],
        keep: Callable[[Epoch], None],
        clock: Callable[[], float],
    ) -> None:
        """`clock`: seconds, that `Waiting.until` lets pass."""
        self._tuner = tuner
        self._portion = portion
        self._epoch_s = epoch_s
        self._tell = tell
        self._keep = keep
        self._clock = clock

    async def run(self, mover: Waiting) -> None:
        """Until the portion is over. Raises MovingFailed."""
        _set(self._portion, self._tuner.setting)
        before: Clients = frozenset()
        for number in itertools.count(1):
            outcome = await self._outcome(mover, before)
            if outcome is None:
                break
            epoch = Epoch(number=number, setting=self._tuner.setting, outcome=outcome)
            self._keep(epoch)
            before = await self._turn(epoch)
        await mover.until(lambda: self._portion.is_over)

    async def _outcome(self, mover: Waiting, before: Clients) -> Outcome | None:
        """What the next epoch gave; None where the work runs out in it.

        `before`: the clients at work when the setting was changed.
        """
        began_s, began_bytes = self._clock(), self._portion.moved_bytes

        def is_in_effect() -> bool:
            is_old = not before.isdisjoint(self._portion.clients)
            return not is_old and self._portion.moved_bytes > began_bytes

        await self._until(mover, began_s + self._epoch_s * _LEFT_OUT_AT_MOST, is_in_effect)
        counted_s, counted_bytes = self._clock(), self._portion.moved_bytes
        end_s = max(began_s + self._epoch_s, counted_s + self._epoch_s * (1 - _LEFT_OUT_AT_MOST))
        intervals: list[Interval] = []
        look_s = max(_LEAST_LOOK_S, self._epoch_s / _LOOKS)
        while not self._runs_out and (at_s := self._clock()) < end_s:
            at_bytes = self._portion.moved_bytes
            await self._until(mover, min(at_s + look_s, end_s))
            gained_bytes = max(0, self._portion.moved_bytes - at_bytes)
            intervals.append(Interval(at_s - counted_s, self._clock() - counted_s, gained_bytes))
        if self._runs_out:
            return None
        return _outcome(intervals, self._portion.moved_bytes - counted_bytes, self._epoch_s)

    async def _until(
        self, mover: Waiting, end_s: float, condition: Callable[[], bool] = lambda: False
    ) -> None:
        await mover.until(functools.partial(self._is_past, end_s, condition))

    def _is_past(self, end_s: float, condition: Callable[[], bool]) -> bool:
        return self._clock() >= end_s or self._runs_out or condition()

    @property
    def _runs_out(self) -> bool:
        """Whether all that is left is under way: there are ever fewer clients from now on."""
        under_way = sum(client.batch.total_bytes for client in self._portion.clients)
        return self._portion.is_over or self._portion.work.left_bytes <= under_way

    async def _turn(self, epoch: Epoch) -> Clients:
        """Let the tuner decide; those at work at the setting before, where there is another now."""
        # In a thread: a tuner that fits surfaces takes a second, and the clients are to be filled.
        reason = await asyncio.to_thread(self._tuner.tell, epoch.outcome)
        setting = self._tuner.setting
        if setting == epoch.setting:
            return frozenset()
        before = frozenset(self._portion.clients)
        _set(self._portion, setting)
        self._tell(
            ev.SettingChanged,
            epoch=epoch.number,
            old=epoch.setting,
            new=setting,
            throughput_bps=usable_bps(epoch.outcome),
            reason=reason,
        )
        return before


def _set(portion: Portion, setting: Setting) -> None:
    portion.parallelism = int(setting.get("parallelism", 1))
    portion.concurrency = int(setting.get("concurrency", 1))


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
