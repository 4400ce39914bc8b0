"""Control epochs: how much arrived in a stretch of a transfer at one setting.

The papers end all clients and start new ones each epoch, and so lose 17 to 50 % of what a setting
can give (Balaprakash et al. 2016, section IV.A: "in an ideal scenario, globus-url-copy will
allocate a sufficient number of threads and adapt the value of nc without requiring restart"). Here
running clients finish their batch. Until the last of them has, what arrives is a mixture of the old
setting and the new one: that part of an epoch moves data like any other, but is not counted. It
takes about as long as a batch, and at most half of the epoch.

A rate says something about a concurrency only if the concurrencies of all other destinations of the
source are known too. So the epochs of several destinations begin and end together.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, Protocol, TypeAlias

import msgspec

from advisor.domain.epoch import Comparison
from advisor.domain.measurement import Interval
from advisor.models.epoch_end import LOOKS, is_shown
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup

EPOCH_S: Final = 30.0
"""The control epoch of Balaprakash et al. (2016), section IV, in seconds."""

DECIDING_S: Final = 8.0
"""The longest control epoch that ends when its difference is decided, in seconds: one that is not
decided by then differs by less than repeats of a setting do."""

_LOOKS: Final = 10
_DECIDING_LOOKS: Final = LOOKS
_LEAST_LOOK_S: Final = 1.0
_PRECISE_LOOK_S: Final = 2.0
_LEFT_OUT_AT_MOST: Final = 0.5
_LEAST_COUNTED_S: Final = 0.1

IsEnough: TypeAlias = Callable[[Mapping[str, Sequence[float]]], bool]
"""Whether an epoch may end, given the rates of each destination in its intervals so far."""

WaitUntil: TypeAlias = Callable[[Callable[[], bool]], Awaitable[None]]
"""Waits until a condition holds, which is checked several times a second."""


class Destination(Protocol):
    """One destination of the files, as far as an epoch is concerned."""

    @property
    def group(self) -> FileGroup | None:
        """The files on their way to it; None while there are none."""

    @property
    def carried_bytes(self) -> int:
        """What the path to it has carried so far, as in `FileGroup`."""


class Single(msgspec.Struct, frozen=True):
    """The destination of a transfer that has only one."""

    group: FileGroup

    @property
    def carried_bytes(self) -> int:
        """Those of the group."""
        return self.group.carried_bytes


def is_served(destination: Destination) -> bool:
    """Whether files are on their way to it, or are still to be."""
    return destination.group is not None and not destination.group.is_over


class EpochMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """One epoch. `carried_bytes`: by destination, in the `counted_s` seconds that count.

    `intervals`: of all destinations together, their times from the start of the counted part;
    `parts_bps`: the rates of each destination in them.
    `is_whole`: it was not cut short, and all destinations had enough work to its end.
    """

    carried_bytes: dict[str, int]
    counted_s: float
    intervals: list[Interval]
    is_whole: bool
    parts_bps: dict[str, list[float]] = {}

    @property
    def rates_bps(self) -> dict[str, float]:
        """By destination, in bit/s."""
        return {name: n * 8 / self.counted_s for name, n in self.carried_bytes.items()}


class _Parts:
    """The intervals of an epoch so far."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.intervals: list[Interval] = []
        self.rates_bps: dict[str, list[float]] = {name: [] for name in names}

    def add(
        self, from_s: float, to_s: float, before: Mapping[str, int], after: Mapping[str, int]
    ) -> None:
        gained = {name: after[name] - before[name] for name in self.names}
        self.intervals.append(Interval(from_s, to_s, sum(gained.values())))
        if to_s > from_s:
            for name, received_bytes in gained.items():
                self.rates_bps[name].append(received_bytes * 8 / (to_s - from_s))


