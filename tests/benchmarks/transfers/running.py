"""Runs everything in order, except what is already in the results."""

from __future__ import annotations

import shutil
import tempfile
import threading
import time
from itertools import groupby
from pathlib import Path
from typing import Final

import msgspec

from tests.benchmarks.disk.files import remove
from tests.benchmarks.transfers.cases import (
    ALL_CONDITIONS,
    BEST,
    CONDITIONS,
    DECIDED,
    DEFAULT_SETTING,
    PAIR_PART,
    PAIRED,
    PLAIN,
    SWEEP_START,
    SWEPT,
    Load,
    Plan,
    Task,
    limit_words,
    option_words,
)
from tests.benchmarks.transfers.labs import (
    FAR,
    LoadedLab,
    check_room,
    make_sources,
    one_path,
    two_paths,
)
from tests.benchmarks.transfers.progress import TimeLeft
from tests.benchmarks.transfers.results import Results, Run, Swept
from tests.benchmarks.transfers.summary import best_setting, rate_bps
from tests.benchmarks.transfers.watching import Seen, Turn, Watch, advisor_argv
from tests.benchmarks.wan.hosts import Trouble
from tests.benchmarks.wan.results import Late

_DATA: Final = "data"
_PLUGINS: Final = Path(__file__).parent / "alternating"
_SWEEP_TRIES: Final = 3
"""Nobody is there to start it again, and a single failure may pass."""

_SETTLE_S: Final = 3.0
"""The time for the load's streams to reach their share before a transfer starts."""


def left_s(plan: Plan, results: Results) -> float:
    """The estimated duration of what is not in the results yet."""
    done_s = sum(task.whole_s for task in plan.tasks if results.has(task, plan.epoch_s))
    swept_s = sum(
        len(results.swept(load, plan.sweep_s)) * plan.swept_s(load) for load in plan.swept_loads
    )
    return max(0.0, plan.estimate_s - done_s - swept_s)


def run_plan(folder: Path, plan: Plan, results: Results) -> None:
    """Run the rest. `folder`: in memory, for the received files."""
    check_room(folder, plan.seconds)
    due = [task for task in plan.tasks if not results.has(task, plan.epoch_s)]
    with (
        tempfile.TemporaryDirectory(dir=folder) as place,
        TimeLeft(left_s(plan, results)) as progress,
    ):
        make_sources(Path(place) / _DATA, plan.seconds)
        for (part, condition), tasks in groupby(due, key=lambda task: (task.part, task.condition)):
            with two_paths(folder) if part == PAIR_PART else one_path(folder) as lab:
                bench = _Bench(lab, Path(place), plan, results, progress)
                for task in tasks:
                    bench.run(task)
                if late := lab.late():
                    case = f"{part} {condition}"
                    results.add(Late(case=case, part=part, p99_s=late[0], most_s=late[1]))


