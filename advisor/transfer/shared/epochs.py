"""Epochs common to all destinations of a source: the rate of each at these concurrencies."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from advisor.domain.shares import Concurrencies
from advisor.transfer.engine.epochs import Destination, EpochMeasurement, EpochMeter

_LOOK_EVERY_S: Final = 0.1


class SharedDestination(Destination, Protocol):
    """A destination whose concurrency can be set."""

    concurrency: int


class SharedEpoch(EpochMeasurement, frozen=True, kw_only=True):
    """An epoch. `concurrencies`: of the destinations that were served."""

    concurrencies: Concurrencies


class SharedEpochs:
    """The epochs of these destinations, of `epoch_s` seconds each."""

    def __init__(self, destinations: Mapping[str, SharedDestination], epoch_s: float) -> None:
        self._destinations = destinations
        clock = asyncio.get_running_loop().time
        self._meter = EpochMeter(destinations, epoch_s, clock, _wait_until)

    def set(self, concurrencies: Mapping[str, int]) -> None:
        """Use these concurrencies from now on."""
        for name, concurrency in concurrencies.items():
            one = self._destinations[name]
            if one.concurrency != concurrency:
                self._meter.note_change(name)
                one.concurrency = concurrency

    async def next(self) -> SharedEpoch | None:
        """Measure one epoch; None if no destination is served any more."""
        measured = await self._meter.measure()
        if measured is None:
            return None
        names = measured.carried_bytes
        return SharedEpoch(
            concurrencies={name: self._destinations[name].concurrency for name in names},
            carried_bytes=names,
            counted_s=measured.counted_s,
            intervals=measured.intervals,
            is_whole=measured.is_whole,
        )


async def _wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(_LOOK_EVERY_S)
