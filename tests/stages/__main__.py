"""Runs linters and tests in stages, all of them, and ends with a line for each failure.

Started by root, it runs as an ordinary user what needs no root, and what touches the host as both.
"""

import collections
import contextlib
import ctypes
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .ordinary import Ordinary, paced, why_not
from .summary import Failure, Outcome, of_command, of_pytest

_BIN = ".venv/bin"
_LINTERS = (
    [f"{_BIN}/ruff", "check", "."],
    [f"{_BIN}/ruff", "format", "--check", "."],
    [f"{_BIN}/mypy"],
    ["env", "PYTHONPATH=.", f"{_BIN}/lint-imports"],
)
_QUICK = ["--dist=loadfile", "tests/unit", "tests/plugins", "tests/hostile"]
_SCREENS = ["--dist=loadfile", "tests/tui"]
# Among the folders below, what reads and writes text and computes, the same for every account.
_TEXT_AND_NUMBERS = (
    "unit/agent/test_messages",
    "unit/cli/share/test_share",
    "unit/cli/share/test_share_asking",
    "unit/cli/share/test_share_models",
    "unit/cli/test_backtest",
    "unit/cli/test_completion",
    "unit/cli/test_config",
    "unit/cli/test_help",
    "unit/cli/test_import_hygiene",
    "unit/cli/test_profile",
    "unit/cli/test_usage",
    "unit/runtime/test_executor",
    "unit/store/test_digests",
    "unit/store/test_exchange",
    "unit/store/test_history_command",
    "unit/store/test_importers",
    "unit/store/test_matching",
    "unit/store/test_server_logs",
    "unit/store/test_transfer_tables",
    "unit/transfer/test_retuning",
    "hostile/test_imported_records",
    "hostile/test_imports",
    "hostile/test_nesting",
    "hostile/test_saved_states",
    "hostile/test_text",
)
# Processes of one account: the same for every account.
_ONE_ACCOUNT = (
    "plugins/tools/test_globus_url_copy_accepted",
    "unit/agent/test_several_probes",
    "unit/hosts/test_processes_cancelled",
    "unit/store/test_processes",
    "hostile/test_silent_peer",
)
# A server of PostgreSQL is asked, which never runs as root.
_DATABASES = (
    "unit/cli/test_fleet_apply",
    "unit/cli/test_fleet_looking",
    "unit/cli/test_fleet_metrics",
    "unit/cli/test_fleet_report",
    "unit/cli/test_fleet_transfers",
    "unit/cli/test_store",
    "unit/store/test_shared",
    "unit/store/test_shared_spool",
    "hostile/test_fleet_database",
    "hostile/test_shared_history",
)
# What asks the kernel, starts processes or shares files: another answer for root may be.
_HOST = [
    "--dist=loadfile",
    *(f"tests/unit/{name}" for name in ("hosts", "agent", "store", "lab", "probing")),
    *(f"tests/unit/{name}" for name in ("runtime", "transfer", "cli")),
    *(
        *(f"--ignore=tests/{name}.py" for name in (*_TEXT_AND_NUMBERS, *_ONE_ACCOUNT, *_DATABASES)),
        "tests/hostile",
        "tests/plugins/tools",
        "tests/plugins/test_pyudt.py",
        "tests/unit/test_bare_bench.py",
    ),
]
_SYSTEM = ["--dist=loadfile", "--durations=10", "tests/system", "-m"]
_FIGURES = ["--durations=5", "tests/system", "-m", "figures and not soak"]
_MAIN_JOB = [f"{_BIN}/advisor", "advise", "localhost"]
_LONGEST_STAGE_S = 3600.0
_KEPT_LINES = 200
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Stage:
    """`commands` run one after the other, whatever became of those before.

    `is_paced`: where root may make networks, loopback carries what a network does, not all that the
    cores can copy, so that a session of seconds takes no core for as long.
    """

    name: str
    commands: tuple[list[str], ...]
    as_ordinary_user: bool = False
    is_paced: bool = False


