"""The paths and the datasets, and the estimated durations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Final

from advisor.advising.budget import default_budget_s
from tests.benchmarks.disk.tools import GLOBUS_URL_COPY, BenchTool

BEFORE: Final = "before"
"""The session of another checkout, such as the version before."""

RATE: Final = "500Mbit"
"""The rate that two cores can emulate in addition to a GridFTP server and its client."""

KB, MB = 10**3, 10**6


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one size."""

    count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Case:
    """One dataset on one path.

    `good_s`, `default_s`: approximate time of a whole transfer at a good setting, and with the
    default line. `default_every`: the number of runs of the advised line per run of the default.
    `path`: further options of the lab. `congestion`: that of both hosts, "" for their kernel's.
    """

    key: str
    title: str
    rtt_s: float
    groups: tuple[Group, ...]
    good_s: float
    default_s: float
    default_every: int
    tool: BenchTool = GLOBUS_URL_COPY
    path: tuple[str, ...] = ()
    congestion: str = ""

    @property
    def total_bytes(self) -> int:
        return sum(group.count * group.size_bytes for group in self.groups)

    @property
    def files(self) -> int:
        return sum(group.count for group in self.groups)

    @property
    def is_directory(self) -> bool:
        return self.files > 1

    @property
    def budget_s(self) -> float:
        """The longest time of a session on this path with its default budget."""
        return default_budget_s(self.rtt_s, files=True)


def _cases(
    rtt_ms: float, *datasets: tuple[str, tuple[Group, ...], float, float, int]
) -> tuple[Case, ...]:
    """The cases of one path: name, files, `good_s`, `default_s` and `default_every` of each."""
    titles = {
        "many": "many small files",
        "mixed": "mixed files",
        "normal": "log-normal sizes",
        "one": "one large file",
    }
    return tuple(
        Case(
            key=f"{rtt_ms:g}-{name}",
            title=f"{rtt_ms:g} ms, {titles[name]}",
            rtt_s=rtt_ms / 1000,
            groups=groups,
            good_s=good_s,
            default_s=default_s,
            default_every=default_every,
        )
        for name, groups, good_s, default_s, default_every in datasets
    )


def _log_normal(count: int, median_bytes: int, sigma: float) -> tuple[Group, ...]:
    """Files at the quantiles of a log-normal distribution."""
    normal = NormalDist()
    places = [normal.inv_cdf((number + 0.5) / count) for number in range(count)]
    return tuple(Group(1, round(median_bytes * 2.718281828 ** (sigma * z))) for z in places)


def _mixed(small: int, middle: int, large: int) -> tuple[Group, ...]:
    return Group(small, 100 * KB), Group(middle, 2 * MB), Group(large, 40 * MB)


CASES: Final = (
    *_cases(
        0.4,
        ("many", (Group(1500, 100 * KB),), 3.5, 6, 2),
        ("mixed", _mixed(200, 40, 4), 5, 5.5, 2),
        ("one", (Group(1, 300 * MB),), 5.3, 5.3, 2),
    ),
    # Where the default is many times slower, few runs of it show that.
    *_cases(
        45.6,
        ("many", (Group(400, 100 * KB),), 4.7, 33, 5),
        ("mixed", _mixed(100, 30, 3), 5, 12, 3),
        ("normal", _log_normal(300, 250 * KB, 1.8), 8, 80, 10),
        ("one", (Group(1, 300 * MB),), 6.2, 6.2, 2),
    ),
    # A probe moves up to 340 MB here: a smaller dataset would be moved whole.
    *_cases(
        183,
        ("many", (Group(100, 100 * KB),), 7, 45, 5),
        ("mixed", _mixed(30, 15, 4), 10, 22, 4),
        ("one", (Group(1, 400 * MB),), 10, 10, 3),
    ),
)

LOSS: Final = "1e-5"
"""The share of packets lost on the paths of the other tools."""


def cases_of(tool: BenchTool) -> tuple[Case, ...]:
    """Mixed files on three paths with losses, with reno; of globus-url-copy all cases."""
    if tool is GLOBUS_URL_COPY:
        return CASES
    lossy = (
        *_cases(0.4, ("mixed", _mixed(200, 40, 4), 6, 8, 3)),
        *_cases(45.6, ("mixed", _mixed(100, 30, 3), 8, 18, 3)),
        *_cases(93.6, ("mixed", _mixed(60, 20, 3), 10, 32, 5)),
    )
    return tuple(
        replace(case, tool=tool, path=("--loss", LOSS), congestion="reno") for case in lossy
    )


TRACES: Final = 2
"""How often a full sweep in the manner of the search measures each cell: its d."""

BEST_OF_SWEEP: Final = 2
"""The number of the sweep's best cells that are measured `REPEATS` times, like the advised one."""

REPEATS: Final = 3

CUT_AT: Final = 1.3
"""A cell of the sweep is ended after this multiple of the advised line's time: it is not the best,
and only a lower bound of its time is recorded."""

_MEAN_CELL: Final = 1.2
"""The mean time of a cell of the sweep, as a multiple of the advised line's."""

_OVERHEAD_S: Final = 0.3
"""The overhead of a transfer: removing the target, comparing the copy."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The amount of work. `runs`: of an advised line. `methods`: search methods, a session each."""

    runs: int
    methods: tuple[str, ...] = ("bayes",)
    sweep: bool = True
    budget_s: float | None = None
    """The budget of a session; None for the default."""

    before: Path | None = None
    """A checkout of another version: its session and line are beside those of this one."""

    @property
    def sessions(self) -> tuple[str, ...]:
        """The methods, and BEFORE where there is such a checkout."""
        return (*self.methods, BEFORE) if self.before else self.methods

    def session_s(self, case: Case) -> float:
        """The longest time of a session."""
        return self.budget_s or case.budget_s

    def default_runs(self, case: Case) -> int:
        return sum(self.is_default_due(case, number) for number in range(self.runs))

    def is_default_due(self, case: Case, number: int) -> bool:
        """Whether the default line follows the advised line's run of this number, from 0."""
        return number % case.default_every == 0


def cells_of(case: Case) -> int:
    """About how many cells the space has: doublings to 64 files at a time, and what is beside them.

    A single file has no pipelining.
    """
    return (
        case.tool.other_cells * min(7, case.files.bit_length()) // (1 if case.is_directory else 2)
    )


def estimate_s(case: Case, plan: Plan) -> float:
    """The estimated duration of a case."""
    good_s, default_s = case.good_s + _OVERHEAD_S, case.default_s + _OVERHEAD_S
    transfers_s = len(plan.sessions) * plan.runs * good_s
    transfers_s += len(case.tool.defaults) * plan.default_runs(case) * default_s
    # The advised setting is usually among the best.
    again = (REPEATS - 1) * BEST_OF_SWEEP
    sweep_s = cells_of(case) * _MEAN_CELL * good_s + again * good_s if plan.sweep else 0.0
    return 3 + len(plan.sessions) * plan.session_s(case) + transfers_s + sweep_s
