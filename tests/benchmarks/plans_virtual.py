"""Mixed files under constant and changing loads, in virtual time: plans and tuned classes.

    python -m tests.benchmarks.plans_virtual               minutes
    python -m tests.benchmarks.plans_virtual --document    the tables, into the page

A model of a shared path takes the place of the network; planner, scheduler, samples, control epochs
and online tuning are the program's own, on a clock that only counts. Each run draws its own history
and its own noise. Nothing here is a measurement: `plans.py` measures.
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, Final, NamedTuple

import numpy as np

from advisor.domain.dataset import Dataset
from advisor.domain.space import Setting, concurrency_of, parallelism_of
from advisor.domain.transfers import Conditions, Levels, PastTransfer
from advisor.methods.tuning import TunerBounds
from advisor.models.file_classes import Size
from advisor.models.harp.optimum import PAPERS_RELAXATION, RELAXATION
from advisor.models.piecework import Batch
from advisor.models.planning import LevelLimits, Rule
from advisor.models.slicing import FileEntry
from advisor.testing.samples import a_path
from advisor.transfer.engine.client import Client
from advisor.transfer.engine.file_group import FileGroup
from advisor.transfer.planned.planner import Planner
from advisor.transfer.planned.running import PlanRun
from advisor.transfer.tuned.loop import TuningLoop
from advisor.transfer.tuned.tuners import TunerWanted, tuner_of
from tests.benchmarks.markdown import table_text
from tests.benchmarks.medians import median_interval
from tests.benchmarks.plans.document import write_part
from tests.benchmarks.wan.hosts import ROOT
from tests.virtual_clock import VirtualClock

CAPACITY_BPS, RTT_S = 500e6, 0.0456
LOADS: Final = {"light": 0, "medium": 16, "heavy": 80}
"""Competing flows."""
CHANGES: Final = {
    "light, heavy, light": ((0.0, "light"), (200.0, "heavy"), (800.0, "light")),
    "light to heavy": ((0.0, "light"), (200.0, "heavy")),
    "heavy to light": ((0.0, "heavy"), (400.0, "light")),
}
"""From when on, in seconds, which load."""
FLOW_BPS = 60e6
"""What one flow can carry at most, by its window."""
FILE_S = 0.25
"""Time between two files of a client, in which its flows are idle."""
CROWD = 400
"""The number of flows at which half of the capacity is lost."""
PIECE_S, TURN_S = 5.0, 0.5
NOISE, DRIFT, DRIFT_S = 0.25, 0.08, 30.0
HISTORY_NOISE = 0.1
GRID = tuple(product((1, 2, 4, 8, 16, 32), (1, 2, 4, 8)))
FILES: Final = {
    Size.TINY: (4000, 250_000),
    Size.SMALL: (1200, 1_700_000),
    Size.MEDIUM: (300, 10_000_000),
    Size.LARGE: (16, 250_000_000),
}
PLANS: Final = {
    "HARP": (Rule.HARP, False, False),
    "HARP, online tuning": (Rule.HARP, False, True),
    "HARP, sample": (Rule.HARP, True, False),
    "HARP, sample and online tuning": (Rule.HARP, True, True),
    "ProMC": (Rule.PROMC, False, False),
    "Single Chunk": (Rule.SINGLE_CHUNK, False, False),
    "Globus": (Rule.GLOBUS, False, False),
}
RELAXED: Final = {
    f"{name}, relaxed to {PAPERS_RELAXATION[0]:g}": plan
    for name, plan in PLANS.items()
    if name.startswith("HARP, sample")
}
"""As in the paper, with few flows while the load is light."""
TUNERS: Final = ("pcp", "ann-ot", "bayes")
"""Methods that tune each class by itself, one class after another."""
PAGE = ROOT / "docs/benchmarks-plans.md"

LONG: Final = {"Mixed files": (tuple(Size), 5), "Large files": ((Size.LARGE,), 10)}
"""Datasets that meet changes: classes, and how many times as much they have."""

Timeline = Sequence[tuple[float, str]]


class Serving(NamedTuple):
    """One class that is being moved: the size of its files, clients, mean streams of each."""

    file_bytes: float
    clients: int
    streams: float


@lru_cache(maxsize=100_000)
def rates_bps(served: tuple[Serving, ...], others: int) -> tuple[float, ...]:
    """What each class gets: flows share the path, and are idle between two files."""
    busy = [1.0] * len(served)
    found = [0.0] * len(served)
    for _ in range(30):
        flows = sum(one.clients * one.streams * b for one, b in zip(served, busy, strict=True))
        crowd = max(1.0, flows + others)
        share = CAPACITY_BPS / (1 + (crowd / CROWD) ** 2) / crowd
        for place, one in enumerate(served):
            client_bps = one.streams * min(FLOW_BPS, share)
            data_s = one.file_bytes * 8 / client_bps
            busy[place] = (busy[place] + data_s / (data_s + FILE_S)) / 2
            found[place] = one.clients * client_bps * busy[place]
    return tuple(found)


class VirtualGroup(FileGroup):
    """Files that arrive as the model says."""

    def __init__(self, name: str, files: Sequence[FileEntry]) -> None:
        super().__init__(name, files)
        self.file_bytes = self.total_bytes / max(1, len(files))
        self.arrived = 0

    @property
    def carried_bytes(self) -> int:
        return self.arrived

    @property
    def moved_bytes(self) -> int:
        return self.arrived

    @property
    def arrived_bytes(self) -> int:
        return self.arrived

    @property
    def is_over(self) -> bool:
        return self.arrived >= self.total_bytes

    @property
    def runs_out(self) -> bool:
        return self.is_over


class VirtualMover(VirtualClock):
    """Moves groups by the model, on a clock of its own. Clients end their piece first."""

    refusal = ""

    def __init__(self, groups: Sequence[VirtualGroup], timeline: Timeline, seed: int) -> None:
        super().__init__()
        self.flow_seconds = 0.0
        self._groups = groups
        self._timeline = timeline
        self._rng = np.random.default_rng([seed, 2])
        self._drift = 0.0
        self._clients: dict[VirtualGroup, dict[Client, tuple[float, int]]] = {
            one: {} for one in groups
        }

    def apply(self, group: FileGroup, setting: Setting, fallback: Setting | None = None) -> None:
        group.concurrency = concurrency_of(setting)
        group.parallelism = parallelism_of(setting)

    def step(self) -> None:
        served = [(one, self._serving(one)) for one in self._groups]
        moving = [(group, one) for group, one in served if one]
        load = [load for since_s, load in self._timeline if since_s <= self.now_s][-1]
        rates = rates_bps(tuple(one for _, one in moving), LOADS[load])
        kept = math.exp(-TURN_S / DRIFT_S)
        self._drift = kept * self._drift + math.sqrt(1 - kept**2) * DRIFT * self._rng.normal()
        for (group, one), bps in zip(moving, rates, strict=True):
            noise = math.exp(self._drift + NOISE * self._rng.normal())
            group.arrived = min(group.total_bytes, group.arrived + round(bps * noise * TURN_S / 8))
            self.flow_seconds += one.clients * one.streams * TURN_S
        self.now_s += TURN_S

    def _serving(self, group: VirtualGroup) -> Serving | None:
        clients = self._clients[group]
        for client, (end_s, _) in list(clients.items()):
            if self.now_s >= end_s or group.is_over:
                group.clients.discard(client)
                del clients[client]
        while len(clients) < group.concurrency and not group.is_over:
            client = Client(Batch(()), 1.0, 15.0, lambda _: None)
            group.clients.add(client)
            clients[client] = (self.now_s + PIECE_S, group.parallelism)
        if not clients:
            return None
        streams = sum(one for _, one in clients.values()) / len(clients)
        return Serving(group.file_bytes, len(clients), streams)


class Data(NamedTuple):
    """The classes of a dataset, and how many times the files of FILES it has."""

    sizes: tuple[Size, ...] = tuple(Size)
    times: int = 1

    def files(self, size: Size) -> list[FileEntry]:
        count, each = FILES[size]
        return [FileEntry(f"{size}/{number}", each, 0) for number in range(count * self.times)]


def history(seed: int) -> list[PastTransfer]:
    """Each class alone at every setting of the grid, under every load, a day for each load."""
    rng = np.random.default_rng([seed, 1])
    found = []
    for (day, load), size in product(enumerate(LOADS), Size):
        count, each = FILES[size]
        conditions = Conditions(
            file_bytes=each * 1.1,
            file_count=max(1, count // 8),
            bandwidth_bps=CAPACITY_BPS,
            rtt_s=RTT_S,
            buffer_bytes=2**22,
            network="here->there",
        )
        for number, (cc, p) in enumerate(GRID):
            [bps] = rates_bps((Serving(each * 1.1, cc, p),), LOADS[load])
            found.append(
                PastTransfer(
                    conditions=conditions,
                    levels=Levels(concurrency=cc, parallelism=p),
                    throughput_bps=bps * math.exp(HISTORY_NOISE * rng.normal()),
                    when_s=2 * day * 86400.0 + 30.0 * number,
                )
            )
    return found


class Result(NamedTuple):
    """A whole dataset: rate over all of it, mean flows, and changes of levels."""

    bps: float
    flows: float
    changes: int


def run_plan(name: str, timeline: Timeline, seed: int, data: Data) -> Result:
    """One plan, from its first byte to its last."""
    rule, samples, online = (PLANS | RELAXED)[name]
    relaxation = PAPERS_RELAXATION[0] if name in RELAXED else RELAXATION
    files = [file for size in data.sizes for file in data.files(size)]
    past = history(seed) if rule is Rule.HARP else []
    path = a_path(rtt_s=RTT_S, bandwidth_bps=CAPACITY_BPS)
    limits = LevelLimits(channels=rule.channels)
    planner = Planner(rule, path, files, past, limits, seed, relaxation)
    for one in planner.classes:
        planner.look(one)
    groups = [VirtualGroup(one.size, one.files) for one in planner.classes]
    mover = VirtualMover(groups, timeline, seed)
    changes: list[object] = []

    async def whole() -> None:
        run = PlanRun(
            planner,
            groups,
            lambda _: None,
            retuned=(lambda _, one: changes.append(one)) if online else None,
            clock=mover.clock,
        )
        if samples:
            await run.sample(mover)
        await run.move(mover)

    asyncio.run(whole())
    return _result(groups, mover, len(changes))


def run_tuned(method: str, timeline: Timeline, seed: int, data: Data) -> Result:
    """Each class by itself, tuned by a search method, one class after another."""
    path = a_path(rtt_s=RTT_S, bandwidth_bps=CAPACITY_BPS)
    groups = [VirtualGroup(size, data.files(size)) for size in data.sizes]
    mover = VirtualMover(groups, timeline, seed)
    changes: list[object] = []

    def tell(_: type, **fields: Any) -> None:
        changes.append(fields)

    async def whole() -> None:
        for group in groups:
            dataset = Dataset(total_bytes=group.total_bytes, files=len(group.files))
            bounds = TunerBounds(concurrency=32, parallelism=8, flows=128)
            wanted = TunerWanted(method=method, bounds=bounds, seed=seed)
            tuner = tuner_of(wanted, dataset, path, history(seed))
            loop = TuningLoop(tuner, 10.0, emit=tell, record=lambda _: None, clock=mover.clock)
            await loop.run(mover, group)

    asyncio.run(whole())
    return _result(groups, mover, len(changes))


def _result(groups: Sequence[VirtualGroup], mover: VirtualMover, changes: int) -> Result:
    bps = sum(one.total_bytes for one in groups) * 8 / mover.now_s
    return Result(bps, mover.flow_seconds / mover.now_s, changes)


def compared(
    timelines: Mapping[str, Timeline], names: Sequence[str], runs: int, data: Data
) -> dict[tuple[str, str], list[Result]]:
    """Every method under every timeline, this many times."""
    found = {}
    for (load, timeline), name in product(timelines.items(), names):
        run = run_tuned if name in TUNERS else run_plan
        found[name, load] = [run(name, timeline, seed, data) for seed in range(runs)]
    return found


def compared_text(
    found: Mapping[tuple[str, str], Sequence[Result]], loads: Sequence[str], names: Sequence[str]
) -> str:
    """Medians in Mbit/s with 95 % intervals, flows, and changes."""
    rows = [[name, *(_cell(found[name, load]) for load in loads)] for name in names]
    return table_text(["method", *(f"{load}, Mbit/s (flows; changes)" for load in loads)], rows)


def _cell(results: Sequence[Result]) -> str:
    low, middle, high = median_interval([one.bps / 1e6 for one in results])
    flows = np.median([one.flows for one in results])
    changes = np.median([one.changes for one in results])
    return f"{middle:.0f} [{low:.0f}, {high:.0f}] ({flows:.0f}; {changes:.0f})"


def page_text(runs: int) -> str:
    """The generated part of the page."""
    constant = {load: ((0.0, load),) for load in LOADS}
    every = [*PLANS, *TUNERS]
    mixed = compared(constant, every, runs, Data())
    parts = [
        f"{runs} runs of each, all to the end of the dataset; a history of {len(GRID)} settings of "
        "each class under each load, up to concurrency 32. Medians with 95 % intervals.",
        "**Mixed files, constant load**",
        compared_text(mixed, list(LOADS), every),
        *(changing_text(title, runs) for title in LONG),
    ]
    return "\n\n".join(parts)


def changing_text(title: str, runs: int) -> str:
    """HARP with and without online tuning, on one of the datasets that meet changes."""
    sizes, times = LONG[title]
    names = [name for name in PLANS if name.startswith("HARP")]
    if len(sizes) == 1:
        names += RELAXED
    found = compared(CHANGES, names, runs, Data(sizes, times))
    table = compared_text(found, list(CHANGES), names)
    return f"**{title}, {times} times as many, changing load**\n\n{table}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15, help="of each method and load [15]")
    parser.add_argument("--document", action="store_true", help="write the page's tables")
    options = parser.parse_args()
    text = page_text(options.runs)
    if options.document:
        write_part(PAGE, "virtual", text)
    print(text)


if __name__ == "__main__":
    main()