def _pytest(*words: str, workers: int = 0) -> list[str]:
    number = [f"--numprocesses={workers}"] if workers else []
    return [f"{_BIN}/pytest", *number, *words]


def plan(with_both: bool) -> list[list[list[Stage]]]:
    """Phases one after the other; in a phase lanes side by side, in a lane stages in turn.

    `with_both`: root starts it, and there is an ordinary user as well.
    """
    linters = Stage("check", _LINTERS)
    figures = Stage("figures", (_pytest(*_FIGURES),))
    quick = Stage("quick", (_pytest(*_QUICK, workers=2),), with_both, is_paced=True)
    screens = Stage("screens", (_pytest(*_SCREENS, workers=2),), with_both, is_paced=True)
    main_job = Stage("main job", (_MAIN_JOB,), with_both, is_paced=True)
    others = "not figures and not soak"
    system = Stage("system", (_pytest(*_SYSTEM, others, workers=3),), with_both, is_paced=True)
    if not with_both:
        return [[[linters, screens, main_job], [quick, system]], [[figures]]]
    host = Stage("host, root", (_pytest(*_HOST, workers=2),))
    system_by_root = Stage(
        "system, root", (_pytest(*_SYSTEM, f"as_root and {others}", workers=2),), is_paced=True
    )
    # The lanes end at about the same time.
    return [
        [[linters, host, quick, screens], [system, system_by_root, main_job]],
        [[figures]],
    ]


class Runner:
    """All stages of a plan, and what they came to."""

    def __init__(self, ordinary: Ordinary | None, results: Path, outcome: Outcome) -> None:
        self.outcome = outcome
        self.took_s: dict[str, float] = {}
        self._ordinary = ordinary
        self._results = results
        # Tests kill programs, which leave their temporary files: these end with the folder.
        self._tmp = results / "t"
        self._tmp.mkdir()
        for folder, mode in ((results, 0o711), (self._tmp, 0o1777)):
            folder.chmod(mode)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[str]] = set()
        self._over = False
        self._threads: list[threading.Thread] = []

    def run(self, phases: list[list[list[Stage]]]) -> None:
        for lanes in phases:
            self._threads = [threading.Thread(target=self._lane, args=(lane,)) for lane in lanes]
            for thread in self._threads:
                thread.start()
            for thread in self._threads:
                thread.join()

    def end(self) -> None:
        """Kill what runs, and start nothing more."""
        with self._lock:
            self._over = True
            for process in self._running:
                _kill(process)
        for thread in self._threads:
            thread.join()

    def _lane(self, stages: list[Stage]) -> None:
        for stage in stages:
            began_s = time.monotonic()
            for number, command in enumerate(stage.commands):
                if self._over:
                    return
                try:
                    outcome = self._command(stage, number, command)
                except Exception as error:  # noqa: BLE001 -- a defect of a stage fails that stage
                    outcome = Outcome(failures=[Failure(stage.name, command[0], repr(error))])
                with self._lock:
                    self.outcome.add(outcome)
            self.took_s[stage.name] = time.monotonic() - began_s

    def _command(self, stage: Stage, number: int, command: list[str]) -> Outcome:
        what = " ".join(word.removeprefix(f"{_BIN}/") for word in command)
        is_pytest = command[0] == f"{_BIN}/pytest"
        unique = f"{stage.name.replace(' ', '-').replace(',', '')}-{number}"
        report = self._results / f"{unique}.json"
        results = self._results / f"{unique}.xml"
        written = results
        if stage.as_ordinary_user and self._ordinary:
            # That user's /tmp is a folder of ours.
            results = self._ordinary.folder / results.name
            written = Path("/tmp", results.name)
        if is_pytest:
            command = [*command, f"--junitxml={written}", "--override-ini=junit_family=xunit1"]
        output = self._hold(stage, report, command)
        try:
            status, left = json.loads(report.read_bytes())
        except (OSError, ValueError):
            status, left = -signal.SIGKILL, []
        if is_pytest:
            text = results.read_text(errors="replace") if results.exists() else None
            outcome = of_pytest(stage.name, status, text, output)
        else:
            outcome = of_command(stage.name, what, status, output)
        outcome.failures += [Failure(stage.name, "a process is left", line) for line in left]
        return outcome

    def _hold(self, stage: Stage, report: Path, command: list[str]) -> list[str]:
        """Run it to its end; its last lines."""
        if stage.as_ordinary_user and self._ordinary:
            line = self._ordinary.held(report, command, stage.is_paced)
        else:
            holder = str(Path(__file__).with_name("holder.py"))
            line = [sys.executable, holder, str(report), "--", *command]
            line = paced(line) if stage.is_paced and self._ordinary else line
        with self._lock:
            if self._over:
                return ["not started"]
            process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                env={**os.environ, "TMPDIR": str(self._tmp)},
                start_new_session=True,
                preexec_fn=functools.partial(_end_with_parent, _ending_signal(line)),
            )
            self._running.add(process)
        guard = threading.Timer(_LONGEST_STAGE_S, _kill, (process,))
        guard.start()
        kept: collections.deque[str] = collections.deque(maxlen=_KEPT_LINES)
        try:
            assert process.stdout is not None
            for text in process.stdout:
                kept.append(text)
                print(f"[{stage.name}] {text}", end="", flush=True)
            process.wait()
        finally:
            guard.cancel()
            with self._lock:
                self._running.discard(process)
        return list(kept)


