"""Mixed files under three loads: HARP's plan, the rules of thumb, and classes tuned one by one.

    python -m tests.benchmarks.plans               everything that is missing, hours
    python -m tests.benchmarks.plans --document    the tables, into docs/benchmarks-plans.md

An emulated path of 45.6 ms and 500 Mbit/s. First every class of files is moved by
globus-url-copy at settings up to concurrency 32 under each load; that is the history, imported
by `advisor history import` as a table in the format of HARP's authors. Then other files, of all
classes, are moved under each load: by `advisor plan --run` with each method in turn, and class
after class by `advisor transfer` with the methods that the paper compares HARP with and
`bayes`. The commands are timed from their start to their end. Every copy is compared with its
source. Runs unattended on an idle machine; an interrupted run is resumed, and each result is on
disk before the next run begins.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import numpy as np

from advisor.domain import events as ev
from advisor.domain.space import concurrency_of, parallelism_of
from advisor.lab.state import LabFolder, state_of
from advisor.models.file_classes import Size
from tests.benchmarks.disk.files import difference, remove
from tests.benchmarks.disk.shell import Shell
from tests.benchmarks.plans.cases import (
    EACH,
    EPOCH,
    FIRST,
    LOADS,
    RATE_BPS,
    RTT_S,
    RUNS,
    SECOND,
    SEED,
)
from tests.benchmarks.plans.document import series_text, write_part
from tests.benchmarks.plans.results import Moved, Ran, Results, has_settled
from tests.benchmarks.wan import cases as wan
from tests.benchmarks.wan.hosts import ROOT, Lab, Trouble, own_folder
from tests.benchmarks.wan.running import say

FOLDER = ROOT / "docs/benchmarks"
PAGE = ROOT / "docs/benchmarks-plans.md"
SCALES = {"whole": 1.0, "smoke": 0.02}
"""Of the number of files: a smoke run shows that everything works."""


def _write(folder: Path, names_and_sizes: Iterator[tuple[str, int]]) -> Path:
    """Files of random bytes, the same ones each time."""
    rng = np.random.default_rng(SEED)
    for name, size in names_and_sizes:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(rng.bytes(size))
    return folder


def _history_data(folder: Path, size: Size) -> Path:
    count, each = SECOND.history_files[size]
    return _write(folder / size, ((f"{n:04d}", each) for n in range(count)))


def _planned_data(folder: Path, scale: float) -> Path:
    rng = np.random.default_rng(SEED)
    return _write(
        folder,
        (
            (f"{size}/{n // 500}/{n:04d}", int(rng.integers(least, most)))
            for size, (count, least, most) in SECOND.planned_files.items()
            for n in range(max(1, round(count * scale)))
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


def collect(
    folder: Path,
    data: Mapping[Size, Path],
    load: str,
    settings: tuple[tuple[int, int], ...],
    results: Results,
) -> None:
    """Each class at every setting, as globus-url-copy alone moves it."""
    known = {(m.load, m.size, m.concurrency, m.parallelism) for m in results.moved}
    wanted = [
        (size, *levels)
        for size in data
        for levels in settings
        if (load, size, *levels) not in known
    ]
    if not wanted:
        return
    with _lab(folder, load) as lab:
        lab.load(True)
        target = _target(lab)
        server = state_of(lab.endpoint.removeprefix("lab:")).far("far").gridftp_url or ""
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


def import_history(folder: Path, results: Results) -> Path:
    """A store with the history of all loads, imported from the table."""
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
        for one in results.moved:
            count, each = SECOND.history_files[one.size]
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


def run_methods(
    folder: Path,
    data: Path,
    store: Path,
    load: str,
    methods: Sequence[str],
    runs: int,
    results: Results,
) -> None:
    """Each method in turn, so that other load on the machine affects all alike."""
    due = [
        (number, method)
        for number in range(runs)
        for method in methods
        if not results.has(load, method, number)
    ]
    if not due:
        return
    with _lab(folder, load) as lab:
        lab.load(True)
        for number, method in due:
            remove(_target(lab))
            # A copy, so that a run does not learn from the previous one.
            own = store.with_name("own-store")
            shutil.rmtree(own, ignore_errors=True)
            shutil.copytree(store, own)
            run = _tuned if method.startswith(EACH) else _planned
            ran = run(lab, data, own, load, method, number)
            results.add(ran)
            say(f"  {load} {method}: {ran.seconds:.1f} s, {ran.bps / 1e6:.0f} Mbit/s {ran.trouble}")
        remove(_target(lab))


def _planned(lab: Lab, data: Path, store: Path, load: str, method: str, number: int) -> Ran:
    began_s = time.monotonic()
    reported, status = lab.advisor(
        *("plan", str(data), lab.endpoint, "--to", str(_target(lab)), "--run"),
        *("--method", *method.split(), "--bandwidth", "500Mbit", "--store", str(store)),
        timeout_s=3600,
    )
    seconds = time.monotonic() - began_s
    events = _events(reported)
    plans = [one for one in events if isinstance(one, ev.PlanMade)]
    levels = {
        one.size: (one.levels.concurrency, one.levels.parallelism)
        for one in (plans[-1].plan.classes if plans else ())
    }
    changes = [one for one in events if isinstance(one, ev.PlanChanged)]
    for one in changes:
        levels[one.size] = (one.new.concurrency, one.new.parallelism)
    return Ran(
        load=load,
        method=method,
        number=number,
        seconds=seconds,
        sampled_s=plans[-1].at_s if plans else 0.0,
        total_bytes=_moved_bytes(events),
        levels=levels,
        trouble=_failure(status, events) if status else difference(data, _target(lab)),
        changes=len(changes),
    )


def _tuned(lab: Lab, data: Path, store: Path, load: str, method: str, number: int) -> Ran:
    """Class after class, each tuned by itself, as HARP's paper says of PCP and ANN+OT."""
    seconds, total_bytes, changes, trouble = 0.0, 0, 0, ""
    levels: dict[str, tuple[int, int]] = {}
    settled: dict[str, bool] = {}
    for part in sorted(data.iterdir()):
        began_s = time.monotonic()
        reported, status = lab.advisor(
            *("transfer", str(part), lab.endpoint, "--to", str(_target(lab) / part.name)),
            *("--method", method.removeprefix(EACH).strip(), "--epoch", EPOCH),
            *("--bandwidth", "500Mbit", "--store", str(store)),
            timeout_s=3600,
        )
        seconds += time.monotonic() - began_s
        events = _events(reported)
        total_bytes += _moved_bytes(events)
        changes += sum(isinstance(one, ev.SettingChanged) for one in events)
        epochs = [one for one in events if isinstance(one, ev.EpochEnded)]
        settled[part.name] = has_settled(epochs)
        last = epochs[-1].setting if epochs else {}
        levels[part.name] = (concurrency_of(last), parallelism_of(last))
        if status:
            trouble = f"{part.name}: {_failure(status, events)}"
    return Ran(
        load=load,
        method=method,
        number=number,
        seconds=seconds,
        sampled_s=0.0,
        total_bytes=total_bytes,
        levels=levels,
        trouble=trouble or difference(data, _target(lab)),
        changes=changes,
        settled=settled,
    )


