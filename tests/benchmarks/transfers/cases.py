"""The path, the conditions, the contestants, and the estimated durations."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

RTT_S: Final = 0.033
"""Argonne to the Texas Advanced Computing Center (section IV of the paper)."""

RATE_BPS: Final = 400e6
"""The rate that two cores can carry in addition to the emulator, 32 clients and servers."""

CONGESTION: Final = "reno"
"""The paper's hosts have Hamilton TCP, which increases additively and decreases multiplicatively.
Of that kind this is the one that every kernel lets any user take."""

TURN: Final = 1000 / 1800
"""The share of a run after which a load that changes does so (section IV.B)."""

EPOCH_S: Final = 4.0
PRICE: Final = "1%"

NONE, COMPUTE, TRAFFIC, CHANGING = "none", "compute", "traffic", "changing"
COMPUTE_16, TRAFFIC_16 = "compute-16", "traffic-16"
CONDITIONS_PART, RETUNING_PART, PAIR_PART = "conditions", "retuning", "pair"
FIGURE_1_PART: Final = "figure-1"


@dataclass(frozen=True, slots=True)
class Load:
    """The paper's ext.tfr, competing streams, and ext.cmp, matrix products on all cores."""

    transfers: int = 0
    compute: int = 0

    @property
    def key(self) -> str:
        """As in the paper."""
        return f"ext.tfr={self.transfers} ext.cmp={self.compute}"


@dataclass(frozen=True, slots=True)
class Condition:
    """A load; with a second one it goes over to that at `TURN`. `paper`: what was had there."""

    key: str
    loads: tuple[Load, ...]
    paper: str

    @property
    def title(self) -> str:
        return ", then ".join(load.key for load in self.loads)


CONDITIONS: Final = {
    one.key: one
    for one in (
        Condition(
            NONE,
            (Load(),),
            "to Chicago 1.4 × the default with each of the three tuners (figure 5a); to Texas the "
            "same as the default, 1900 MB/s (section IV.A)",
        ),
        Condition(
            COMPUTE_16,
            (Load(compute=16),),
            "to Chicago 7 × the default with compass search and Nelder-Mead (figure 5b)",
        ),
        Condition(
            COMPUTE,
            (Load(compute=64),),
            "to Chicago 10 × the default with compass search and Nelder-Mead, 2 × with coordinate "
            "descent (figure 5c)",
        ),
        Condition(
            TRAFFIC_16,
            (Load(transfers=16),),
            "to Chicago 2 × the default with each of the three tuners (figure 5d)",
        ),
        Condition(
            TRAFFIC,
            (Load(transfers=64),),
            "to Chicago 2 × the default with each of the three tuners (figure 5e)",
        ),
        Condition(
            CHANGING,
            (Load(transfers=64, compute=16), Load(transfers=16, compute=16)),
            "to Texas 1.3 × the default before the change and 10 × after it, with compass search "
            "and Nelder-Mead (figure 8, section IV.B)",
        ),
    )
}
FIGURE_1: Final = {
    one.key: one
    for one in (
        Condition("figure-1a", (Load(),), "64"),
        Condition("figure-1b", (Load(transfers=16, compute=16),), "256 at ext.tfr=64"),
    )
}
"""The loads of figure 1; `paper`: the number of streams with the highest throughput (III.A)."""

FIGURE_1_SETTINGS: Final = ("1x1", "2x1", "4x1", "8x1", "16x1", "32x1", "64x1")

PAPERS_OTHERS: Final = (
    "to Texas, under all loads but none, 1.5 × to 10 × with compass search and Nelder-Mead "
    "(section IV.A)"
)
PAPERS_RESTARTS: Final = {
    NONE: "17 %",
    COMPUTE_16: "33 %",
    COMPUTE: "50 %",
    TRAFFIC_16: "about 15 %",
    TRAFFIC: "about 15 %",
}
"""What restarting each epoch costs the paper's tuners (section IV.A, figures 5 and 7)."""

DEFAULT, BEST, PLAIN, ALTERNATING = "default", "best", "plain", "alternating"
RESTARTING: Final = "-restarting"
NC: Final = "-nc"
"""Concurrency alone is tuned, at eight streams, as in figures 5 to 7."""

DECIDED: Final = "-decided"
"""Epochs end when their difference is decided."""

DEFAULT_SETTING: Final = "2x8"
NC_STREAMS: Final = "8"
EPOCHS: Final = 60
"""Of a run, at least; the paper's have as many."""

RETUNED: Final = ("8x2", "4x4")
"""The settings between which `alternating` alternates."""

TUNERS: Final = ("coordinate-descent", "compass", "nelder-mead")
PAIRED: Final = "nelder-mead"
HEURISTICS: Final = ("heur1", "heur2")
OURS: Final = ("doubling", "bayes")
OTHERS: Final = (*OURS, *HEURISTICS, "harp")
CONTESTANTS: Final = (
    PLAIN,
    DEFAULT,
    BEST,
    *TUNERS,
    *OTHERS,
    *(f"{name}{NC}" for name in TUNERS),
    *(f"{name}{DECIDED}" for name in OURS),
    *(f"{name}{RESTARTING}" for name in (DEFAULT, "compass", "nelder-mead")),
)
USUAL: Final = (
    PLAIN,
    DEFAULT,
    BEST,
    *TUNERS,
    *(f"{name}{NC}" for name in TUNERS),
    *HEURISTICS,
    *OURS,
    *(f"{name}{DECIDED}" for name in OURS),
    f"{DEFAULT}{RESTARTING}",
    f"nelder-mead{RESTARTING}",
)
"""The default contestants."""

