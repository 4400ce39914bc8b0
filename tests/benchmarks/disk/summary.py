"""Summarises the results of a case. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from statistics import median

from advisor.domain.advice import Estimate
from tests.benchmarks.disk.cases import BEFORE, TRACES, Case
from tests.benchmarks.disk.results import Ran, Results, Session, Swept, cell_key
from tests.benchmarks.disk.shell import CUT

ENOUGH = 0.9
"""The share of runs that should be inside the stated interval."""

USEFUL = 3.0
"""An interval is too wide to be useful if its upper end exceeds this multiple of its lower."""


@dataclass(frozen=True, slots=True)
class Sweep:
    """The advised setting compared with the sweep. `best`, `best_s`: its fastest cell.

    `cut`: the number of cells that were ended as too slow. `troubles`: other failures of cells.

    `accuracy`: the advised cell's rate, as a share of the best one's. `overhead`: the probes of the
    search, as a share of those of a full sweep that measures each cell as often as depth-width.
    """

    cells: int
    cut: int
    best: str
    best_s: float
    accuracy: float
    overhead: float
    troubles: list[str]


@dataclass(frozen=True, slots=True)
class Summary:
    """One session with advice, and the outcome of its line."""

    case: Case
    session: Session
    runs: int
    in_interval: int
    advised_s: list[float]
    default_s: dict[str, list[float]]
    troubles: list[str]
    sweep: Sweep | None

    def gain(self, default: str) -> float | None:
        """How many times as long a default takes, by medians; None without runs of either."""
        if not self.advised_s or not self.default_s[default]:
            return None
        return median(self.default_s[default]) / median(self.advised_s)

    def stated_gain(self, default: str) -> Estimate | None:
        """What was stated of that; the version before had another default."""
        if self.session.method == BEFORE:
            return None
        first = next(iter(self.case.tool.defaults))
        further = self.session.further_gains
        return self.session.gain if default == first else further.get(default)

    @property
    def lands(self) -> bool:
        """Whether enough runs ended inside the stated interval; one in trouble does not."""
        return self.runs > 0 and self.in_interval >= ENOUGH * self.runs

    @property
    def width(self) -> float:
        """How many times its lower end the upper end of the stated time is; 0 without one."""
        stated = self.session.transfer_s
        if stated is None:
            return 0.0
        low_s, high_s = stated.interval
        return high_s / low_s if low_s > 0 else inf

    def beats(self, default: str) -> bool:
        """Whether it gains at least the lower end of what was stated, if anything was."""
        stated, gain = self.stated_gain(default), self.gain(default)
        if stated is not None and stated.interval == (1.0, 1.0):
            return True  # The advised line is this default itself.
        return stated is None or (gain is not None and gain >= stated.interval[0])


def summarize(case: Case, results: Results) -> list[Summary]:
    """One for each session that ended with advice."""
    advised = [s for s in results.all(Session, case.key) if s.setting is not None]
    return [_summary(case, session, results) for session in advised]


def _summary(case: Case, session: Session, results: Results) -> Summary:
    runs = results.ran(case.key, session.method)
    by_default = {name: results.ran(case.key, name) for name in case.tool.defaults}
    defaults = [run for ran in by_default.values() for run in ran]
    whole = [run.seconds for run in runs if not run.trouble]
    low_s, high_s = session.transfer_s.interval if session.transfer_s else (0.0, 0.0)
    return Summary(
        case=case,
        session=session,
        runs=len(runs),
        in_interval=sum(low_s <= seconds <= high_s for seconds in whole),
        advised_s=whole,
        default_s={
            name: [run.seconds for run in ran if not run.trouble]
            for name, ran in by_default.items()
        },
        troubles=[_told(run) for run in (*runs, *defaults) if run.trouble],
        sweep=sweep_of(session, results.all(Swept, case.key)),
    )


def _told(run: Ran) -> str:
    return f"{run.method} {run.number + 1}: {run.trouble}"


def sweep_of(session: Session, swept: list[Swept]) -> Sweep | None:
    """None while the sweep is not over."""
    first = {cell_key(one.setting): one for one in swept if one.repeat == 0}
    keys = {cell_key(setting) for setting, _ in session.by_cell}
    own = cell_key(session.setting or {})
    if not keys or not {*keys, own} <= first.keys():
        return None
    seconds: dict[str, list[float]] = {}
    for one in swept:
        if not one.trouble:
            seconds.setdefault(cell_key(one.setting), []).append(one.seconds)
    # Of a single measurement the luckiest would win: the ones measured again are compared.
    again = {cell_key(one.setting) for one in swept if one.repeat}
    medians = {key: median(values) for key, values in seconds.items() if key in again}
    if own not in medians:
        return None
    best = min(medians, key=lambda key: medians[key])
    return Sweep(
        cells=len(keys),
        cut=sum(one.trouble == CUT for one in first.values()),
        best=best,
        best_s=medians[best],
        accuracy=medians[best] / medians[own],
        overhead=session.searching / (TRACES * len(keys)),
        troubles=[
            f"the sweep's {cell_key(one.setting)}: {one.trouble}"
            for one in swept
            if one.trouble not in ("", CUT)
        ],
    )