def _events(reported: list[dict[str, object]]) -> list[ev.Event]:
    return [msgspec.convert(one, type=ev.AnyEvent, str_keys=True) for one in reported]


def _failure(status: int, events: list[ev.Event]) -> str:
    said = [one.message for one in events if isinstance(one, ev.GaveUp | ev.TransferEnded)]
    return f"status {status}: {said[-1] if said else 'it said nothing'}"


def _moved_bytes(events: list[ev.Event]) -> int:
    ends = [one for one in events if isinstance(one, ev.TransferEnded)]
    return ends[-1].moved_bytes if ends else 0


def document(out: Path) -> None:
    """Write both series' parts of the page."""
    for key, series, file in (("first", FIRST, FOLDER / FIRST.file), ("second", SECOND, out)):
        write_part(PAGE, key, series_text(series, Results(file)))


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--loads", default=",".join(LOADS))
    parser.add_argument(
        "--methods",
        default=",".join(SECOND.methods),
        help="those of the series, separated by commas [all]",
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"of each method and load [{RUNS}]")
    parser.add_argument("--out", type=Path, default=FOLDER / SECOND.file)
    parser.add_argument(
        "--scale",
        choices=SCALES,
        default="whole",
        help="smoke: one in fifty files, and four settings of the history [whole]",
    )
    parser.add_argument("--document", action="store_true", help="write the tables; do not measure")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if options.document:
        document(options.out)
        return
    methods = options.methods.split(",")
    if unknown := set(methods) - set(SECOND.methods):
        parser.error(f"no method of the series: {', '.join(sorted(unknown))}")
    results = Results(options.out)
    try:
        measure(options.loads.split(","), methods, options.runs, options.scale, results)
    except Trouble as trouble:
        sys.exit(f"plans: {trouble}")
    print(series_text(SECOND, results))


def measure(
    loads: Sequence[str], methods: Sequence[str], runs: int, scale: str, results: Results
) -> None:
    """Everything that is missing. Raises Trouble."""
    settings = SECOND.settings if scale == "whole" else ((2, 1), (2, 4), (8, 1), (8, 4))
    with own_folder() as folder:
        os.environ["ADVISOR_RUNTIME_DIR"] = str(folder / "advisor")
        # The remains of a killed run.
        shutil.rmtree(folder / "data", ignore_errors=True)
        data = {size: _history_data(folder / "data", size) for size in SECOND.history_files}
        planned = _planned_data(folder / "data" / "planned", SCALES[scale])
        for load in loads:
            collect(folder, data, load, settings, results)
        store = import_history(folder, results)
        for load in loads:
            run_methods(folder, planned, store, load, methods, runs, results)
        shutil.rmtree(folder / "data")