class EpochMeter:
    """Measures epochs of `epoch_s` seconds over some destinations.

    `clock`: in seconds, which pass while `wait_until` waits. `is_cut`: further reasons to cut an
    epoch short, beside a destination that is not served any more. `waits_for_all`: an epoch
    counts once as many clients as are wanted have moved data, and not once one of them has.
    `settle_s`: what is left out besides after a change and at the start, see `SharedEpochs`.
    """

    def __init__(
        self,
        destinations: Mapping[str, Destination],
        epoch_s: float,
        clock: Callable[[], float],
        wait_until: WaitUntil,
        is_cut: Callable[[], bool] = lambda: False,
        *,
        waits_for_all: bool = False,
        settle_s: float = 0.0,
    ) -> None:
        self._destinations = destinations
        self._epoch_s = epoch_s
        self._clock = clock
        self._wait_until = wait_until
        self._is_cut_from_outside = is_cut
        self._waits_for_all = waits_for_all
        self._settle_s = settle_s
        self._is_settled = False
        self._old_clients: dict[str, frozenset[Client]] = {}

    @property
    def served(self) -> list[str]:
        """The destinations that are served now."""
        return [name for name, one in self._destinations.items() if is_served(one)]

    def note_change(self, name: str, *, streams_stay: bool = False) -> None:
        """The setting of this destination changes now: its present clients have the old one.

        `streams_stay`: only the number of clients changes, so that those that run have the new one.
        """
        group = self._destinations[name].group
        old = () if group is None or streams_stay else group.clients
        self._old_clients[name] = frozenset(old)
        self._is_settled = False

    async def measure(
        self, wanted: Comparison | None = None, is_enough: IsEnough | None = None
    ) -> EpochMeasurement | None:
        """One epoch, from now on; None if no destination is served. Raises what waiting raises.

        It ends when it shows what is `wanted`, and then lasts DECIDING_S at most; or when the rates
        of all destinations are known well enough.
        """
        names = self.served
        if not names:
            return None
        epoch_s = self._epoch_s if wanted is None else min(self._epoch_s, DECIDING_S)
        began_s = self._clock()
        await self._wait_for_effect(names, began_s + epoch_s * _LEFT_OUT_AT_MOST)
        counted_s, before = self._clock(), self._carried(names)
        end_s = max(began_s + epoch_s, counted_s + epoch_s * (1 - _LEFT_OUT_AT_MOST))
        parts = _Parts(names)
        await self._fill(parts, end_s, wanted, is_enough)
        after = self._carried(names)
        return EpochMeasurement(
            carried_bytes={name: after[name] - before[name] for name in names},
            counted_s=max(_LEAST_COUNTED_S, self._clock() - counted_s),
            intervals=parts.intervals,
            parts_bps=parts.rates_bps,
            is_whole=not self._is_cut(names) and not any(self._runs_out(name) for name in names),
        )

    async def _wait_for_effect(self, names: Sequence[str], end_s: float) -> None:
        """Wait until the clients of the old setting have ended, and new ones have moved data."""
        when_replaced: dict[str, int] = {}
        begun: dict[str, set[Client]] = {name: set() for name in names}

        def is_in_effect(name: str) -> bool:
            one = self._destinations[name]
            group = one.group
            if group is None or not is_served(one):
                return True
            if not self._old_clients.get(name, frozenset()).isdisjoint(group.clients):
                return False
            if name in self._old_clients and group.running > group.concurrency:
                return False
            if self._waits_for_all and not group.runs_out:
                begun[name].update(client for client in group.clients if client.moved_bytes)
                return len(begun[name]) >= group.concurrency
            moved = one.carried_bytes > when_replaced.setdefault(name, one.carried_bytes)
            return moved or not group.concurrency or any(c.moved_bytes for c in group.clients)

        await self._wait(names, end_s, lambda: all(is_in_effect(name) for name in names))
        self._old_clients = {}
        if self._settle_s and not self._is_settled:
            await self._wait(names, min(end_s, self._clock() + self._settle_s))
        self._is_settled = True

    async def _fill(
        self, parts: "_Parts", end_s: float, wanted: Comparison | None, is_enough: IsEnough | None
    ) -> None:
        began_s = self._clock()
        look_s = max(_LEAST_LOOK_S, self._epoch_s / _LOOKS)
        if wanted is not None:
            look_s = (end_s - began_s) / _DECIDING_LOOKS
        elif is_enough is not None:
            look_s = min(look_s, _PRECISE_LOOK_S)
        while not self._is_cut(parts.names) and (at_s := self._clock()) < end_s:
            if wanted is not None and is_shown(parts.intervals, wanted):
                break
            if is_enough is not None and is_enough(parts.rates_bps):
                break
            before = self._carried(parts.names)
            await self._wait(parts.names, min(at_s + look_s, end_s))
            parts.add(at_s - began_s, self._clock() - began_s, before, self._carried(parts.names))

    async def _wait(
        self, names: Sequence[str], end_s: float, condition: Callable[[], bool] = lambda: False
    ) -> None:
        await self._wait_until(lambda: self._clock() >= end_s or self._is_cut(names) or condition())

    def _is_cut(self, names: Sequence[str]) -> bool:
        gone = any(not is_served(self._destinations[name]) for name in names)
        return gone or self._is_cut_from_outside()

    def _carried(self, names: Sequence[str]) -> dict[str, int]:
        return {name: self._destinations[name].carried_bytes for name in names}

    def _runs_out(self, name: str) -> bool:
        group = self._destinations[name].group
        return group is None or group.runs_out
