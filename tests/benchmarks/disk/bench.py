"""Copies what `advisor advise --tool globus-url-copy` prints into a shell, and times it.

    python -m tests.benchmarks.disk                     everything, or what is missing of it
    python -m tests.benchmarks.disk 0.4-many 183-one    these cases
    python -m tests.benchmarks.disk --document          the tables, into docs/benchmarks-disk.md

Every result is written at once; an interrupted run is resumed. Needs an idle
machine.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
from pathlib import Path

import msgspec

from tests.benchmarks.command import run_bench
from tests.benchmarks.disk.cases import CASES, Case, Plan, estimate_s
from tests.benchmarks.disk.document import tables, write_document
from tests.benchmarks.disk.results import Results
from tests.benchmarks.disk.running import run_case
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, own_folder
from tests.benchmarks.wan.results import Machine
from tests.benchmarks.wan.running import say


def _machine() -> Machine:
    machine = this_machine(quick=False)
    versions = {name: machine.versions[name] for name in ("Python", "advisor")}
    versions |= {program: _version(program) for program in ("globus-url-copy", "fio")}
    command = shlex.join(["python", "-m", "tests.benchmarks.disk", *sys.argv[1:]])
    return msgspec.structs.replace(machine, command=command, versions=versions)


def _version(program: str) -> str:
    """The first number that it says of itself."""
    try:
        argv = [program, "-version" if program.startswith("globus") else "--version"]
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "missing"
    said = (done.stdout + done.stderr).split()
    return next((word for word in said if any(c.isdigit() for c in word)), "unknown")


def _case(text: str) -> Case:
    known = {case.key: case for case in CASES}
    if text not in known:
        raise argparse.ArgumentTypeError(f"no case {text}: there are {', '.join(known)}")
    return known[text]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", type=_case, nargs="*", help="[all]")
    parser.add_argument("--runs", type=int, default=10, help="of an advised line [10]")
    parser.add_argument(
        "--methods", default="bayes", help="one session each, as in bayes,depth-width"
    )
    parser.add_argument("--budget", type=float, help="seconds for each session [its own]")
    parser.add_argument(
        "--before",
        type=Path,
        help="checkout of another version with its .venv, whose session is beside it",
    )
    parser.add_argument("--no-sweep", action="store_true", help="leave the sweep out")
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs/benchmarks",
        help="folder of the results, disk.jsonl [docs/benchmarks]",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the tables; do not measure")
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs/benchmarks-disk.md", help="where the tables go"
    )
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    cases = options.cases or list(CASES)
    plan = Plan(
        runs=options.runs,
        methods=tuple(options.methods.split(",")),
        sweep=not options.no_sweep,
        budget_s=options.budget,
        before=options.before,
    )
    total_s = sum(estimate_s(case, plan) for case in cases)
    say(f"about {total_s / 60:.0f} minutes in all, less what {results.file} has already")
    results.add(_machine())
    with own_folder() as folder:
        # Here too, so that the lab's places are found.
        os.environ["ADVISOR_RUNTIME_DIR"] = str(folder / "advisor")
        for case in cases:
            run_case(folder, case, plan, results)
    print(tables(results))


def main() -> None:
    """The command."""
    run_bench("disk", _options(), Results, _measure, write_document)
