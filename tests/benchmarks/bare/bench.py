"""Runs `make run` and `make test` on new, minimal Debian systems.

    python -m tests.benchmarks.bare                  every system, account and command, and the page
    python -m tests.benchmarks.bare --system bookworm --account user --command run
    python -m tests.benchmarks.bare --document       the tables, into docs/benchmarks-bare.md

The last commit of this checkout is tested. Needs root; everything runs in separate namespaces on
temporary layers, which are removed at the end.
"""

from __future__ import annotations

import argparse
import os
import shlex
import signal
import sys
from pathlib import Path

import msgspec
import platformdirs

from tests.benchmarks.bare.cases import ACCOUNTS, COMMANDS, SYSTEMS, cases
from tests.benchmarks.bare.document import tables, write_document
from tests.benchmarks.bare.machine import passed_on
from tests.benchmarks.bare.results import Results
from tests.benchmarks.bare.running import run_case
from tests.benchmarks.bare.systems import base, cache, trouble
from tests.benchmarks.command import run_bench
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT, Trouble
from tests.benchmarks.wan.results import Machine


def _machine() -> Machine:
    command = shlex.join(["python", "-m", "tests.benchmarks.bare", *sys.argv[1:]])
    return msgspec.structs.replace(this_machine(quick=False), command=command)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name, known in (("system", SYSTEMS), ("account", ACCOUNTS), ("command", COMMANDS)):
        parser.add_argument(
            f"--{name}", choices=list(known), action="append", help="may be repeated [all]"
        )
    parser.add_argument("--runs", type=int, default=1, help="of each case [1]")
    parser.add_argument(
        "--cache",
        type=Path,
        default=platformdirs.user_cache_path("advisor") / "bare",
        help="folder of the systems as they are made, and of the logs [%(default)s]",
    )
    parser.add_argument(
        "--mirror",
        default="http://deb.debian.org/debian",
        help="where debootstrap gets them from [%(default)s]",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "docs/benchmarks",
        help="folder of the results, bare.jsonl [docs/benchmarks]",
    )
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the tables; do not measure")
    parser.add_argument(
        "--page", type=Path, default=ROOT / "docs/benchmarks-bare.md", help="where the tables go"
    )
    return parser.parse_args()


def _measure(options: argparse.Namespace, results: Results) -> None:
    if why_not := trouble():
        raise Trouble(why_not)
    systems = options.system or list(SYSTEMS)
    chosen = cases(systems, options.account or list(ACCOUNTS), options.command or list(COMMANDS))
    os.umask(0o022)
    variables = passed_on(os.environ)
    failed = 0
    with cache(options.cache.absolute()) as folder:
        logs = folder / "logs"
        logs.mkdir(exist_ok=True)
        made = {
            system: base(folder, system, options.mirror, logs / f"{system}.log")
            for system in systems
        }
        results.add(_machine())
        for _ in range(options.runs):
            for case in chosen:
                log = logs / f"{case.key}.log"
                cell = run_case(folder, made[case.system], case, variables, log)
                results.add(cell)
                failed += not cell.passed
    if not (options.system or options.account or options.command):
        write_document(results, options.page)
    print(tables(results))
    if failed:
        raise Trouble(f"{failed} of {options.runs * len(chosen)} runs failed: see {logs}")


def main() -> None:
    """The command."""
    # In the background of a script too, where Ctrl-C is ignored otherwise.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    run_bench("bare", _options(), Results, _measure, write_document)
