"""Advises on random paths, then runs the advised lines as a user would, and compares.

    python -m tests.benchmarks.truth                      the next paths, until --paths are done
    python -m tests.benchmarks.truth --document           docs/benchmarks-truth.md
    python -m tests.benchmarks.truth --paths 200 --named  200 random paths and those with a name
    python -m tests.benchmarks.truth --before CHECKOUT    another version on the same paths

Every result is written at once; an interrupted run is resumed. Numbers decide the paths. Needs an
idle machine.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from tests.benchmarks.command import run_bench
from tests.benchmarks.truth.abreast import ABREAST, Capacity, run_abreast
from tests.benchmarks.truth.document import write_document
from tests.benchmarks.truth.paths import MOST_BPS, NAMED, TruthPath, random_path
from tests.benchmarks.truth.results import Results
from tests.benchmarks.truth.running import THIS, run_path
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, Trouble, own_folder
from tests.benchmarks.wan.running import say

_BATCH: Final = 24
_HEAVY: Final = 0.4
"""Paths that take more of the machine come last: they run one after the other."""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--paths", type=int, default=200, help="random ones [200]")
    parser.add_argument("--first", type=int, default=1, help="the number of the first [1]")
    parser.add_argument("--named", action="store_true", help="also those with a name, first")
    parser.add_argument("--only", help="the keys of some of these paths, as in rare,r12 [all]")
    parser.add_argument("--most-rate", type=float, default=MOST_BPS, help="in bit/s [3e9]")
    parser.add_argument(
        "--abreast", type=int, default=ABREAST, help=f"slow paths at a time at most [{ABREAST}]"
    )
    parser.add_argument("--before", type=Path, help="a checkout of another version, with .venv")
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the page; do not measure")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/benchmarks")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/benchmarks-truth.md")
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    versions = {THIS: None, **({"before": options.before} if options.before else {})}
    numbers = range(options.first, options.first + options.paths)
    named = NAMED if options.named else ()
    paths = [*named, *(random_path(number, options.most_rate) for number in numbers)]
    if options.only:
        paths = [path for path in paths if path.case.key in options.only.split(",")]
    results.add(this_machine(quick=False, module="tests.benchmarks.truth"))
    capacity = Capacity()
    with own_folder() as folder:

        def work(path: TruthPath) -> None:
            try:
                run_path(folder, path, versions, results, capacity)
            except Trouble as trouble:
                say(f"  ({path.case.key}) left out for now: {trouble}")

        for some in batched(paths):
            run_abreast([partial(work, path) for path in some], options.abreast)


def batched(paths: Sequence[TruthPath]) -> Iterator[list[TruthPath]]:
    """Any part that is complete has fast paths and slow ones.

    Those that leave room for others come first, and of these the ones that take longest.
    """
    for first in range(0, len(paths), _BATCH):
        yield sorted(paths[first : first + _BATCH], key=_place)


def _place(path: TruthPath) -> tuple[bool, bool, float]:
    return path.weight >= _HEAVY, not path.case.load_streams, path.weight


def main() -> None:
    run_bench("truth", _options(), Results, _measure, write_document)


if __name__ == "__main__":
    main()
