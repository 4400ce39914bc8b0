"""Results, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from advisor.domain import events as ev
from advisor.models.file_classes import Size
from tests.benchmarks.kept_lines import KeptLines

_LAST_PART = 1 / 3
_LEAST_EPOCHS = 3


class Moved(msgspec.Struct, frozen=True, kw_only=True, tag="moved"):
    """One transfer of the history: `load`, class and setting, over `seconds`."""

    load: str
    size: Size
    concurrency: int
    parallelism: int
    seconds: float
    when_s: float


class Ran(msgspec.Struct, frozen=True, kw_only=True, tag="ran"):
    """One whole dataset. `levels`: concurrency × parallelism of each class in the last plan, or at
    its end.

    `trouble`: why it does not count; "" when all files arrived unchanged. `sampled_s`: the time
    until the last plan was made. `changes`: of levels while files were moved. `settled`: whether
    the search of each class had ended; empty for a plan.
    """

    load: str
    method: str
    number: int
    seconds: float
    sampled_s: float
    total_bytes: int
    levels: dict[str, tuple[int, int]]
    trouble: str = ""
    changes: int = 0
    settled: dict[str, bool] = {}

    @property
    def bps(self) -> float:
        """All bytes over the whole time."""
        return self.total_bytes * 8 / self.seconds


Line = Moved | Ran


class Results(KeptLines[Line]):
    """The results of one series."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)

    @property
    def moved(self) -> list[Moved]:
        return self.all(Moved)

    @property
    def ran(self) -> list[Ran]:
        return self.all(Ran)

    def runs(self, load: str, method: str) -> list[Ran]:
        """Those that count."""
        found = (one for one in self.ran if (one.load, one.method) == (load, method))
        return [one for one in found if not one.trouble]

    def has(self, load: str, method: str, number: int) -> bool:
        """Whether a run is there; one that failed is made again."""
        return any(one.number == number for one in self.runs(load, method))

    def records(self, load: str) -> int:
        """History records of a load, of all classes."""
        return sum(one.load == load for one in self.moved)


def has_settled(epochs: Sequence[ev.EpochEnded]) -> bool:
    """Whether the last third of a transfer's control epochs, three at least, had one setting."""
    last = epochs[-max(_LEAST_EPOCHS, round(len(epochs) * _LAST_PART)) :]
    return len(last) >= _LEAST_EPOCHS and all(one.setting == last[0].setting for one in last)
