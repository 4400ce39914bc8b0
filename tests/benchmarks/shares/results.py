"""Results, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from advisor.domain.shares import Served, ServedRow, ShareRow
from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.shares.cases import Task
from tests.benchmarks.wan.results import Late, Machine


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """The rates in an epoch that ended at `when_s`, Unix time."""

    when_s: float
    rows: list[ServedRow]


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One command, stopped after a number of epochs.

    All up to `epochs`, and `lasts_s`: as in a task.

    For plans, `planned`: the plan at its start, and `most`: files at a time to one destination.
    `trouble`: why it does not count; "" otherwise.
    """

    part: str
    case: str
    number: int
    epoch_s: float
    epochs: int
    seen: list[Epoch] = []
    planned: list[ShareRow] = []
    most: int = 0
    trouble: str = ""
    lasts_s: float = 0.0

    def is_of(self, task: Task) -> bool:
        """Whether it completes the task."""
        mine = (self.part, self.case, self.number, self.epoch_s, self.epochs, self.lasts_s)
        wanted = (task.part, task.case, task.number, task.epoch_s, task.epochs, task.lasts_s)
        return mine == wanted and not self.trouble


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """The number of streams of the external load from `when_s` (Unix time) on.

    For at most `lasts_s` seconds, during this part.
    """

    when_s: float
    transfers: int
    part: str
    lasts_s: float


Line = Machine | Run | Loaded | Late


class Results(KeptLines[Line]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)

    def has(self, task: Task) -> bool:
        return any(run.is_of(task) for run in self.all(Run))

    def runs(self, part: str, case: str | None = None) -> list[Run]:
        """The runs that count."""
        return [run for run in self.all(Run, case) if run.part == part and not run.trouble]


def samples_in(epoch: Epoch) -> dict[str, Served]:
    """The rates of the destinations that received something in it."""
    total = sum(row.concurrency for row in epoch.rows)
    streams = sum(row.concurrency * (row.parallelism or 0) for row in epoch.rows)
    return {
        row.destination: Served(
            concurrency=row.concurrency,
            source_concurrency=total,
            throughput_bps=row.measured_bps,
            parallelism=row.parallelism or 0,
            source_streams=streams,
            when_s=epoch.when_s,
        )
        for row in epoch.rows
        if row.measured_bps > 0
    }


def samples_of(runs: Iterable[Run]) -> dict[str, list[Served]]:
    """The rates by destination and epoch, in the order of time."""
    found: dict[str, list[Served]] = {}
    for epoch in sorted((one for run in runs for one in run.seen), key=lambda one: one.when_s):
        for name, served in samples_in(epoch).items():
            found.setdefault(name, []).append(served)
    return found
