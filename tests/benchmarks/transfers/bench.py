"""Tuned transfers compared with fixed settings and with the paper's figures.

    python -m tests.benchmarks.transfers               everything, or what is missing of it
    python -m tests.benchmarks.transfers --conditions compute --methods default,compass
    python -m tests.benchmarks.transfers --epoch 30    as long epochs as the paper's, for days
    python -m tests.benchmarks.transfers --document    docs/benchmarks-transfers.md

`globus-url-copy` under `advisor transfer` on an emulated path, with the external loads of
Balaprakash et al. (2016): each contestant for the same time, and what arrived in it. Every result
is written at once; an interrupted run is resumed. Needs an idle machine, and a
folder in memory.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from advisor.domain.quantities import format_duration
from tests.benchmarks.command import run_bench
from tests.benchmarks.transfers.cases import (
    CONDITIONS,
    CONTESTANTS,
    EPOCH_S,
    EPOCHS,
    PARTS,
    USUAL,
    Plan,
)
from tests.benchmarks.transfers.document import tables, write_document
from tests.benchmarks.transfers.results import Results
from tests.benchmarks.transfers.running import left_s, run_plan
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, own_folder
from tests.benchmarks.wan.results import Machine
from tests.benchmarks.wan.running import say


def _machine() -> Machine:
    machine = this_machine(quick=False)
    command = shlex.join(["python", "-m", "tests.benchmarks.transfers", *sys.argv[1:]])
    return msgspec.structs.replace(machine, command=command)


def _several(known: Sequence[str]) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        asked = tuple(one.strip() for one in text.split(","))
        if strange := [one for one in asked if one not in known]:
            raise argparse.ArgumentTypeError(
                f"no {strange[0]}: there are {', '.join(known)}, or several with commas"
            )
        return asked

    return parse


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--conditions", type=_several(tuple(CONDITIONS)), default=tuple(CONDITIONS), help="[all]"
    )
    parser.add_argument(
        "--methods",
        type=_several(CONTESTANTS),
        default=USUAL,
        help=f"of {', '.join(CONTESTANTS)} [{','.join(USUAL)}]",
    )
    parser.add_argument("--parts", type=_several(PARTS), default=PARTS, help="[all]")
    parser.add_argument("--seconds", type=float, help=f"of one transfer [{EPOCHS} epochs]")
    parser.add_argument("--epoch", type=float, default=EPOCH_S, help="seconds of one [4]")
    parser.add_argument("--runs", type=int, default=3, help="of everything but sweeps [3]")
    parser.add_argument("--sweep-seconds", type=float, default=12.0, help="of one setting [12]")
    parser.add_argument(
        "--folder", type=Path, default=Path("/dev/shm"), help="in memory, for what arrives"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs/benchmarks",
        help="folder of the results, transfers.jsonl [docs/benchmarks]",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the page; do not measure")
    parser.add_argument(
        "--page",
        type=Path,
        default=ROOT / "docs/benchmarks-transfers.md",
        help="where it is written [docs/benchmarks-transfers.md]",
    )
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    plan = Plan(
        seconds=options.seconds or EPOCHS * options.epoch,
        epoch_s=options.epoch,
        runs=options.runs,
        sweep_s=options.sweep_seconds,
        conditions=options.conditions,
        methods=options.methods,
        parts=options.parts,
    )
    say(
        f"about {format_duration(left_s(plan, results))} for what is left of "
        f"{format_duration(plan.estimate_s)}; {results.file}"
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
    run_bench("transfers", _options(), Results, _measure, write_document)
