"""Epochs that all destinations of a source have in common: what each got at these concurrencies.

A rate says something of a concurrency only where all the others' are known too. So the epochs of
all destinations begin and end together, and what follows a change until the clients of before have
ended their piece is not counted, half of the epoch at most.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import msgspec

from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup

_LOOK_EVERY_S: Final = 0.1
_LEFT_OUT_AT_MOST: Final = 0.5

Concurrencies = dict[str, int]


class Served(Protocol):
    """What of a `DestinationSession` is needed."""

    concurrency: int

    @property
    def group(self) -> FileGroup | None:
        """What is on its way to it now."""

    @property
    def is_served(self) -> bool:
        """Whether anything is on its way, or is to be."""

    @property
    def carried_bytes(self) -> int:
        """What the path to it has carried, as `FileGroup` has it."""


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """One that is over. `levels`: of those that were served. `carried_bytes`: in `counted_s`.

    `is_whole`: all of them were served to its end, with clients enough.
    """

    levels: Concurrencies
    carried_bytes: dict[str, int]
    counted_s: float
    is_whole: bool

    @property
    def rates_bps(self) -> dict[str, float]:
        """By destination, in bit/s."""
        return {name: n * 8 / self.counted_s for name, n in self.carried_bytes.items()}


class SharedEpochs:
    """Of these destinations. `epoch_s`: how long one is."""

    def __init__(self, served: Mapping[str, Served], epoch_s: float) -> None:
        self._served = served
        self._epoch_s = epoch_s
        self._clock = asyncio.get_running_loop().time
        self._before: dict[str, frozenset[Client]] = {}

    @property
    def alive(self) -> list[str]:
        """Those that are served now."""
        return [name for name, one in self._served.items() if one.is_served]

    def set(self, levels: Mapping[str, int]) -> None:
        """From now on these concurrencies."""
        for name, level in levels.items():
            one = self._served[name]
            if one.concurrency != level:
                clients = one.group.clients if one.group else ()
                self._before[name] = frozenset(clients)
                one.concurrency = level

    async def next(self) -> Epoch | None:
        """One epoch; None where nobody is served any more."""
        names = self.alive
        if not names:
            return None
        began_s = self._clock()
        await self._until(began_s + self._epoch_s * _LEFT_OUT_AT_MOST, names, self._is_in_effect)
        self._before = {}
        counted_s = self._clock()
        before = self._carried(names)
        end_s = max(began_s + self._epoch_s, counted_s + self._epoch_s * _LEFT_OUT_AT_MOST)
        await self._until(end_s, names)
        after = self._carried(names)
        return Epoch(
            levels={name: self._served[name].concurrency for name in names},
            carried_bytes={name: after[name] - before[name] for name in names},
            counted_s=max(_LOOK_EVERY_S, self._clock() - counted_s),
            is_whole=self._clock() >= end_s and not any(self._runs_out(name) for name in names),
        )

    async def _until(
        self, end_s: float, names: Sequence[str], over: Callable[[], bool] = lambda: False
    ) -> None:
        """To that time, or the moment that one of them is not served any more."""
        while self._clock() < end_s and not over():
            if not all(self._served[name].is_served for name in names):
                return
            await asyncio.sleep(_LOOK_EVERY_S)

    def _is_in_effect(self) -> bool:
        """Whether the clients of before have ended, and those since have got something through."""
        for name, one in self._served.items():
            group = one.group
            if group is None or not one.is_served:
                continue
            if not self._before.get(name, frozenset()).isdisjoint(group.clients):
                return False
            if group.concurrency and not any(c.moved_bytes for c in group.clients):
                return False
        return True

    def _carried(self, names: Sequence[str]) -> dict[str, int]:
        return {name: self._served[name].carried_bytes for name in names}

    def _runs_out(self, name: str) -> bool:
        """Whether all that is left is under way: it has ever fewer clients from now on."""
        group = self._served[name].group
        if group is None or group.is_over:
            return True
        under_way = sum(client.batch.total_bytes for client in group.clients)
        return group.work.left_bytes <= under_way
