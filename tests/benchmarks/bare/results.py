"""Results, one per line in a file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from tests.benchmarks.bare.cases import Case
from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.wan.results import Machine


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One command line in a system. `status`: that it ended with, None where it was ended."""

    account: str
    line: str
    status: int | None
    seconds: float


class Cell(msgspec.Struct, frozen=True, kw_only=True, tag="cell"):
    """One run of a case. `failures`: the tests that failed, else the last lines that it said.

    `commit`: what was tried. `python`: the system's. `tests`: how many, as it says.
    `ping_groups`: the groups that could send ICMP echoes without privileges, as the kernel has it.
    """

    case: str
    when: str
    commit: str
    python: str
    steps: list[Step]
    tests: str
    failures: list[str]
    ping_groups: str = ""

    @property
    def passed(self) -> bool:
        return self.steps[-1].status == 0

    @property
    def seconds(self) -> float:
        """What the command took, once the packages were there or as far as it installs them."""
        return self.steps[-1].seconds


class Results(KeptLines[Machine | Cell]):
    """The file's lines."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Machine | Cell)

    def runs(self, case: Case) -> list[Cell]:
        """All of the newest commit that the case was run with."""
        found = self.all(Cell, case.key)
        return [cell for cell in found if cell.commit == found[-1].commit]
