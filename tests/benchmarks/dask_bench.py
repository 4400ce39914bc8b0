"""`advisor backtest` of all methods over synthetic pairs: alone, and on one and two Dask workers.

    python -m tests.benchmarks.dask_bench [--pairs 1000] [--seeds 10] [--repeats 1] [--document]

prints a table; with --document it is put into docs/backtest.md too. Every run has to print the same
bytes. One thread each: a worker, the scheduler and this program, numpy's included.
"""

import argparse
import contextlib
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

from tests.benchmarks.markdown import filled, percent, put_between, table_text
from tests.benchmarks.medians import median_interval
from tests.benchmarks.wan.bench import this_machine
from tests.benchmarks.wan.hosts import ROOT
from tests.dask_cluster import ADVISOR, cluster

BEGIN = "<!-- made by python -m tests.benchmarks.dask_bench --document -->"
END = "<!-- end -->"
_PAGE = ROOT / "docs" / "backtest.md"
_WORKERS = (0, 1, 2)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def _words(options: argparse.Namespace) -> list[str]:
    tables = f"synthetic:{options.pairs}"
    return ["backtest", tables, "--method", "all", "--seeds", str(options.seeds), "--json"]


@contextlib.contextmanager
def _address(workers: int) -> Iterator[list[str]]:
    """The option for this many workers, which wait for work; none for none."""
    if not workers:
        yield []
        return
    with (
        tempfile.TemporaryDirectory(prefix="dask") as folder,
        cluster(Path(folder), workers) as made,
    ):
        yield ["--dask", made.address]


def timed(words: list[str], workers: int) -> tuple[float, str]:
    """Seconds from the command to its end, and the SHA-256 of what it printed."""
    with _address(workers) as dask:
        began_s = time.monotonic()
        done = subprocess.run([*ADVISOR, *words, *dask], capture_output=True, check=True)
        return time.monotonic() - began_s, hashlib.sha256(done.stdout).hexdigest()


def table(took_s: dict[int, list[float]]) -> str:
    """The median of each number of workers, and its gain over one; `took_s`: of every run."""
    one_s = median_interval(took_s[1])[1]
    rows = []
    for workers, each in took_s.items():
        least, middle, most = median_interval(each)
        rows.append(
            [
                str(workers) if workers else "without Dask",
                f"{middle:.1f} s",
                f"{least:.1f} to {most:.1f} s" if len(each) > 1 else "–",
                f"{one_s / middle:.2f}",
                percent(one_s / middle / workers) if workers else "–",
            ]
        )
    head = ["workers", "it took", "of all runs", "times as fast as one worker", "of ideal"]
    return table_text(head, rows)


def main() -> int:
    """Run everything, in turn; 1 if two runs printed different bytes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=1000, help="[1000]")
    parser.add_argument("--seeds", type=int, default=10, help="[10]")
    parser.add_argument("--repeats", type=int, default=1, help="[1]")
    parser.add_argument("--document", action="store_true", help="write the table into the page")
    options = parser.parse_args()
    os.environ |= dict.fromkeys(_THREADS, "1")
    took_s: dict[int, list[float]] = {workers: [] for workers in _WORKERS}
    printed, loads = set(), []
    for _ in range(options.repeats):
        for workers, times in took_s.items():
            loads.append(os.getloadavg()[0])
            each_s, digest = timed(_words(options), workers)
            times.append(each_s)
            printed.add(digest)
            print(f"{workers} workers: {each_s:.1f} s, {digest[:12]}", flush=True)
    machine = this_machine(quick=False, module="tests.benchmarks.dask_bench")
    where = (
        f"`{machine.command}`, {machine.when}: {options.pairs:,} synthetic pairs, all methods,"
        f" seeds: {options.seeds}, runs of each: {options.repeats}. {machine.processor},"
        f" {machine.cores} cores, shared with other programs: before the runs"
        f" {mean(loads):.1f} processes wanted a core on average ({max(loads):.1f} at most)."
        f" {'All runs printed the same bytes.' if len(printed) == 1 else '**Bytes differ.**'}"
    )
    text = f"{table(took_s)}\n\n{filled(where)}"
    print(text)
    if options.document:
        put_between(_PAGE, BEGIN, END, text)
    return 0 if len(printed) == 1 else 1


if __name__ == "__main__":
    sys.exit(main())