SWEPT: Final = ("2x8", "8x1", "8x8", "16x4", "32x1", "32x4")

SWEEP_START: Final = 1 / 3
"""The share of a sweep's run that is left out: under load 32 clients take seconds to begin."""

PAIR: Final = {"chicago": "anl-uchicago", "texas": "anl-tacc"}
"""Two destinations, by their named paths, which share the source's interface (section IV.D)."""

_OVERHEAD_S: Final = 4.0
_STARTING_S: Final = 10.0
"""How much longer programs take to start under 64 matrix products."""


def beside_s(load: Load) -> float:
    """The overhead of a transfer: its start, and removing what arrived."""
    return _OVERHEAD_S + _STARTING_S * load.compute / 64


def option_words(contestant: str, best: str = DEFAULT_SETTING) -> list[str]:
    """The options of `advisor transfer` for this contestant; a setting is a fixed one."""
    name = contestant.removesuffix(RESTARTING).removesuffix(NC).removesuffix(DECIDED)
    setting = {DEFAULT: DEFAULT_SETTING, BEST: best}.get(name, name)
    words = ["--method", setting]
    if setting[0].isdigit():
        words = ["--method", "fixed", "--start", setting]
    words += ["--streams", NC_STREAMS] if contestant.endswith(NC) else []
    return words + (["--restart-epochs"] if contestant.endswith(RESTARTING) else [])


def limit_words() -> list[str]:
    """The options of `advisor transfer` that allow as many files as the paper's tuners choose."""
    return ["--max-concurrency", "64", "--max-flows", "512"]


@dataclass(frozen=True, slots=True)
class Task:
    """One transfer, or two at once if `part` is `PAIR_PART`, for a number of seconds.

    `contestant` of a pair: the options beside its method, `--price`, as a word, or "".
    """

    part: str
    condition: str
    contestant: str
    number: int
    seconds: float

    @property
    def whole_s(self) -> float:
        """Its estimated duration, including start and clean-up."""
        return self.seconds + beside_s(ALL_CONDITIONS[self.condition].loads[0])


@dataclass(frozen=True, slots=True)
class Plan:
    """The amount of work."""

    seconds: float = EPOCHS * EPOCH_S
    epoch_s: float = EPOCH_S
    runs: int = 3
    sweep_s: float = 12.0
    conditions: Sequence[str] = field(default=tuple(CONDITIONS))
    methods: Sequence[str] = USUAL
    parts: Sequence[str] = (CONDITIONS_PART, RETUNING_PART, PAIR_PART, FIGURE_1_PART)

    @property
    def turn_s(self) -> float:
        return self.seconds * TURN

    @property
    def tasks(self) -> list[Task]:
        """All tasks in order; those of one lab are consecutive."""
        made: list[Task] = []
        for part, makes in _PARTS.items():
            if part in self.parts:
                made += makes(self)
        return made

    @property
    def swept_loads(self) -> list[Load]:
        """The loads under which the best fixed setting is searched."""
        if BEST not in self.methods or CONDITIONS_PART not in self.parts:
            return []
        return list(itertools.chain(*(CONDITIONS[key].loads for key in self.conditions)))

    @property
    def estimate_s(self) -> float:
        """The estimated duration of everything."""
        sweeps_s = sum(len(SWEPT) * self.swept_s(load) for load in self.swept_loads)
        return sum(task.whole_s for task in self.tasks) + sweeps_s

    def swept_s(self, load: Load) -> float:
        """The duration of one setting of a sweep, including start and clean-up."""
        return self.sweep_s + beside_s(load)


def _conditions(plan: Plan) -> Iterator[Task]:
    for key, number in itertools.product(plan.conditions, range(plan.runs)):
        for contestant in plan.methods:
            if not _is_left_out(key, contestant):
                short = contestant == f"{DEFAULT}{RESTARTING}"
                seconds = plan.seconds / 2 if short else plan.seconds
                yield Task(CONDITIONS_PART, key, contestant, number, seconds)


def _is_left_out(condition: str, contestant: str) -> bool:
    """As in the paper: "since cd-tuner is less effective under changing external load"."""
    if condition != CHANGING:
        return False
    return contestant.startswith("coordinate-descent") or contestant.endswith((RESTARTING, NC))


def _retuning(plan: Plan) -> Iterator[Task]:
    first, second = RETUNED
    for number in range(plan.runs):
        for contestant in (PLAIN, DEFAULT, first, ALTERNATING, second):
            yield Task(RETUNING_PART, NONE, contestant, number, plan.seconds / 2)


def _pair(plan: Plan) -> Iterator[Task]:
    for number in range(plan.runs):
        for price in ("", PRICE):
            yield Task(PAIR_PART, NONE, price, number, plan.seconds)


def _figure_1(plan: Plan) -> Iterator[Task]:
    for key in FIGURE_1:
        for number, setting in itertools.product(range(plan.runs), FIGURE_1_SETTINGS):
            yield Task(FIGURE_1_PART, key, setting, number, plan.sweep_s)


ALL_CONDITIONS: Final = CONDITIONS | FIGURE_1

_PARTS: Final = {
    CONDITIONS_PART: _conditions,
    RETUNING_PART: _retuning,
    PAIR_PART: _pair,
    FIGURE_1_PART: _figure_1,
}
PARTS: Final = tuple(_PARTS)