class _Bench:
    """On one lab, which is up."""

    def __init__(
        self, lab: LoadedLab, place: Path, plan: Plan, results: Results, progress: TimeLeft
    ) -> None:
        self._lab = lab
        self._place = place
        self._data = place / _DATA
        self._plan = plan
        self._results = results
        self._progress = progress
        self._load = Load()

    def run(self, task: Task) -> None:
        if task.part == PAIR_PART:
            self._run_pair(task)
            return
        best = self._best(task.condition) if task.contestant == BEST else DEFAULT_SETTING
        first, *then = ALL_CONDITIONS[task.condition].loads
        self._begin(f"{task.condition}: {task.contestant}", first)
        turn = (self._plan.turn_s, lambda: self._put(then[0])) if then else None
        argv = self._argv(FAR, task.contestant, best, task.number)
        prints_events = task.contestant != PLAIN
        watch = self._watch(FAR, argv, task.seconds, turn=turn, prints_events=prints_events)
        run = self._run_of(task, watch.run(), setting=best if task.contestant == BEST else "")
        self._keep(task, [run])

    def _run_pair(self, task: Task) -> None:
        """Both at once, each tuned independently."""
        self._begin(f"two at once {task.contestant}", Load())
        price = ["--price", task.contestant] if task.contestant else []
        seen: dict[str, Seen] = {}

        def run(host: str) -> None:
            argv = [*self._argv(host, PAIRED, seed=task.number), *price]
            seen[host] = self._watch(host, argv, task.seconds).run()

        threads = [threading.Thread(target=run, args=(host,)) for host in self._lab.hosts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._keep(task, [self._run_of(task, one, host=host) for host, one in seen.items()])

    def _best(self, condition: str) -> str:
        """The best fixed setting, by the sweeps under the condition's loads."""
        loads = CONDITIONS[condition].loads
        for load in loads:
            self._sweep(load)
        return best_setting([self._results.swept(load, self._plan.sweep_s) for load in loads])

    def _sweep(self, load: Load) -> None:
        seconds = self._plan.sweep_s
        for setting in SWEPT:
            if setting in self._results.swept(load, seconds):
                continue
            for _ in range(_SWEEP_TRIES):
                self._begin(f"sweep {load.key}: {setting}", load)
                seen = self._watch(FAR, self._argv(FAR, setting), seconds).run()
                if not seen.trouble:
                    break
            else:
                raise Trouble(f"sweep, {setting}: {seen.trouble}")
            bps = rate_bps(seen.looks, SWEEP_START * seconds)
            self._results.add(Swept(load=load.key, setting=setting, seconds=seconds, bps=bps))
            words = f"sweep {load.key}: {setting} gave {bps / 1e6:.0f} Mbit/s"
            self._progress.ended(words, self._plan.swept_s(load))

    def _begin(self, what: str, load: Load) -> None:
        self._progress.begins(what)
        for host in self._lab.hosts:
            remove(self._lab.target(host))
        if load != self._load:
            self._put(load)
            time.sleep(_SETTLE_S)

    def _put(self, load: Load) -> None:
        self._lab.put(load)
        self._load = load

    def _argv(
        self, host: str, contestant: str, best: str = DEFAULT_SETTING, seed: int = 0
    ) -> list[str]:
        target = str(self._lab.target(host))
        if contestant == PLAIN:
            concurrency, parallelism = DEFAULT_SETTING.split("x")
            argv = advisor_argv("lab", "exec", self._lab.name, "--", "globus-url-copy", "-fast")
            argv += ["-cc", concurrency, "-p", parallelism, "-bs", "1048576", "-r", "-cd"]
            return [*argv, f"file://{self._data}/", f"{self._lab.server(host)}{target}/"]
        argv = advisor_argv("transfer", str(self._data), self._lab.endpoint_of(host), "--json")
        argv += ["--to", target, "--restart", "--seed", str(seed), *limit_words()]
        if not contestant.endswith(DECIDED):
            argv += ["--epoch", f"{self._plan.epoch_s:g}s"]
        return argv + option_words(contestant, best)

    def _watch(
        self,
        host: str,
        argv: list[str],
        seconds: float,
        *,
        turn: Turn = None,
        prints_events: bool = True,
    ) -> Watch:
        # Nothing is learnt from one run for the next.
        home = self._place / host
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir()
        more = {"XDG_DATA_HOME": str(home), "XDG_STATE_HOME": str(home)}
        more["ADVISOR_PLUGINS"] = str(_PLUGINS)
        target = self._lab.target(host)
        return Watch(argv, target, seconds, more=more, turn=turn, prints_events=prints_events)

    def _run_of(self, task: Task, seen: Seen, *, setting: str = "", host: str = "") -> Run:
        return Run(
            part=task.part,
            condition=task.condition,
            contestant=task.contestant,
            number=task.number,
            seconds=task.seconds,
            epoch_s=self._plan.epoch_s,
            setting=setting,
            looks=seen.looks,
            flows=seen.reported.flows,
            changes=seen.reported.changes,
            moved_bytes=seen.reported.moved_bytes,
            turned_s=seen.turned_s,
            host=host,
            trouble=seen.trouble,
        )

    def _keep(self, task: Task, runs: list[Run]) -> None:
        # A pair of which one failed is measured again as a whole.
        trouble = next((run.trouble for run in runs if run.trouble), "")
        for run in runs:
            self._results.add(msgspec.structs.replace(run, trouble=trouble))
        rates = ", ".join(f"{rate_bps(run.looks) / 1e6:.0f}" for run in runs)
        words = f"{task.part} {task.condition} {task.contestant} {runs[0].setting}"
        self._progress.ended(f"{words}: {rates} Mbit/s {trouble}", task.whole_s)
        for host in self._lab.hosts:
            remove(self._lab.target(host))
