"""Advises on random paths, then runs the advised lines as a user would, and compares.

    python -m tests.benchmarks.truth                      the next paths, until --paths are done
    python -m tests.benchmarks.truth --document           docs/benchmarks-truth.md
    python -m tests.benchmarks.truth --paths 200 --named  200 random paths and those with a name
    python -m tests.benchmarks.truth --before CHECKOUT    another version on the same paths

Every result is written at once; an interrupted run is resumed. Numbers decide the paths. Needs an
idle machine: with `--lock FILE` it waits for the others that lock this file, path by path.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.benchmarks.command import run_bench
from tests.benchmarks.truth.document import write_document
from tests.benchmarks.truth.paths import NAMED, random_path
from tests.benchmarks.truth.results import Results
from tests.benchmarks.truth.running import THIS, machine_of_our_own, run_path
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, Trouble, own_folder
from tests.benchmarks.wan.running import say


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=200, help="random ones [200]")
    parser.add_argument("--first", type=int, default=1, help="the number of the first [1]")
    parser.add_argument("--named", action="store_true", help="also those with a name, first")
    parser.add_argument("--only", help="the keys of some of these paths, as in rare,r12 [all]")
    parser.add_argument("--most-rate", type=float, default=3e9, help="in bit/s [3e9]")
    parser.add_argument("--before", type=Path, help="a checkout of another version, with .venv")
    parser.add_argument("--lock", type=Path, help="a file that other benchmarks lock")
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the page; do not measure")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/benchmarks")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/benchmarks-truth.md")
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    versions = {THIS: None, **({"before": options.before} if options.before else {})}
    numbers = range(options.first, options.first + options.paths)
    named = NAMED if options.named else ()
    cases = [*named, *(random_path(number, options.most_rate) for number in numbers)]
    if options.only:
        cases = [case for case in cases if case.key in options.only.split(",")]
    results.add(this_machine(quick=False, module="tests.benchmarks.truth"))
    with own_folder() as folder:
        for case in cases:
            with machine_of_our_own(options.lock):
                try:
                    run_path(folder, case, versions, results)
                except Trouble as trouble:
                    say(f"  left out for now: {trouble}")


def main() -> None:
    run_bench("truth", _options(), Results, _measure, write_document)


if __name__ == "__main__":
    main()
