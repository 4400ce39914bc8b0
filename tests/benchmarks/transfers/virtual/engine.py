"""The engine of a tuned transfer on a clock of its own: clients of a few seconds over a link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from advisor.domain.space import Setting
from advisor.methods.tuning import Fixed, Tuner
from advisor.models.piecework import Batch
from advisor.models.slicing import FileEntry
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.engine.setting_control import SettingControl
from advisor.transfer.tuned.loop import Epoch, TuningLoop
from tests.benchmarks.transfers.virtual.links import Link, Noise
from tests.virtual_clock import VirtualClock

STEP_S: Final = 0.1
PIECE_S: Final = 4.0
_JITTER: Final = 0.2


class Endless(FileGroup):
    """One file that is larger than can be moved."""

    def __init__(self) -> None:
        super().__init__("all", [FileEntry("endless", 10**18, 0)])
        self.moved = 0.0

    @property
    def carried_bytes(self) -> int:
        return int(self.moved)


class _Running(NamedTuple):
    """A client of `streams` that has a core to begin with at `at_s`, and ends at `end_s`."""

    streams: int
    at_s: float
    end_s: float


class VirtualEngine(VirtualClock):
    """Moves the group over the link until `lasts_s`. `piece_s`: how long a client runs.

    The successor of a client starts so early that it moves data when that one ends.
    """

    def __init__(
        self, link: Link, rng: np.random.Generator, lasts_s: float, piece_s: float = PIECE_S
    ) -> None:
        super().__init__()
        self.group = Endless()
        self._link = link
        self._rng = rng
        self._lasts_s = lasts_s
        self._piece_s = piece_s
        self._noise = Noise(link, STEP_S, rng)
        self._control = SettingControl()
        self._running: dict[Client, _Running] = {}

    @property
    def refusal(self) -> str:
        return self._control.refusal

    def apply(self, group: FileGroup, setting: Setting, fallback: Setting | None = None) -> None:
        self._control.apply(group, setting, fallback)

    @property
    def flows(self) -> float:
        """The weight of its flows on the link."""
        return self._link.weight(self._clients)

    @property
    def _clients(self) -> list[tuple[int, float]]:
        return [(one.streams, self.now_s - one.at_s) for one in self._running.values()]

    def step(self, rivals: float = 0.0) -> None:
        """`rivals`: the flows of another tuned transfer on the link."""
        self._renew()
        bps = self._link.mean_bps(self._clients, rivals) * self._noise.next()
        self.group.moved += min(bps, self._link.rate_bps) * STEP_S / 8
        self.now_s += STEP_S
        if self.now_s >= self._lasts_s:
            self.group.clients.clear()
            self.group.work.drop(self.group.files[0])

    def _renew(self) -> None:
        for client, one in list(self._running.items()):
            if self.now_s >= one.end_s:
                client.has_ended = True
                self.group.clients.discard(client)
                del self._running[client]
        soon_s = self.now_s + self._link.set_up_s
        at_work = sum(one.end_s > soon_s for one in self._running.values())
        new = self.group.concurrency - at_work
        starting = sum(
            self.now_s < one.at_s + self._link.set_up_s for one in self._running.values()
        )
        for _ in range(new):
            client = Client(Batch(()), 1.0, 15.0, lambda _: None)
            lasts_s = self._piece_s * float(self._rng.uniform(1 - _JITTER, 1 + _JITTER))
            self.group.clients.add(client)
            at_s = self.now_s + self._link.start_s * (new + starting - 1)
            end_s = at_s + self._link.set_up_s + lasts_s
            self._running[client] = _Running(self.group.parallelism, at_s, end_s)


def moved_bytes(
    tuner: Tuner | Setting,
    link: Link,
    seed: int,
    seconds: float = 60.0,
    *,
    epoch_s: float | None = None,
    piece_s: float = PIECE_S,
    record: Callable[[Epoch], None] = lambda _: None,
) -> float:
    """What arrives in this many seconds. `epoch_s`: fixed epochs; None ends them when decided."""
    engine = VirtualEngine(link, np.random.default_rng(seed), seconds, piece_s)
    loop = TuningLoop(
        Fixed(tuner) if isinstance(tuner, dict) else tuner,
        epoch_s or 30.0,
        decides=epoch_s is None,
        emit=lambda _kind, **_fields: None,
        record=record,
        clock=engine.clock,
    )
    asyncio.run(loop.run(engine, engine.group))
    return engine.group.moved
