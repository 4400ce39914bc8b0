"""Two tuned transfers that share a link, on one clock: do they come to equal shares, and when?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from advisor.methods.tuning import Tuner
from advisor.transfer.tuned.loop import TuningLoop
from tests.benchmarks.transfers.virtual.compare import tuner
from tests.benchmarks.transfers.virtual.engine import STEP_S, VirtualEngine
from tests.benchmarks.transfers.virtual.links import Link

JOINS_S: Final = 120.0
"""When the second begins: the first has settled by then."""
LASTS_S: Final = 900.0
FAIR: Final = 0.95
WINDOW_S: Final = 20.0
"""Rates are compared as means over this long."""
STAYS_S: Final = 60.0
"""Shares have converged when they stay fair for this long."""

_EPOCH_S: Final = 30.0

Rates = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Over the last third: `jain`, the index of both rates; `share`, of the link's rate that both
    had together; `flows` of both together. `converged_s`: from the second one's start until the
    index over `WINDOW_S` reaches `FAIR` and stays there for `STAYS_S`; None if it never does.
    """

    jain: float
    converged_s: float | None
    share: float
    flows: float


class _Turns:
    """Moves both engines in lockstep, whenever both wait."""

    def __init__(self, engines: Sequence[_Shared]) -> None:
        self._engines = engines
        self._barrier = asyncio.Barrier(len(engines))
        self.rows: list[tuple[tuple[float, float], ...]] = []
        """By step: the bytes moved so far, and the flows, of each."""

    async def next(self) -> None:
        if await self._barrier.wait() == 0:
            flows = [engine.flows for engine in self._engines]
            for engine, own in zip(self._engines, flows, strict=True):
                engine.step(sum(flows) - own)
            self.rows.append(tuple((one.group.moved, one.flows) for one in self._engines))
        await self._barrier.wait()


class _Shared(VirtualEngine):
    """An engine that waits for the other one."""

    turns: _Turns

    async def until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            await self.turns.next()


def share_link(method: str, price: float | None, link: Link, seed: int) -> Outcome:
    """One begins, the other joins; both tune themselves with the same method and price."""
    return _outcome(asyncio.run(_run(method, price, link, seed)), link)


async def _run(
    method: str, price: float | None, link: Link, seed: int
) -> list[tuple[tuple[float, float], ...]]:
    engines = [_Shared(link, np.random.default_rng([seed, n]), LASTS_S) for n in range(2)]
    turns = _Turns(engines)
    for engine in engines:
        engine.turns = turns
    tuners = [tuner(method, link, seed + n, price=price) for n in range(2)]
    await asyncio.gather(
        _transfer(engines[0], tuners[0], begins_s=0.0),
        _transfer(engines[1], tuners[1], begins_s=JOINS_S),
    )
    return turns.rows


async def _transfer(engine: _Shared, tuner: Tuner, begins_s: float) -> None:
    await engine.until(lambda: engine.now_s >= begins_s)
    loop = TuningLoop(
        tuner,
        _EPOCH_S,
        decides=True,
        emit=lambda _kind, **_fields: None,
        record=lambda _: None,
        clock=engine.clock,
    )
    await loop.run(engine, engine.group)
    # The other one may be waiting for it within the same last step.
    await engine.until(lambda: engine.now_s >= LASTS_S + 1)


def _outcome(rows: Sequence[tuple[tuple[float, float], ...]], link: Link) -> Outcome:
    table = np.asarray(rows)
    moved, flows = table[:, :, 0], table[:, :, 1]
    window = round(WINDOW_S / STEP_S)
    begin = round(JOINS_S / STEP_S)
    rates = (moved[window:] - moved[:-window]) * 8 / WINDOW_S
    fair = jain(rates[begin:]) >= FAIR
    stays = np.lib.stride_tricks.sliding_window_view(fair, round(STAYS_S / STEP_S)).all(axis=1)
    third = len(moved) * 2 // 3
    last = (moved[-1] - moved[third]) * 8 / ((len(moved) - 1 - third) * STEP_S)
    return Outcome(
        jain=float(jain(last[None])[0]),
        converged_s=float(stays.argmax() * STEP_S + WINDOW_S) if stays.any() else None,
        share=float(last.sum() / link.rate_bps),
        flows=float(flows[third:].sum(axis=1).mean()),
    )


def jain(rates: Rates) -> Rates:
    """Jain's index of each row, in (0, 1]; 1 where all are equal."""
    return rates.sum(axis=1) ** 2 / (rates.shape[1] * (rates**2).sum(axis=1))
