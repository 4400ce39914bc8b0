"""Runs everything in order, except what is already in the results."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import msgspec

from advisor.domain.space import Setting
from tests.benchmarks.disk.cases import BEFORE, RATE, Case, Plan
from tests.benchmarks.disk.cell_lines import Wanted
from tests.benchmarks.disk.dataset import make_dataset
from tests.benchmarks.disk.results import Ran, Results, Session
from tests.benchmarks.disk.sessions import cells_of, session_of
from tests.benchmarks.disk.shell import Shell
from tests.benchmarks.disk.sweeping import advised, left_to_sweep, sweep
from tests.benchmarks.disk.tools import BenchTool, Place
from tests.benchmarks.wan import cases as wan
from tests.benchmarks.wan.hosts import Lab
from tests.benchmarks.wan.results import Late, Timed
from tests.benchmarks.wan.running import say

_SEED = 1


def run_case(folder: Path, case: Case, plan: Plan, results: Results) -> None:
    """The sessions, their lines and the default's in turn, and the sweep; all on one lab."""
    if is_complete(case, plan, results):
        return
    say(f"({case.key}) {case.files} files, {case.total_bytes / 1e6:.0f} MB")
    data_folder = folder / "data" / case.key
    data = make_dataset(data_folder, case)
    try:
        with (
            Lab(folder, _path_of(case), _SEED) as lab,
            _with_congestion(lab, case.congestion),
            case.tool.place(lab, data) as offered,
            patch.dict(os.environ, offered.environment),
        ):
            own = offered.target / data.name if case.tool.keeps_name else offered.target
            place = replace(offered, target=own)
            target = place.target
            for method in plan.sessions:
                if results.session(case.key, method):
                    continue
                with _timed(case, f"session {method}", results):
                    results.add(_advise(lab, case, plan, method, data, place))
                place.clear(target)
            with lab.running([sys.executable, "-m", "tests.benchmarks.disk.inside"]) as process:
                shell = Shell(process, data, target, case.rtt_s, place.clear)
                with _timed(case, "lines", results):
                    _run_lines(shell, case, plan, results)
                if plan.sweep and advised(case, results):
                    with _timed(case, "sweep", results):
                        sweep(shell, case, results)
            if late := lab.late():
                results.add(Late(case=case.key, part="all", p99_s=late[0], most_s=late[1]))
    finally:
        shutil.rmtree(data_folder)


def _path_of(case: Case) -> wan.Case:
    """As the lab of the other bench has it; each host's kernel with its own congestion control."""
    name, _, _ = case.key.partition("-")
    return wan.Case(
        key=case.key,
        title=case.title,
        rtt_s=case.rtt_s,
        options=("--path", f"rtt-{name}", "--rate", RATE, *case.path),
        congestion="",
    )


@contextmanager
def _with_congestion(lab: Lab, name: str) -> Iterator[None]:
    """Both hosts have this congestion control, for as long as they exist."""
    for host in ("source", "far") if name else ():
        word = f"net.ipv4.tcp_congestion_control={name}"
        subprocess.run(lab.command(["sysctl", "-qw", word], host), check=True)
    yield


@contextmanager
def _timed(case: Case, part: str, results: Results) -> Iterator[None]:
    began_s, before = time.monotonic(), len(results.lines)
    yield
    if len(results.lines) > before:
        results.add(Timed(case=case.key, part=part, seconds=time.monotonic() - began_s))


def is_complete(case: Case, plan: Plan, results: Results) -> bool:
    """Whether everything is done."""
    for method in plan.sessions:
        session = results.session(case.key, method)
        if session is None:
            return False
        if session.setting is not None and len(results.ran(case.key, method)) < plan.runs:
            return False
    return not plan.sweep or not left_to_sweep(case, results)[1]


def _advise(lab: Lab, case: Case, plan: Plan, method: str, data: Path, place: Place) -> Session:
    """A session as a user would run it, but repeatable and without history."""
    server = ["--server", place.server] if place.server else []
    budget = ["--budget", f"{plan.budget_s:g}s"] if plan.budget_s else []
    named = [] if method == BEFORE else ["--method", method]
    checkout = plan.before if method == BEFORE else None
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory() as store:
        events, _ = lab.advisor(
            *("advise", lab.endpoint, "--tool", case.tool.name, *case.tool.options, *named),
            *("--data", str(data), "--to", str(place.target), "--seed", str(_SEED)),
            *("--measure", "--store", store, *budget, *server),
            timeout_s=3 * plan.session_s(case) + 60,
            checkout=checkout,
        )
    seconds = time.monotonic() - began_s
    session = session_of(events, case, method, _SEED, seconds)
    if session.setting is not None:
        wanted = cells_of(events, case.tool.name, data, place)
        session = msgspec.structs.replace(session, by_cell=_lines(lab, wanted))
    say(f"  {method}: {session.shell or 'no advice'}; {session.probes} probes, {session.ended}")
    return session


def _lines(lab: Lab, wanted: Wanted) -> list[tuple[Setting, str]]:
    """The line of every cell, as the advice would have it."""
    argv = [sys.executable, "-m", "tests.benchmarks.disk.cell_lines"]
    with lab.running(argv) as process:
        output, _ = process.communicate(msgspec.json.encode(wanted).decode())
    return list(zip(wanted.settings, msgspec.json.decode(output, type=list[str]), strict=True))


def default_line(line: str, tool: BenchTool, name: str) -> str:
    """The line of a user who tunes nothing but has these options, for the same addresses."""
    if tool.tuned:
        return re.sub(tool.tuned, "", line)
    words = shlex.split(line)
    if words[0] == "sh" and tool.after_addresses:
        words = words[: -tool.after_addresses]
    recurse = tool.for_folders if words[-2].endswith("/") else ()
    return shlex.join([*tool.defaults[name], *recurse, *words[-2:]])


def _run_lines(shell: Shell, case: Case, plan: Plan, results: Results) -> None:
    """The advised lines and the default's in turn, so that other load affects all alike."""
    lines = {session.method: session.shell for session in advised(case, results)}
    if not lines:
        return
    advised_line = next(iter(lines.values()))
    defaults = {name: default_line(advised_line, case.tool, name) for name in case.tool.defaults}
    for number in range(plan.runs):
        due = {**lines, **defaults} if plan.is_default_due(case, number) else lines
        for method, line in due.items():
            if any(run.number == number for run in results.ran(case.key, method)):
                continue
            seconds, trouble = shell.run(line)
            run = Ran(case=case.key, method=method, number=number, seconds=seconds, trouble=trouble)
            results.add(run)
            say(f"  {method} {number + 1}: {seconds:.1f} s {trouble}")
