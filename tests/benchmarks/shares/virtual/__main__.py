"""Shares in virtual time: what training, plans and feedback give on made-up networks.

    python -m tests.benchmarks.shares.virtual                  docs/benchmarks-shares-virtual.md
    python -m tests.benchmarks.shares.virtual --networks 6     printed, to try something

Design, precision, models, plans, meter and feedback are the program's own, on a clock that only
counts. Nothing here is a measurement: `python -m tests.benchmarks.shares` measures.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median
from typing import Final

from tests.benchmarks.markdown import filled, percent, table_text
from tests.benchmarks.shares import paper
from tests.benchmarks.shares.crossing import ABLATION, OURS, PAIRS, cross_errors
from tests.benchmarks.shares.summary import errors_of
from tests.benchmarks.shares.virtual.networks import CONTROLS, LOADS, Network, networks
from tests.benchmarks.shares.virtual.running import EPOCHS, Found, Training, Virtual
from tests.benchmarks.wan.hosts import ROOT

_PAGE: Final = ROOT / "docs/benchmarks-shares-virtual.md"
_COUNT: Final = 12
_SEED: Final = 2014

OURS_FIRST: Final = Training("as `advisor share train` does, an hour", 3600.0, 90.0)
VARIED: Final = Training("as the first, 1 to 4 streams for each file", 3600.0, 90.0, streams=(1, 4))
TRAININGS: Final = (
    OURS_FIRST,
    Training("the same, half an hour", 1800.0, 90.0),
    Training("the same, 10 min", 600.0, 90.0),
    Training("the paper's levels, an hour, 16 s", 3600.0, 16.0, None, is_papers=True),
    VARIED,
)
_HEAD: Final = ("mean", "median", "below 15 %", "below 10 %", "errors")
_Runs = Sequence[tuple[Network, Found]]


def _runs(training: Training, count: int, seed: int) -> _Runs:
    return [
        (network, asyncio.run(Virtual(network, seed + number, training).run()))
        for number, network in networks(count, seed)
    ]


def _all(runs: _Runs, of: Callable[[Found], Sequence[float]]) -> list[float]:
    return [value for _, found in runs for value in of(found)]


def _cells(values: Sequence[float]) -> list[str]:
    if (errors := errors_of(values)) is None:
        return ["–"] * len(_HEAD)
    shown = (errors.mean, errors.median, errors.below_15, errors.below_10)
    return [*(percent(one) for one in shown), f"{errors.count}"]


def _short(values: Sequence[float]) -> str:
    return f"{percent(fmean(values))}, {percent(median(values))}" if values else "–"


def _goals(runs: _Runs) -> str:
    rows = [["ratios, requested, first epoch", *_cells(_all(runs, lambda f: f.requested[0]))]]
    for number in range(1, EPOCHS):
        for name, of in (
            ("with feedback", lambda f, n=number: f.requested[n]),
            ("the plan kept", lambda f, n=number: f.kept[n]),
        ):
            rows.append([f"ratios, requested, epoch {number + 1}, {name}", *_cells(_all(runs, of))])
    rows += [
        ["ratios, expected", *_cells(_all(runs, lambda f: f.expected))],
        ["factors, expected", *_cells(_all(runs, lambda f: f.factors))],
        ["factors, requested", *_cells(_all(runs, lambda f: f.factors_requested))],
        ["factors, cannot be met", *_cells(_all(runs, lambda f: f.factors_missed))],
        ["the paper: all", "15.6 %", "10.4 %", "63.0 %", "49.0 %", "–"],
        ["the paper: factors", "–", "–", "83.6 %", "65.5 %", "–"],
    ]
    return table_text(["", *_HEAD], rows)


def _by_kind(runs: _Runs) -> str:
    rows = []
    for control in CONTROLS:
        for load in LOADS:
            some = [(n, f) for n, f in runs if (n.control, n.load) == (control, load)]
            rows.append(
                [
                    f"{control}, {load}",
                    _short(_all(some, lambda f: f.repeats)),
                    _short(_all(some, lambda f: f.requested[0])),
                    _short(_all(some, lambda f: [e for n in range(1, EPOCHS) for e in f.kept[n]])),
                    _short(
                        _all(some, lambda f: [e for n in range(1, EPOCHS) for e in f.requested[n]])
                    ),
                    _short(_all(some, lambda f: f.factors)),
                ]
            )
    head = ["", "repeats", "first epoch", "later, plan kept", "later, feedback", "factors"]
    return table_text(head, rows)


def _trainings(by_training: Mapping[Training, _Runs]) -> str:
    rows = [
        [
            training.name,
            f"{fmean(found.steps for _, found in runs):.0f}",
            _short(_all(runs, lambda f: f.repeats)),
            _short(_all(runs, lambda f: f.expected)),
            _short(_all(runs, lambda f: f.requested[0])),
            _short(_all(runs, lambda f: [e for n in range(1, EPOCHS) for e in f.requested[n]])),
            _short(_all(runs, lambda f: f.factors)),
            percent(fmean(_all(runs, lambda f: f.within))),
        ]
        for training, runs in by_training.items()
    ]
    head = ["", "steps", "repeats", "expected", "first epoch", "feedback", "factors", "within"]
    return table_text(head, rows)


def _models(runs: _Runs) -> str:
    rows = []
    for pair in dict.fromkeys([*PAIRS, *OURS, *ABLATION]):
        errors = [
            error
            for _, found in runs
            for some in cross_errors(found.trained, found.tested, pair).values()
            for error in some
        ]
        rows.append([f"{pair.words}, {pair.estimate}", *_cells(errors)])
    rows.append(["the paper: its four best pairs", *_paper(paper.FOUR_PAIRS)])
    rows.append(["the paper: log with EL1, RTEC", *_paper(paper.OVERALL)])
    return table_text(["", *_HEAD], rows)


def _paper(errors: object) -> list[str]:
    assert isinstance(errors, type(paper.OVERALL))
    shown = (errors.mean, errors.median, errors.below_15, errors.below_10)
    return [*(percent(one) for one in shown), "–"]


def _text(count: int, seed: int) -> str:
    by_training = {training: _runs(training, count, seed) for training in TRAININGS}
    runs = by_training[OURS_FIRST]
    intro = filled(
        "`make bench-shares-virtual` (`python -m tests.benchmarks.shares.virtual`). **A "
        f"simulation, not a measurement**: {count} made-up networks of one source and five "
        f"destinations, seed {seed}, one run of each ratio and factor on each, as many networks "
        "under each congestion control and kind of load. All rates, round-trip times, limits of "
        "files and hosts, and the spread of the flows are drawn for each network. Flows share a "
        "link by weights that vary over seconds; packets are not simulated. Levels, steps, models, "
        "plans, epochs and feedback are the program's own. What errors come to on real paths, only "
        "[benchmarks-shares.md](benchmarks-shares.md) can say."
    )
    goals = filled(
        "As in [benchmarks-shares.md](benchmarks-shares.md): epochs of 90 s; after a factor's base "
        'has been measured, what all five get next to what was then expected of them. "The plan '
        'kept" is the same run without feedback, under the same load and with the same chance.'
    )
    kinds = filled(
        'Mean and median. "Repeats": the coefficient of variation of the rates of the same levels '
        "one after the other, measured as a step of the training is; the load changes meanwhile. "
        '"Later": the second epoch to the fourth.'
    )
    varied = by_training[VARIED]
    trained = filled(
        'Mean and median, over all networks, by how the models were trained. "Within": the part '
        "of the rates of first epochs that the plan's 90 % interval contains. Where streams "
        "varied, what twice the streams for one destination change is predicted with an error of "
        f"{_short(_all(varied, lambda f: f.streams))} by their own exponents, and of "
        f"{_short(_all(varied, lambda f: f.streams_as_files))} if streams are taken for files."
    )
    models = filled(
        "Models of the training alone, tested with the first epochs of all plans, the load "
        "estimated from everything before each, and features left out."
    )
    parts = ["# Shares in virtual time", intro, "## Requested and expected", goals, _goals(runs)]
    parts += ["## By congestion control and load", kinds, _by_kind(runs)]
    parts += ["## Trainings", trained, _trainings(by_training)]
    parts += ["## Models", models, _models(runs)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--networks", type=int, help="how many; printed, not written")
    parser.add_argument("--seed", type=int, default=_SEED, help=f"[{_SEED}]")
    options = parser.parse_args()
    text = _text(options.networks or _COUNT, options.seed)
    if options.networks:
        print(text)
    else:
        _PAGE.write_text(text)


main()
