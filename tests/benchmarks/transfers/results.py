"""Results, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.transfers.cases import Load, Task
from tests.benchmarks.wan.results import Late, Machine


class Look(msgspec.Struct, frozen=True, array_like=True):
    """The bytes in the destination's file system at a time after the start."""

    at_s: float
    stored_bytes: int


class Flow(msgspec.Struct, frozen=True, array_like=True):
    """Clients at work, each over `parallelism` streams."""

    at_s: float
    clients: int
    parallelism: int


class Change(msgspec.Struct, frozen=True, array_like=True):
    """A change of the setting after the control epoch of that number."""

    at_s: float
    epoch: int
    concurrency: int
    parallelism: int


class Run(msgspec.Struct, frozen=True, kw_only=True, tag="run"):
    """One transfer that was stopped after `seconds`. Part, condition and contestant: as in a task.

    `setting`: the initial one. `moved_bytes`: as reported by the transfer at its end, including
    data in flight. `turned_s`: when the load changed. `host`: of several destinations. `trouble`:
    why it does not count; "" otherwise.
    """

    part: str
    condition: str
    contestant: str
    number: int
    seconds: float
    epoch_s: float
    setting: str = ""
    looks: list[Look] = []
    flows: list[Flow] = []
    changes: list[Change] = []
    moved_bytes: int = 0
    turned_s: float | None = None
    host: str = ""
    trouble: str = ""

    def is_of(self, task: Task, epoch_s: float) -> bool:
        """Whether it completes the task."""
        mine = (self.part, self.condition, self.contestant, self.number, self.seconds)
        wanted = (task.part, task.condition, task.contestant, task.number, task.seconds)
        return mine == wanted and self.epoch_s == epoch_s and not self.trouble


class Swept(msgspec.Struct, frozen=True, kw_only=True, tag="swept"):
    """One setting of a sweep: its rate under that load, by what arrived in `seconds`."""

    load: str
    setting: str
    seconds: float
    bps: float


Line = Machine | Run | Swept | Late


class Results(KeptLines[Line]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)

    def runs(self, part: str, condition: str, contestant: str) -> list[Run]:
        """The runs that count."""
        wanted = (part, condition, contestant)
        return [
            run
            for run in self.all(Run)
            if (run.part, run.condition, run.contestant) == wanted and not run.trouble
        ]

    def has(self, task: Task, epoch_s: float) -> bool:
        return any(run.is_of(task, epoch_s) for run in self.all(Run))

    def swept(self, load: Load, seconds: float) -> dict[str, float]:
        """The rates of the settings under this load, in bit/s, over this many seconds each."""
        found = (one for one in self.all(Swept) if one.seconds == seconds)
        return {one.setting: one.bps for one in found if one.load == load.key}
