"""Mixed files under three loads: HARP's plan and the rules of thumb, each as a whole transfer.

    python -m tests.benchmarks.plans               everything, into docs/benchmarks/plans.jsonl
    python -m tests.benchmarks.plans --document    the tables, into docs/benchmarks-plans.md

An emulated path of 45.6 ms and 500 Mbit/s. Under each load every class of files is first moved at
twelve settings by globus-url-copy. That and the results under earlier loads are the history, which
is imported by `advisor history import` as a table in the format of HARP's authors. Then other
files, of all classes, are moved by `advisor plan --run` with each method in turn. The command is
timed from its start to its end. Every copy is compared with its source. Needs an idle machine; an
interrupted run is resumed.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import fmean

import msgspec
import numpy as np

from advisor.domain import events as ev
from advisor.lab.state import LabFolder
from advisor.models.file_classes import Size
from tests.benchmarks.disk.files import difference, remove
from tests.benchmarks.disk.shell import Shell
from tests.benchmarks.wan import cases as wan
from tests.benchmarks.wan.hosts import ROOT, Lab, Trouble, own_folder
from tests.benchmarks.wan.running import say

RTT_S, RATE_BPS = 0.0456, 500e6
LOADS = {"light": 0, "medium": 4, "heavy": 10}
"""Parallel TCP streams of other traffic in the same direction."""
SETTINGS = {
    "light": tuple(itertools.product((1, 2, 4, 8), (1, 4, 8))),
    "medium": tuple(itertools.product((1, 2, 4, 8), (1, 4, 8))),
    # One file at a time takes a minute there.
    "heavy": tuple(itertools.product((2, 4, 8, 10), (1, 4, 8))),
}
HISTORY_FILES = {
    Size.TINY: (24, 250_000),
    Size.SMALL: (20, 1_700_000),
    Size.MEDIUM: (10, 10_000_000),
    Size.LARGE: (8, 30_000_000),
}
PLANNED_FILES = {
    Size.TINY: (600, 50_000, 400_000),
    Size.SMALL: (150, 700_000, 2_500_000),
    Size.MEDIUM: (60, 4_000_000, 24_000_000),
    Size.LARGE: (2, 300_000_000, 500_000_000),
}
"""The number of files, and the bounds of their random sizes in bytes."""
METHODS = (
    "harp --sample --relaxation 0.7",
    "harp --sample",
    "harp",
    "promc",
    "globus",
)
SEED = 7


class Moved(msgspec.Struct, frozen=True, kw_only=True, tag="moved"):
    """One transfer of the history: `load`, class and setting, over `seconds`."""

    load: str
    size: Size
    concurrency: int
    parallelism: int
    seconds: float
    when_s: float


class Ran(msgspec.Struct, frozen=True, kw_only=True, tag="ran"):
    """One whole transfer. `levels`: concurrency × parallelism of each class in the last plan.

    `trouble`: why it does not count; "" when all files arrived unchanged. `sampled_s`: the time
    until the last plan was made.
    """

    load: str
    method: str
    number: int
    seconds: float
    sampled_s: float
    total_bytes: int
    levels: dict[str, tuple[int, int]]
    trouble: str = ""


Line = Moved | Ran


class Results:
    """The lines of the file, kept at once."""

    def __init__(self, file: Path) -> None:
        self._file = file
        data = file.read_bytes() if file.exists() else b""
        self.lines = [msgspec.json.decode(one, type=Line) for one in data.splitlines()]

    def add(self, line: Line) -> None:
        self.lines.append(line)
        with self._file.open("ab") as out:
            out.write(msgspec.json.encode(line) + b"\n")

    @property
    def moved(self) -> list[Moved]:
        return [one for one in self.lines if isinstance(one, Moved)]

    @property
    def ran(self) -> list[Ran]:
        return [one for one in self.lines if isinstance(one, Ran)]


def _write(folder: Path, names_and_sizes: Iterator[tuple[str, int]]) -> Path:
    """Files of random bytes, the same ones each time."""
    rng = np.random.default_rng(SEED)
    for name, size in names_and_sizes:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.bytes(size))
    return folder


def _history_data(folder: Path, size: Size) -> Path:
    count, each = HISTORY_FILES[size]
    return _write(folder / size, ((f"{n:04d}", each) for n in range(count)))


def _planned_data(folder: Path) -> Path:
    rng = np.random.default_rng(SEED)
    return _write(
        folder,
        (
            (f"{size}/{n // 500}/{n:04d}", int(rng.integers(least, most)))
            for size, (count, least, most) in PLANNED_FILES.items()
            for n in range(count)
        ),
    )


def _lab(folder: Path, load: str) -> Lab:
    case = wan.Case(
        key="plan",
        title=load,
        rtt_s=RTT_S,
        options=("--path", "rtt-45.6", "--rate", "500Mbit"),
        congestion="",
        load_streams=LOADS[load],
    )
    return Lab(folder, case, SEED)


def _target(lab: Lab) -> Path:
    return LabFolder(lab.endpoint.removeprefix("lab:")).files("far") / "arrived"


def collect(folder: Path, data: dict[Size, Path], load: str, results: Results) -> None:
    """Each class at every setting, as globus-url-copy alone moves it."""
    known = {(m.load, m.size, m.concurrency, m.parallelism) for m in results.moved}
    wanted = [
        (size, *levels)
        for size in HISTORY_FILES
        for levels in SETTINGS[load]
        if (load, size, *levels) not in known
    ]
    if not wanted:
        return
    with _lab(folder, load) as lab:
        lab.load(True)
        target = _target(lab)
        server = _server(lab)
        with lab.running([sys.executable, "-m", "tests.benchmarks.disk.inside"]) as process:
            for size, concurrency, parallelism in wanted:
                argv = ["globus-url-copy", "-fast", "-p", str(parallelism), "-bs", "1048576", "-pp"]
                argv += ["-cc", str(concurrency), "-r", "-cd"]
                argv += [f"file://{data[size]}/", f"{server}{target}/"]
                when_s = time.time()
                seconds, trouble = Shell(process, data[size], target, RTT_S).run(shlex.join(argv))
                if trouble:
                    raise Trouble(f"{shlex.join(argv)}: {trouble}")
                results.add(
                    Moved(
                        load=load,
                        size=size,
                        concurrency=concurrency,
                        parallelism=parallelism,
                        seconds=seconds,
                        when_s=when_s,
                    )
                )
                say(f"  {load} {size} {concurrency} × {parallelism}: {seconds:.1f} s")
        remove(target)


def _server(lab: Lab) -> str:
    from advisor.lab.state import state_of

    return state_of(lab.endpoint.removeprefix("lab:")).far("far").gridftp_url or ""


def import_history(folder: Path, loads: Sequence[str], results: Results) -> Path:
    """A store with the history of these loads, imported from the table."""
    table, store = folder / "history.csv", folder / "history-store"
    shutil.rmtree(store, ignore_errors=True)
    fields = ["FileSize", "FileCount", "Bandwidth", "RTT", "BufferSize", "Concurrency"]
    fields += [
        "Parallelism",
        "Pipelining",
        "Throughput",
        "Duration",
        "Date",
        "Time",
        "Source",
        "Destination",
    ]
    with table.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(fields)
        for one in (moved for moved in results.moved if moved.load in loads):
            count, each = HISTORY_FILES[one.size]
            when = datetime.fromtimestamp(one.when_s, UTC)
            mibit_s = count * each * 8 / 2**20 / one.seconds
            row = [each, count, RATE_BPS, RTT_S, _buffer_bytes(), one.concurrency]
            row += [one.parallelism, 1]
            row += [f"{mibit_s:.4f}", f"{one.seconds:.4f}", f"{when:%Y-%m-%d}", f"{when:%H:%M:%S}"]
            writer.writerow([*row, "source", "far"])
    argv = [sys.executable, "-P", "-m", "advisor", "history", "import", str(table)]
    done = subprocess.run(
        [*argv, "--store", str(store)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        raise Trouble(f"the history was not imported: {done.stderr}")
    say(done.stdout.strip())
    return store


def _buffer_bytes() -> int:
    """The kernel's largest socket buffer, as the program finds it on both hosts."""
    files = (Path(f"/proc/sys/net/ipv4/{name}") for name in ("tcp_rmem", "tcp_wmem"))
    return min(int(file.read_text().split()[2]) for file in files)


