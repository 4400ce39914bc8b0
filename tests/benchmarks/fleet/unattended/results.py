"""What became of a run, one per line in a file."""

from pathlib import Path

import msgspec

from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.wan.results import Machine


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What the records say after a run.

    `attempts`: how many ended so. `acknowledged`: records that a worker took for safe, `spooled` of
    them on its own host; `lost` of them are not in the history; `waiting` are still in the spool.
    `probes_at_once`, `attempts_at_once`: pairs of probes, or of measurements, that were at one host
    at the same time. `named`: of each pair that was never measured, its reason.
    """

    attempts: dict[str, int]
    failures: dict[str, int]
    acknowledged: int
    spooled: int
    lost: int
    waiting: int
    probes: int
    probes_at_once: int
    attempts_at_once: int
    pairs: int
    covered: int
    named: dict[str, str]


class UnattendedRun(msgspec.Struct, frozen=True, kw_only=True, tag="unattended"):
    """One run. `duration_s`: from the first worker to the order to end. `load_1min`: the mean."""

    when: str
    commit: str
    seed: int
    hosts: int
    workers: int
    duration_s: float
    load_1min: float
    troubles: dict[str, int]
    found: Found

    @property
    def passed(self) -> bool:
        """Nothing lost, nothing at once, and of each pair something known."""
        found = self.found
        wrong = found.lost + found.waiting + found.probes_at_once + found.attempts_at_once
        known = found.covered + sum(bool(reason) for reason in found.named.values())
        return not wrong and known == found.pairs


class Results(KeptLines[Machine | UnattendedRun]):
    """The file's lines."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Machine | UnattendedRun)
