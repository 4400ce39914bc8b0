"""Runs one case, from a new system to its result."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.benchmarks.bare.cases import USER, Case
from tests.benchmarks.bare.results import Cell, Step
from tests.benchmarks.bare.systems import CLONE, Layer, layer
from tests.benchmarks.wan.hosts import ROOT, Trouble
from tests.benchmarks.wan.running import say

_ASKS: Final = "Run this once as root, then try again:"
_FAILED: Final = re.compile(r"FAILED ([^/:]+: .*)")
_ENDED: Final = re.compile(r"\d+ passed, \d+ failed, \d+ skipped")
_PING_GROUPS: Final = Path("/proc/sys/net/ipv4/ping_group_range")
_LAST_LINES: Final = 12
_PREPARING_S: Final = 900.0


def asked_line(said: str) -> str:
    """The line for root that the program prints; empty without one."""
    lines = said.splitlines()
    return lines[lines.index(_ASKS) + 1].strip() if _ASKS in lines else ""


def failures_in(said: str) -> list[str]:
    """The lines for failures at the end of `make test`; without one the last lines."""
    failed = [match[1] for match in map(_FAILED.fullmatch, said.splitlines()) if match]
    return failed or [line for line in said.splitlines() if line.strip()][-_LAST_LINES:]


def count_in(said: str) -> str:
    """The last line of `make test`, which counts the tests; empty where it did not come so far."""
    return next((line for line in reversed(said.splitlines()) if _ENDED.fullmatch(line)), "")


@dataclass
class _Recorder:
    """Runs lines in a system and appends their output to the case's log."""

    system: Layer
    log: Path
    steps: list[Step] = field(default_factory=list)

    def run(self, account: str, line: str, limit_s: float) -> str:
        """What it says. Its status is that of the newest step."""
        began_s = time.monotonic()
        with self.log.open("ab") as out:
            out.write(f"\n##### {account}: {line}\n".encode())
            out.flush()
            start = out.tell()
            status = self.system.run(account, line, out.fileno(), limit_s)
        step = Step(account=account, line=line, status=status, seconds=time.monotonic() - began_s)
        with self.log.open("ab") as out:
            ended = "ended for its time" if status is None else f"status {status}"
            out.write(f"##### {ended} after {step.seconds:.1f} s\n".encode())
        self.steps.append(step)
        text = self.log.read_bytes()[start:]
        return text.decode(errors="replace").rpartition("##### ")[0]

    def need(self, account: str, line: str) -> str:
        """A line without which there is nothing to try."""
        said = self.run(account, line, _PREPARING_S)
        if self.steps[-1].status != 0:
            raise Trouble(f"'{line}' failed: see {self.log}")
        return said


def run_case(folder: Path, made: Path, case: Case, variables: Mapping[str, str], log: Path) -> Cell:
    """Everything as the README has it, on a new system."""
    say(f"({case.key}) {case.title}; its log is {log}")
    log.write_bytes(b"")
    commit = _commit()
    when = time.strftime("%Y-%m-%d %H:%M %Z")
    with layer(folder, made, case, variables) as system:
        recorder = _Recorder(system, log)
        python = recorder.need("root", "python3 --version").split()[-1]
        if case.account != "root":
            recorder.need("root", f"useradd --create-home --shell /bin/bash {USER}")
        recorder.need(case.account, CLONE)
        prepared = len(recorder.steps)
        command = f"cd advisor && make {case.command}"
        said = recorder.run(case.account, command, case.limit_s)
        if case.account != "root" and (line := asked_line(said)):
            recorder.run("root", line, _PREPARING_S)
            if recorder.steps[-1].status == 0:
                said = recorder.run(case.account, command, case.limit_s)
    cell = Cell(
        case=case.key,
        when=when,
        commit=commit,
        python=python,
        steps=recorder.steps[prepared:],
        tests=count_in(said),
        failures=[] if recorder.steps[-1].status == 0 else failures_in(said),
        ping_groups=" ".join(_PING_GROUPS.read_text().split()),
    )
    say(f"({case.key}) {'passed' if cell.passed else 'FAILED'} after {cell.seconds:.0f} s")
    for failure in cell.failures:
        print(f"    {failure}", flush=True)
    return cell


def _commit() -> str:
    argv = ["git", "-C", str(ROOT), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()