def run_plans(
    folder: Path, data: Path, store: Path, load: str, runs: int, results: Results
) -> None:
    """Each method in turn, so that other load on the machine affects all alike."""
    known = {(one.load, one.method, one.number) for one in results.ran}
    due = [
        (number, method)
        for number in range(runs)
        for method in METHODS
        if (load, method, number) not in known
    ]
    if not due:
        return
    with _lab(folder, load) as lab:
        lab.load(True)
        for number, method in due:
            remove(_target(lab))
            ran = _planned(lab, data, store, load, method, number)
            results.add(ran)
            rate = ran.total_bytes * 8 / ran.seconds / 1e6
            say(f"  {load} {method}: {ran.seconds:.1f} s, {rate:.0f} Mbit/s {ran.trouble}")
        remove(_target(lab))


def _planned(lab: Lab, data: Path, store: Path, load: str, method: str, number: int) -> Ran:
    # A copy, so that a run does not learn from the previous one.
    own = store.with_name("own-store")
    shutil.rmtree(own, ignore_errors=True)
    shutil.copytree(store, own)
    began_s = time.monotonic()
    told, status = lab.advisor(
        *("plan", str(data), lab.endpoint, "--to", str(_target(lab)), "--run"),
        *("--method", *method.split(), "--bandwidth", "500Mbit", "--store", str(own)),
        patience_s=1800,
    )
    seconds = time.monotonic() - began_s
    events = [msgspec.convert(one, type=ev.AnyEvent, str_keys=True) for one in told]
    plans = [one for one in events if isinstance(one, ev.PlanMade)]
    ends = [one for one in events if isinstance(one, ev.TransferEnded)]
    trouble = f"status {status}" if status else difference(data, _target(lab))
    return Ran(
        load=load,
        method=method,
        number=number,
        seconds=seconds,
        sampled_s=plans[-1].at_s if plans else 0.0,
        total_bytes=ends[-1].moved_bytes if ends else 0,
        levels={
            one.size: (one.levels.concurrency, one.levels.parallelism)
            for one in (plans[-1].plan.classes if plans else ())
        },
        trouble=trouble,
    )


