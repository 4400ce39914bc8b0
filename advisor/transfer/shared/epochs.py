"""Epochs common to all destinations of a source: the rate of each at these concurrencies."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from advisor.domain.shares import Concurrencies
from advisor.models.shares.precision import largest_error, relative_error
from advisor.transfer.engine.epochs import (
    Destination,
    EpochMeasurement,
    EpochMeter,
    IsEnough,
    WaitUntil,
)

EPOCH_S: Final = 90.0
"""How long the transfers of Kettimuthu et al. (2014) ran, in seconds (section III). Shorter epochs
say less of each destination's rate: its repeats differ more."""

_LOOK_EVERY_S: Final = 0.1

_SETTLING_ROUND_TRIPS: Final = 100
"""The lead of a new flow after slow start lasts that long: on five paths of 118 to 132 ms, with two
streams of reno for each of some twenty files, a flow had 9.9 Mbit/s in its first 5 s, 3.8 in the
next 5, 2.9 in the next, 2.6 in the next, and 2.4 from then on."""


class SharedDestination(Destination, Protocol):
    """A destination whose concurrency and streams per file can be set."""

    concurrency: int
    parallelism: int


class SharedEpoch(EpochMeasurement, frozen=True, kw_only=True):
    """An epoch. `concurrencies`, `streams`, those of each file: of the destinations served."""

    concurrencies: Concurrencies
    streams: dict[str, int]

    @property
    def errors(self) -> dict[str, float]:
        """Relative standard error of each rate; infinite where too little was seen."""
        return {name: relative_error(rates) for name, rates in self.parts_bps.items()}


class SharedEpochs:
    """The epochs of these destinations, of `epoch_s` seconds each.

    `rtt_s`: the longest of their RTTs. After a change 100 of them are not counted, at most half of
    the epoch with what passes until the change has taken effect: what begins displaces the others.
    `precision`: a relative standard error; an epoch ends early once every rate is known so well.
    """

    def __init__(
        self,
        destinations: Mapping[str, SharedDestination],
        epoch_s: float,
        rtt_s: float = 0.0,
        *,
        precision: float | None = None,
        clock: Callable[[], float] | None = None,
        wait_until: WaitUntil | None = None,
    ) -> None:
        self._destinations = destinations
        self._is_enough: IsEnough | None = None
        if precision is not None:
            self._is_enough = lambda rates_bps: largest_error(rates_bps.values()) <= precision
        self._meter = EpochMeter(
            destinations,
            epoch_s,
            clock or asyncio.get_running_loop().time,
            wait_until or _wait_until,
            waits_for_all=True,
            settle_s=_SETTLING_ROUND_TRIPS * rtt_s,
        )

    def set(
        self, concurrencies: Mapping[str, int], streams: Mapping[str, int] | None = None
    ) -> None:
        """Use these concurrencies, and streams per file if given, from now on."""
        for name, concurrency in concurrencies.items():
            one = self._destinations[name]
            parallelism = one.parallelism if streams is None else streams[name]
            if (one.concurrency, one.parallelism) != (concurrency, parallelism):
                self._meter.note_change(name, streams_stay=parallelism == one.parallelism)
                one.concurrency, one.parallelism = concurrency, parallelism

    async def next(self) -> SharedEpoch | None:
        """Measure one epoch; None if no destination is served any more."""
        measured = await self._meter.measure(is_enough=self._is_enough)
        if measured is None:
            return None
        names = measured.carried_bytes
        return SharedEpoch(
            concurrencies={name: self._destinations[name].concurrency for name in names},
            streams={name: self._destinations[name].parallelism for name in names},
            carried_bytes=names,
            counted_s=measured.counted_s,
            intervals=measured.intervals,
            parts_bps=measured.parts_bps,
            is_whole=measured.is_whole,
        )


async def _wait_until(condition: Callable[[], bool]) -> None:
    while not condition():
        await asyncio.sleep(_LOOK_EVERY_S)
