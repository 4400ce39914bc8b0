"""Runs everything in order, except what is already in the results."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Final

from advisor.domain.endpoints import Pair
from advisor.domain.records import ShareRecord
from advisor.domain.shares import SharePurpose
from advisor.store.history import Store
from advisor.transfer.shared.session import source_name
from tests.benchmarks.disk.files import remove
from tests.benchmarks.shares.cases import (
    REPEAT,
    REPEAT_LOAD,
    STREAMS,
    TRAIN,
    Plan,
    Task,
    asked,
    load_sequence,
    trained_order,
)
from tests.benchmarks.shares.labs import check_room, five_hosts, make_source
from tests.benchmarks.shares.loading import varying
from tests.benchmarks.shares.results import Loaded, Results, Run, samples_in
from tests.benchmarks.shares.thinning import EVERY_S, thinned
from tests.benchmarks.shares.watching import watch
from tests.benchmarks.transfers.cases import Load
from tests.benchmarks.transfers.labs import LoadedLab
from tests.benchmarks.transfers.progress import TimeLeft
from tests.benchmarks.transfers.watching import advisor_argv
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Late

_SEED: Final = 11
_ROOM: Final = 3.0
"""What arrives takes room for this many times as long as until it is given back."""

_TIME_FOR_STEPS: Final = 2.0
"""The time that a test is given: it is ended when it has reported enough steps."""

_TIMEOUT_FACTOR: Final = 2.5
"""The time limit of a command, as a multiple of its estimated duration."""

_ARRIVED: Final = "arrived"
"""As `LoadedLab.target` has it."""

_SETTLE_S: Final = 3.0
"""The time for the first load's streams to reach their share before anything is measured."""


def left_s(plan: Plan, results: Results) -> float:
    """The estimated duration of what is not in the results yet."""
    return sum(task.whole_s for task in plan.tasks if not results.has(task))


def run_plan(folder: Path, plan: Plan, results: Results) -> None:
    """Run the rest. `folder`: in memory, for the received files."""
    due = [task for task in plan.tasks if not results.has(task)]
    longest_s = max((task.whole_s for task in due if task.is_plan), default=0.0)
    check_room(folder, _ROOM * EVERY_S)
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        TimeLeft(left_s(plan, results)) as progress,
    ):
        make_source(Path(place) / "data", longest_s)
        for part, tasks in groupby(due, key=lambda task: task.part):
            with five_hosts(folder) as lab:
                bench = _Bench(lab, Path(place), plan, results, progress)
                put, lasts_s = partial(bench.put, part), plan.load_s_of(part)
                with varying(put, bench.loads_of(part), lasts_s) as check:
                    time.sleep(_SETTLE_S)
                    for task in tasks:
                        bench.run(task)
                        check()
                if late := lab.late():
                    results.add(Late(case=part, part=part, p99_s=late[0], most_s=late[1]))


class _Bench:
    """On the lab, which is up."""

    def __init__(
        self, lab: LoadedLab, place: Path, plan: Plan, results: Results, progress: TimeLeft
    ) -> None:
        self._lab = lab
        self._place = place
        self._plan = plan
        self._results = results
        self._progress = progress
        self._store = place / "store"
        fill_store(self._store, lab, results)

    def loads_of(self, part: str) -> Iterator[int]:
        """The loads of a part, one after the other."""
        if part == REPEAT:
            return iter([REPEAT_LOAD])
        # The sequence continues where it stopped: no part repeats the loads of another.
        return islice(load_sequence(_SEED), len(self._results.all(Loaded)), None)

    def put(self, part: str, transfers: int) -> None:
        """From now on this many competing streams."""
        self._lab.put(Load(transfers=transfers))
        now_s, lasts_s = round(time.time(), 2), self._plan.load_s_of(part)
        self._results.add(Loaded(when_s=now_s, transfers=transfers, part=part, lasts_s=lasts_s))

    def run(self, task: Task) -> None:
        """Run it and store the result. Raises Trouble if it failed and later tasks need it."""
        name = task.case if task.is_plan else f"{task.epochs or 'all'} steps"
        self._progress.begins(f"{task.part} {name}")
        argv = self._plan_argv(task) if task.is_plan else self._train_argv(task)
        home = self._place / "home"
        more = {"XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home)}
        began_s = time.monotonic()
        folders = [self._lab.target(host) for host in self._lab.hosts]
        with thinned(folders if task.is_plan else ()):
            watched, trouble = watch(
                argv, task.epochs, timeout_s=_TIMEOUT_FACTOR * task.whole_s, more=more
            )
        self._results.add(
            Run(
                part=task.part,
                case=task.case,
                number=task.number,
                epoch_s=task.epoch_s,
                epochs=task.epochs,
                lasts_s=task.lasts_s,
                seen=watched.seen,
                planned=watched.planned,
                most=self._plan.most if task.is_plan else 0,
                trouble=trouble,
            )
        )
        for host in self._lab.hosts:
            remove(self._lab.target(host))
        shutil.rmtree(home, ignore_errors=True)
        took_s = time.monotonic() - began_s
        words = f"{task.part} {name}, run {task.number + 1}: {took_s:.0f} s {trouble}"
        self._progress.ended(words, task.whole_s)
        if trouble and task.part == TRAIN:
            raise Trouble(f"training: {trouble}")

    def _train_argv(self, task: Task) -> list[str]:
        ends = [self._lab.endpoint_of(host) for host in trained_order(task.part)]
        argv = advisor_argv("share", "train", *ends, "--to", self._target("").rstrip("/"))
        lasts_s = task.lasts_s or _TIME_FOR_STEPS * task.epochs * task.epoch_s
        argv += ["--time", f"{lasts_s:g}s", "--step", f"{task.epoch_s:g}s"]
        argv += ["--most", str(self._plan.most), "--streams", str(STREAMS)]
        return [*argv, "--store", str(self._store), "--json"]

    def _plan_argv(self, task: Task) -> list[str]:
        ends = [
            f"{self._lab.endpoint_of(host)}={what}" if what else self._lab.endpoint_of(host)
            for host, what in asked(task.case).items()
        ]
        argv = advisor_argv("share", "plan", *ends, "--to", self._target(_ARRIVED))
        argv += ["--data", str(self._place / "data"), "--most", str(self._plan.most)]
        argv += ["--run", "--epoch", f"{task.epoch_s:g}s", "--restart"]
        return [*argv, "--store", str(self._store), "--json"]

    def _target(self, name: str) -> str:
        """Where files go to on every host, with `%h` for its name."""
        [first, *_] = self._lab.hosts
        folder = self._lab.target(first).parent
        return str(folder.with_name("%h") / name)


def fill_store(folder: Path, lab: LoadedLab, results: Results) -> None:
    """A store with all earlier measurements, as the commands themselves would store them."""
    shutil.rmtree(folder, ignore_errors=True)
    store = Store(folder)
    for run in results.all(Run):
        if run.trouble:
            continue
        purpose: SharePurpose = "run" if run.planned else "train"
        for epoch in run.seen:
            levels = {row.destination: row.concurrency for row in epoch.rows}
            for host, served in samples_in(epoch).items():
                store.append(
                    ShareRecord(
                        pair=Pair(source_name(), lab.endpoint_of(host)),
                        recorded_s=served.when_s,
                        session="bench",
                        served=served,
                        parallelism=STREAMS,
                        others={other: n for other, n in levels.items() if other != host},
                        purpose=purpose,
                    )
                )
