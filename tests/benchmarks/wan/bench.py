"""Compares `advisor advise` with a sweep, published SPSA and the defaults, on emulated paths.

    python -m tests.benchmarks.wan                 everything, or what is missing of it
    python -m tests.benchmarks.wan --document      docs/benchmarks.md and its figures
    python -m tests.benchmarks.wan --quick --cases a,d --seeds 1 --results /tmp/trial.jsonl

Every result is written at once; an interrupted run is resumed. Needs an idle
machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import signal
import subprocess
import sys
import time
from importlib import metadata
from pathlib import Path

from tests.benchmarks.wan.cases import CASES, Case, Plan, estimate_s, kernels_control
from tests.benchmarks.wan.document import write_document
from tests.benchmarks.wan.hosts import ROOT, Trouble, own_folder
from tests.benchmarks.wan.methods import METHODS
from tests.benchmarks.wan.results import Machine, Results
from tests.benchmarks.wan.running import run_case, say


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _iperf3_version() -> str:
    done = subprocess.run(["iperf3", "--version"], capture_output=True, text=True, check=False)
    return (done.stdout.split() or ["", "missing"])[1]


def this_machine(quick: bool, module: str = "tests.benchmarks.wan") -> Machine:
    return Machine(
        when=time.strftime("%Y-%m-%d %H:%M %Z"),
        command=shlex.join(["python", "-m", module, *sys.argv[1:]]),
        quick=quick,
        kernel=platform.release(),
        processor=_processor(),
        cores=os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        load_1min=os.getloadavg()[0],
        hosts_congestion=kernels_control(),
        versions={
            "Python": platform.python_version(),
            "advisor": metadata.version("data-transfer-advisor"),
            "iperf3": _iperf3_version(),
        },
    )


def _cases(text: str) -> list[Case]:
    known = {case.key: case for case in CASES}
    try:
        return [known[key.strip()] for key in text.split(",")]
    except KeyError as missing:
        raise argparse.ArgumentTypeError(
            f"no case {missing}: there are {', '.join(known)}"
        ) from None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = ",".join(case.key for case in CASES)
    parser.add_argument("--cases", type=_cases, default=_cases(every), help=f"[{every}]")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=list(METHODS), help="[all of them]"
    )
    parser.add_argument("--seeds", type=int, default=5, help="[5]")
    parser.add_argument("--rounds", type=int, default=2, help="settings measured again [2]")
    parser.add_argument("--quick", action="store_true", help="short and coarse: does it work?")
    parser.add_argument("--results", type=Path, default=ROOT / "docs/benchmarks/wan.jsonl")
    parser.add_argument("--fresh", action="store_true", help="forget the results that are there")
    parser.add_argument("--document", action="store_true", help="write the page; do not measure")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="where the document goes")
    return parser.parse_args()


def _measure(options: argparse.Namespace) -> None:
    if options.fresh:
        options.results.unlink(missing_ok=True)
    results = Results(options.results)
    if any(machine.quick != options.quick for machine in results.all(Machine)):
        raise Trouble(f"{options.results} has results of the other kind (--quick): give --fresh")
    plan = Plan(seeds=options.seeds, rounds=options.rounds, quick=options.quick)
    total_s = sum(estimate_s(case, plan) for case in options.cases)
    say(f"about {total_s / 60:.0f} minutes in all, less what {options.results} has already")
    results.add(this_machine(options.quick))
    with own_folder() as folder:
        for case in options.cases:
            run_case(folder, case, plan, results, options.methods)


def main() -> None:
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if options.document:
            write_document(Results(options.results), options.out)
        else:
            _measure(options)
    except Trouble as trouble:
        sys.exit(f"bench-wan: {trouble}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