def tables(results: Results) -> str:
    """Markdown."""
    lines = ["| method | " + " | ".join(f"{load}, Mbit/s" for load in LOADS) + " |"]
    lines.append("|---|" + "---|" * len(LOADS))
    for method in METHODS:
        cells = [_cell(results, load, method) for load in LOADS]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    lines += ["", "| method | load | classes: files at a time × streams, from the last plan |"]
    lines.append("|---|---|---|")
    for method, load in itertools.product(METHODS, LOADS):
        found = [r for r in results.ran if (r.method, r.load) == (method, load)]
        if found:
            levels = ", ".join(f"{size} {c} × {p}" for size, (c, p) in found[0].levels.items())
            lines.append(f"| {method} | {load} | {levels} |")
    return "\n".join(lines)


def _cell(results: Results, load: str, method: str) -> str:
    found = [r for r in results.ran if (r.method, r.load) == (method, load)]
    good = [r for r in found if not r.trouble]
    if not good:
        return found[0].trouble if found else "-"
    rates = [r.total_bytes * 8 / r.seconds / 1e6 for r in good]
    each = f" ({', '.join(f'{rate:.0f}' for rate in rates)})" if len(rates) > 1 else ""
    failed = f", {len(found) - len(good)} failed" if len(found) > len(good) else ""
    return f"{fmean(rates):.0f}{each}{failed}"


def _document(results: Results, page: Path) -> None:
    before, mark, _ = page.read_text().partition("<!-- tables -->\n")
    page.write_text(f"{before}{mark}\n{tables(results)}\n")


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loads", default=",".join(LOADS))
    parser.add_argument("--no-collect", action="store_true", help="only the history that is there")
    parser.add_argument("--runs", type=int, default=1, help="of each method and load [1]")
    parser.add_argument("--out", type=Path, default=ROOT / "docs/benchmarks/plans.jsonl")
    parser.add_argument("--document", action="store_true", help="write the tables; do not measure")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = Results(options.out)
    if options.document:
        _document(results, ROOT / "docs/benchmarks-plans.md")
        return
    loads = options.loads.split(",")
    try:
        with own_folder() as folder:
            os.environ["ADVISOR_RUNTIME_DIR"] = str(folder / "advisor")
            # The remains of a killed run.
            shutil.rmtree(folder / "data", ignore_errors=True)
            data = {size: _history_data(folder / "data", size) for size in HISTORY_FILES}
            planned = _planned_data(folder / "data" / "planned")
            for load in loads:
                if not options.no_collect:
                    collect(folder, data, load, results)
                until = list(LOADS).index(load) + 1
                store = import_history(folder, list(LOADS)[:until], results)
                run_plans(folder, planned, store, load, options.runs, results)
            shutil.rmtree(folder / "data")
    except Trouble as trouble:
        sys.exit(f"plans: {trouble}")
    print(tables(results))


if __name__ == "__main__":
    main()
