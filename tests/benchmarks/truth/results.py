"""Results, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.wan.results import Late, Machine, Setting


class Advised(msgspec.Struct, frozen=True, kw_only=True, tag="advised"):
    """One session on a path. `version`: "this", or that of another checkout. Rates in bit/s.

    `gain`: value, lower and upper end; None without a default. `sent_bytes`: what crossed the path
    meanwhile, also by others. `ended`: why each stage ended.
    """

    case: str
    title: str
    version: str
    transport: str
    setting: Setting | None
    expected_bps: float
    interval_bps: tuple[float, float]
    gain: tuple[float, float, float] | None
    probes: int
    seconds: float
    sent_bytes: int
    ended: list[str]


class Truth(msgspec.Struct, frozen=True, kw_only=True, tag="truth"):
    """What a setting reached when it was run for long. `repeat` counts from 0."""

    case: str
    key: str
    repeat: int
    bps: float


class Done(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """A path is complete. `default`: the key of the default; `swept`: those of the sweep."""

    case: str
    default: str
    swept: list[str]


Line = Machine | Advised | Truth | Done | Late


class Results(KeptLines[Line]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)

    def long_run_bps(self, case: str, key: str, repeat: int) -> float | None:
        """The rate of one long run in bit/s; None if it has not been run."""
        runs = (run for run in self.all(Truth, case) if (run.key, run.repeat) == (key, repeat))
        return next((run.bps for run in runs), None)
