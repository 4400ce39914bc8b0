"""Shares of several destinations: what models of concurrency predict, and what feedback adds.

    python -m tests.benchmarks.shares                everything, or what is missing of it
    python -m tests.benchmarks.shares --parts ratio,factor --runs 1
    python -m tests.benchmarks.shares --document     docs/benchmarks-shares.md

Five destinations of one source on emulated paths, under external load that varies all the time, by
`advisor share train` and `advisor share plan --run`: the experiments of Kettimuthu et al. (2014).
Every result is written at once; an interrupted run is resumed. Needs an idle
machine, and a folder in memory.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from pathlib import Path

import msgspec

from advisor.domain.quantities import format_duration
from tests.benchmarks.command import run_bench
from tests.benchmarks.shares.cases import PARTS, Plan
from tests.benchmarks.shares.document import tables, write_document
from tests.benchmarks.shares.results import Results
from tests.benchmarks.shares.running import left_s, run_plan
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, own_folder
from tests.benchmarks.wan.results import Machine
from tests.benchmarks.wan.running import say

_USUAL = Plan()


def _machine() -> Machine:
    command = shlex.join(["python", "-m", "tests.benchmarks.shares", *sys.argv[1:]])
    return msgspec.structs.replace(this_machine(quick=False), command=command)


def _parts(text: str) -> tuple[str, ...]:
    asked = tuple(one.strip() for one in text.split(","))
    if strange := [one for one in asked if one not in PARTS]:
        raise argparse.ArgumentTypeError(
            f"no {strange[0]}: there are {', '.join(PARTS)}, or several with commas"
        )
    return asked


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", type=_parts, default=PARTS, help="[all]")
    for name, kind, usual, what in (
        ("--runs", int, _USUAL.runs, "of each ratio and factor"),
        ("--train-seconds", float, _USUAL.train_s, "to learn in"),
        ("--train-step", float, _USUAL.step_s, "seconds of one at most"),
        ("--epoch", float, _USUAL.epoch_s, "seconds of one, and of a step of the test at most"),
        ("--test-steps", int, _USUAL.test_steps, "to test with what was learnt"),
        ("--repeat-epochs", int, _USUAL.repeat_epochs, "with the same levels, under one load"),
        ("--ratio-epochs", int, _USUAL.ratio_epochs, "of a run"),
        ("--factor-epochs", int, _USUAL.factor_epochs, "of a run, the base included"),
        ("--long-epochs", int, _USUAL.long_epochs, "of the long run"),
        ("--load-seconds", float, _USUAL.load_s, "until the load of the training is another"),
        ("--plan-load-seconds", float, _USUAL.plan_load_s, "until that of plans is another"),
        ("--most", int, _USUAL.most, "files at a time to one destination"),
    ):
        parser.add_argument(name, type=kind, default=usual, help=f"{what} [{usual:g}]")
    parser.add_argument(
        "--folder", type=Path, default=Path("/dev/shm"), help="in memory, for what arrives"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs/benchmarks",
        help="folder of the results, shares.jsonl [docs/benchmarks]",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the page; do not measure")
    parser.add_argument(
        "--page",
        type=Path,
        default=ROOT / "docs/benchmarks-shares.md",
        help="where it is written [docs/benchmarks-shares.md]",
    )
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    plan = Plan(
        runs=options.runs,
        step_s=options.train_step,
        epoch_s=options.epoch,
        train_s=options.train_seconds,
        long_epochs=options.long_epochs,
        test_steps=options.test_steps,
        repeat_epochs=options.repeat_epochs,
        ratio_epochs=options.ratio_epochs,
        factor_epochs=options.factor_epochs,
        load_s=options.load_seconds,
        plan_load_s=options.plan_load_seconds,
        most=options.most,
        parts=options.parts,
    )
    whole_s = sum(task.whole_s for task in plan.tasks)
    say(
        f"about {format_duration(left_s(plan, results))} for what is left of "
        f"{format_duration(whole_s)}; {results.file}"
    )
    results.add(_machine())
    # Where the labs are, and with them what arrives.
    tempfile.tempdir = str(options.folder)
    with own_folder() as folder:
        os.environ["ADVISOR_RUNTIME_DIR"] = str(folder / "advisor")
        run_plan(folder, plan, results)
    print(tables(results))


def main() -> None:
    """The command."""
    run_bench("shares", _options(), Results, _measure, write_document)
