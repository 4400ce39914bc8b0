"""Results, one per line in a file, so that an interrupted run can be resumed."""

from __future__ import annotations

from pathlib import Path

import msgspec

from advisor.domain.advice import Composition, Estimate
from advisor.domain.space import Setting, setting_key
from tests.benchmarks.kept_lines import KeptLines
from tests.benchmarks.wan.results import Late, Machine, Timed


class Session(msgspec.Struct, frozen=True, kw_only=True, tag="session"):
    """One session. Without advice `setting` is None and `ended` says why.

    `notices`: its other messages. `shell`: the advised line. `by_cell`: that of every cell of its
    space, which what was advised may not be one of. `searching`: the probes of its search, of all
    `probes`. `failed`: those without a throughput; `failures`: why, each reason once.
    """

    case: str
    method: str
    seed: int
    setting: Setting | None
    shell: str = ""
    expected_bps: float = 0.0
    interval_bps: tuple[float, float] = (0.0, 0.0)
    transfer_s: Estimate | None = None
    gain: Estimate | None = None
    further_gains: dict[str, Estimate] = {}
    composition: Composition | None = None
    by_cell: list[tuple[Setting, str]] = []
    searching: int = 0
    probes: int = 0
    failed: int = 0
    seconds: float
    ended: str
    notices: list[str] = []
    failures: list[str] = []


class Ran(msgspec.Struct, frozen=True, kw_only=True, tag="ran"):
    """One line run in a shell: of the session of `method`, or one of the tool's defaults.

    `trouble`: why it does not count: it failed, was ended, or the files differ; "" otherwise.
    """

    case: str
    method: str
    number: int
    seconds: float
    trouble: str = ""


class Swept(msgspec.Struct, frozen=True, kw_only=True, tag="swept"):
    """One cell of the sweep, once. `trouble` as of a line; what was cut takes over `seconds`."""

    case: str
    repeat: int
    setting: Setting
    seconds: float
    trouble: str = ""


Line = Machine | Session | Ran | Swept | Timed | Late


def cell_key(setting: Setting) -> str:
    """The setting as a word."""
    return ",".join(f"{name}={value}" for name, value in setting_key(setting))


class Results(KeptLines[Line]):
    """The results of this bench."""

    def __init__(self, file: Path) -> None:
        super().__init__(file, Line)

    def session(self, case: str, method: str) -> Session | None:
        """The result of that method's session."""
        return next((s for s in self.all(Session, case) if s.method == method), None)

    def ran(self, case: str, method: str) -> list[Ran]:
        """The runs of that line."""
        return [run for run in self.all(Ran, case) if run.method == method]
