"""Copies what `advisor advise --profile-tool TOOL` prints into a shell, and times it.

    python -m tests.benchmarks.disk                     everything, or what is missing of it
    python -m tests.benchmarks.disk 0.4-many 183-one    these cases
    python -m tests.benchmarks.disk --document          the tables, into docs/benchmarks-disk.md
    python -m tests.benchmarks.disk --tool rclone       another tool: docs/benchmarks-disk-tools.md

Every result is written at once; an interrupted run is resumed. Needs an idle
machine.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import msgspec

from tests.benchmarks.command import run_bench
from tests.benchmarks.disk.cases import Case, Plan, cases_of, estimate_s
from tests.benchmarks.disk.document import tables, write_document
from tests.benchmarks.disk.results import Results
from tests.benchmarks.disk.running import run_case
from tests.benchmarks.disk.tools import GLOBUS_URL_COPY, TOOLS, BenchTool
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, Trouble, own_folder
from tests.benchmarks.wan.results import Machine
from tests.benchmarks.wan.running import say


def _machine(tool: BenchTool) -> Machine:
    machine = this_machine(quick=False)
    versions = {name: machine.versions[name] for name in ("Python", "advisor")}
    versions |= {tool.name: _version(tool.version_command), "fio": _version(("fio", "--version"))}
    command = shlex.join(["python", "-m", "tests.benchmarks.disk", *sys.argv[1:]])
    return msgspec.structs.replace(machine, command=command, versions=versions)


def _version(argv: Sequence[str]) -> str:
    """The first number that a program says of itself."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "missing"
    said = (done.stdout + done.stderr).split()
    return next((word for word in said if re.search(r"\d\.\d", word)), "unknown")


def _cases(options: argparse.Namespace) -> list[Case]:
    """Those that were named, else all of the tool. Raises Trouble."""
    known = {case.key: case for case in cases_of(TOOLS[options.tool])}
    if wrong := [key for key in options.cases if key not in known]:
        raise Trouble(f"no case {wrong[0]}: there are {', '.join(known)}")
    return [known[key] for key in options.cases or known]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("cases", nargs="*", help="[all]")
    parser.add_argument("--tool", choices=TOOLS, default=GLOBUS_URL_COPY.key)
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
        help="folder of the results, disk*.jsonl [docs/benchmarks]",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the tables; do not measure")
    parser.add_argument("--page", type=Path, help="where the tables go [docs/benchmarks-disk*.md]")
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    cases = _cases(options)
    plan = Plan(
        runs=options.runs,
        methods=tuple(options.methods.split(",")),
        sweep=not options.no_sweep,
        budget_s=options.budget,
        before=options.before,
    )
    total_s = sum(estimate_s(case, plan) for case in cases)
    say(f"about {total_s / 60:.0f} minutes in all, less what {results.file} has already")
    results.add(_machine(TOOLS[options.tool]))
    with own_folder() as folder:
        # Here too, so that the lab's places are found.
        os.environ["ADVISOR_RUNTIME_DIR"] = str(folder / "advisor")
        for case in cases:
            run_case(folder, case, plan, results)
    print(tables(results, TOOLS[options.tool]))


def main() -> None:
    """The command."""
    options = _options()
    tool = TOOLS[options.tool]
    name, page = "disk", "docs/benchmarks-disk.md"
    if tool is not GLOBUS_URL_COPY:
        name, page = f"disk-{tool.key}", "docs/benchmarks-disk-tools.md"
    options.page = options.page or ROOT / page
    run_bench(name, options, Results, _measure, partial(write_document, tool=tool))
