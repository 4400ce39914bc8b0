"""What is measured, a line each in a file, so that a run can be interrupted and goes on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from advisor.domain.shares import Served, ServedRow, ShareRow
from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.shares.cases import Task
from tests.benchmarks.wan.results import Late, Machine


class Epoch(msgspec.Struct, frozen=True, kw_only=True):
    """What each got in an epoch that ended at `when_s`, Unix time."""

    when_s: float
    rows: list[ServedRow]


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One command, stopped after so many epochs. Part, case, number and epochs: as of a task.

    Of those that share, `planned`: what was planned at its start, and `most`: files at a time to
    one destination. `trouble`: why it does not count; "" when all is well.
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

    def is_of(self, task: Task) -> bool:
        """Whether the task is done with it."""
        mine = (self.part, self.case, self.number, self.epoch_s, self.epochs)
        wanted = (task.part, task.case, task.number, task.epoch_s, task.epochs)
        return mine == wanted and not self.trouble


class Loaded(msgspec.Struct, frozen=True, kw_only=True, tag="loaded"):
    """From `when_s`, Unix time, so many streams of others."""

    when_s: float
    transfers: int


Line = Machine | Run | Loaded | Late


class Results(KeptLines[Line]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)

    def has(self, task: Task) -> bool:
        return any(run.is_of(task) for run in self.all(Run))

    def runs(self, part: str, case: str | None = None) -> list[Run]:
        """Those that count."""
        return [run for run in self.all(Run, case) if run.part == part and not run.trouble]


def samples_in(epoch: Epoch) -> dict[str, Served]:
    """What each destination got in it, of those that got something."""
    total = sum(row.concurrency for row in epoch.rows)
    return {
        row.destination: Served(
            concurrency=row.concurrency,
            source_concurrency=total,
            throughput_bps=row.measured_bps,
            when_s=epoch.when_s,
        )
        for row in epoch.rows
        if row.measured_bps > 0
    }


def samples_of(runs: Iterable[Run]) -> dict[str, list[Served]]:
    """By destination what it got in which epoch, in the order of time."""
    found: dict[str, list[Served]] = {}
    for epoch in sorted((one for run in runs for one in run.seen), key=lambda one: one.when_s):
        for name, served in samples_in(epoch).items():
            found.setdefault(name, []).append(served)
    return found