def _ending_signal(line: list[str]) -> signal.Signals:
    """A holder ends what is below it; the parent of a PID namespace takes all of it along."""
    return signal.SIGKILL if "--kill-child" in line else signal.SIGTERM


def _kill(process: subprocess.Popen[str]) -> None:
    assert isinstance(process.args, list)
    process.send_signal(_ending_signal(process.args))


def _end_with_parent(number: signal.Signals) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def _named_namespaces() -> set[str]:
    with contextlib.suppress(OSError):
        return {entry.name for entry in Path("/run/netns").iterdir()}
    return set()


@contextlib.contextmanager
def _ordinary(outcome: Outcome) -> Iterator[Ordinary | None]:
    """What the stages of an ordinary user need, if root is who runs this and it can be made."""
    if os.geteuid() != 0:
        yield None
        return
    if why := why_not():
        outcome.skip("an ordinary user's stages", why)
        yield None
        return
    with contextlib.closing(Ordinary()) as ordinary:
        try:
            ordinary.make()
        except (OSError, subprocess.CalledProcessError) as error:
            outcome.failures.append(Failure("all", "an ordinary user's checkout", str(error)))
            yield None
        else:
            yield ordinary


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _interrupted(*_: object) -> None:
    # Once is enough: what follows removes what was made.
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def main() -> int:
    for number in _SIGNALS:
        signal.signal(number, _interrupted)
    # Otherwise each of the thousands of programs that tests start compiles all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    began_s, before = time.monotonic(), _named_namespaces()
    status, outcome = 0, Outcome()
    try:
        with tempfile.TemporaryDirectory(prefix="t") as results, _ordinary(outcome) as ordinary:
            runner = Runner(ordinary, Path(results), outcome)
            try:
                runner.run(plan(with_both=ordinary is not None))
            finally:
                runner.end()
            for name, took_s in runner.took_s.items():
                print(f"{name}: {took_s:.0f} s")
    except KeyboardInterrupt:
        status = 130
        outcome.failures.append(Failure("all", "interrupted", "not all stages ran"))
    left = {name for name in _named_namespaces() - before if name.startswith("adv")}
    outcome.failures += [Failure("all", "a namespace is left", name) for name in sorted(left)]
    print(f"all: {time.monotonic() - began_s:.0f} s")
    print(outcome, flush=True)
    return status or bool(outcome.failures)


if __name__ == "__main__":
    sys.exit(main())
